// forelock-demo: scenario 3 of the requirements at scale. Interactive saves and bulk propagation want the same
// articles; first with the two classes of locks, then, under the same load, in one first-come-first-served queue.

#include <sys/ioctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <stdexcept>

#include "demo/line_view.h"
#include "demo/options.h"
#include "demo/phase.h"
#include "demo/report.h"
#include "demo/screen_view.h"
#include "demo/site.h"
#include "forelock/settings.h"

namespace forelock::demo {
namespace {

enum Exit { passed = 0, failed = 1, usage_error = 64, unreachable = 69, configuration_error = 78, interrupted = 130 };

volatile std::sig_atomic_t signalled = 0;

void on_signal(int) {
  signalled = 1;
}
bool was_interrupted() {
  return signalled != 0;
}

bool wide_terminal() {
  winsize size{};
  return isatty(STDOUT_FILENO) == 1 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 80;
}

Settings read_settings(const Options& options) {
  std::vector<Settings::Override> overrides;
  if (!options.zookeeper.empty()) overrides.push_back({"zookeeper.servers", options.zookeeper, "--zookeeper"});
  if (options.config.empty()) return Settings::from_string("", Settings::Format::properties, "defaults", overrides);
  return Settings::load(options.config, overrides);
}

int run(const Options& options) {
  const Settings settings = read_settings(options);
  Site site{options, {}};
  for (std::size_t i = 0; i < options.sessions; ++i) site.clients.push_back(std::make_unique<Client>(settings));
  Client observer(settings);
  for (const auto& client : site.clients) {
    if (!client->wait_connected(std::chrono::seconds(10))) {
      const std::string problem = client->last_problem();
      std::cerr << "forelock-demo: no ZooKeeper answers" << (problem.empty() ? "" : ": " + problem)
                << "\nGive its address with --zookeeper HOST:PORT, or run this under `forelock dev --`.\n";
      return Exit::unreachable;
    }
  }

  const bool colour = isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
  const Style style(colour);
  std::unique_ptr<View> view;
  if (wide_terminal() && !options.plain) {
    view = std::make_unique<ScreenView>(style);
  } else {
    view = std::make_unique<LineView>();
  }

  std::cout << options.workers << " bulk workers on " << options.articles << " articles, " << options.bulk_work.count()
            << " ms each time; interactive saves at random moments, " << options.saves << " a second;\n"
            << options.sessions << " ZooKeeper sessions.\n\n";
  Inspector inspector(observer, std::chrono::seconds(1));
  const PhaseResult priorities = run_phase(site, inspector, *view, "1. Two classes: foreground before background",
                                           Priority::foreground, was_interrupted);
  PhaseResult one_queue;
  if (!was_interrupted()) {
    one_queue = run_phase(site, inspector, *view, "2. For comparison: the same load in one queue", Priority::background,
                          was_interrupted);
  }
  view.reset();
  if (was_interrupted()) {
    std::cout << "Interrupted.\n";
    return Exit::interrupted;
  }
  return report(std::cout, style, priorities, one_queue, site.store.verdict()) ? Exit::passed : Exit::failed;
}

}  // namespace
}  // namespace forelock::demo

int main(int argc, char** argv) {
  using namespace forelock::demo;
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  try {
    const Options options = parse_options({argv + 1, argv + argc});
    if (options.help) {
      std::cout << usage();
      return Exit::passed;
    }
    return run(options);
  } catch (const std::invalid_argument& error) {
    std::cerr << "forelock-demo: " << error.what() << '\n';
    return Exit::usage_error;
  } catch (const forelock::ConfigurationException& error) {
    std::cerr << error.what() << '\n';
    return Exit::configuration_error;
  } catch (const std::exception& error) {
    std::cerr << "forelock-demo: " << error.what() << '\n';
    return Exit::failed;
  }
}
