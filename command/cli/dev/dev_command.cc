// forelock dev: a throw-away ZooKeeper, alone or around a command.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/commands.h"
#include "cli/dev/dev_server.h"
#include "cli/dev/temporary_directory.h"
#include "cli/exit_code.h"
#include "cli/process/inherited_descriptors.h"
#include "cli/process/signal_queue.h"

namespace forelock::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds longest_start{30};
constexpr std::chrono::milliseconds look_again_after{50};
constexpr int start_attempts = 5;

// Something for the page to show: two that save, and one in the background that needs two monitors. $0 is forelock.
// When that is killed, nobody else would end the loops.
constexpr const char* example_load = R"sh(
(while kill -0 "$PPID" 2>/dev/null; do sleep 1; done; kill -KILL 0) &
for who in 1 2; do
  while :; do "$0" -q run -m P1 --info 'Save Content' --timeout 60s -- sleep 0.7; sleep 0.4; done &
done
while :; do "$0" -q run -m P1 -m P2 -p background --info 'Bulk Import' --timeout 60s -- sleep 2; sleep 1; done &
wait
)sh";

// What `dev --serve` runs beside its server; killed when it goes.
struct Page {
  Page(const ChildOptions& page_options, const ChildOptions& load_options) : page(page_options), load(load_options) {}

  ChildProcess page;
  ChildProcess load;
};

class DevCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& root) override {
    CLI::App* app =
        root.add_subcommand("dev", "Start a throw-away local ZooKeeper, or run a command with one: dev -- COMMAND");
    app->add_option("--port", port_, "Its port on 127.0.0.1 [a free one]")
        ->type_name("PORT")
        ->check(CLI::Range(1, 65535).description(""));
    app->add_option("--data-dir", data_dir_, "Keep its data here [a temporary directory]")->type_name("DIR");
    auto* const page = app->add_flag("--serve", page_, "Also start forelock serve, and some processes for it to show");
    app->add_option("COMMAND", command_, "Run this with $FORELOCK_CONFIG and $FORELOCK_ZOOKEEPER set, and end with it")
        ->excludes(page);
    return app;
  }

  int run(const Context& context) override {
    const InheritedDescriptors inherited;
    SignalQueue signals({SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGCHLD});
    const auto directory = make_directory();
    std::optional<int> ended_by;
    const auto server = start(directory, signals, context.console, ended_by);
    // A signal came first. Who asked for a command must not take it for one that has been run.
    if (!server) return command_.empty() ? exit_ok : exit_signalled(*ended_by);
    inherited.close_others_on_exec();
    return command_.empty() ? serve(*server, directory, signals, context.console) : run_command(*server, signals);
  }

 private:
  std::filesystem::path make_directory() {
    if (data_dir_.empty()) return temporary_.emplace().path();
    std::filesystem::create_directories(data_dir_);
    return std::filesystem::canonical(data_dir_);
  }

  // Nothing if a signal ended the waiting: `ended_by`.
  std::unique_ptr<DevServer> start(const std::filesystem::path& directory, SignalQueue& signals, const Console& console,
                                   std::optional<int>& ended_by) const {
    for (int attempt = 1;; ++attempt) {
      auto server = std::make_unique<DevServer>(DevServerOptions{port_, directory});
      const Clock::time_point deadline = Clock::now() + longest_start;
      while (server->running() && Clock::now() < deadline) {
        if (server->serving()) return server;
        const std::optional<int> signal = signals.wait(wake_up_, Clock::now() + look_again_after);
        if (signal && *signal != SIGCHLD && *signal != SIGWINCH) {
          ended_by = signal;
          return nullptr;
        }
      }
      // Most likely another program took the port in the meantime.
      if (port_ == 0 && !server->running() && attempt < start_attempts) continue;
      if (console.verbosity() > 0) console.warn("the end of its log: " + server->log_tail());
      throw FailureException({exit_unavailable,
                              "server_failed",
                              "the ZooKeeper server did not start",
                              "its last words: " + server->last_words(),
                              {},
                              false,
                              {}});
    }
  }

  int serve(DevServer& server, const std::filesystem::path& directory, SignalQueue& signals,
            const Console& console) const {
    if (console.text()) {
      console.write(server.address() + '\n');
      console.note("ZooKeeper is running at " + server.address() + "; its files: " + directory.string());
      console.note("in another terminal: export FORELOCK_ZOOKEEPER=" + server.address());
      console.note("then for example:    forelock run -m P1 -- sleep 10    and    forelock ls");
      console.note("Ctrl-C ends it");
    } else {
      console.write_json(
          {{"zookeeper", server.address()}, {"config", server.settings_file()}, {"data_dir", directory.string()}});
    }
    std::optional<Page> page;
    if (page_) page.emplace(page_options(server, directory, console), load_options(server, directory));
    while (server.running()) {
      const std::optional<int> signal = signals.wait(wake_up_, Clock::time_point::max());
      if (page && signal == SIGCHLD) look_after(*page, console);
      if (signal && *signal != SIGCHLD && *signal != SIGWINCH) return exit_ok;
    }
    throw FailureException({exit_unavailable,
                            "server_failed",
                            "the ZooKeeper server has ended",
                            "its last words: " + server.last_words(),
                            {},
                            false,
                            {}});
  }

  static ChildOptions beside(const DevServer& server) {
    ChildOptions options;
    options.environment = {{"FORELOCK_CONFIG", server.settings_file()}, {"FORELOCK_ZOOKEEPER", server.address()}};
    options.death_signal = SIGKILL;
    options.foreground = false;
    return options;
  }

  // Its address is the next line on stdout.
  static ChildOptions page_options(const DevServer& server, const std::filesystem::path& directory,
                                   const Console& console) {
    ChildOptions options = beside(server);
    options.command = {own_path(),    "-q",
                       "-o",          console.text() ? "text" : "json",
                       "serve",       "--listen",
                       "127.0.0.1:0", "--dead-letters",
                       "--history",   directory / "history.db"};
    return options;
  }

  static ChildOptions load_options(const DevServer& server, const std::filesystem::path& directory) {
    ChildOptions options = beside(server);
    options.command = {"sh", "-c", example_load, own_path()};
    options.output = directory / "load.log";
    return options;
  }

  static std::string own_path() { return std::filesystem::read_symlink("/proc/self/exe"); }

  static void look_after(Page& page, const Console& console) {
    const bool was_there = !page.page.exit_code();
    page.page.update();
    page.load.update();
    if (was_there && page.page.exit_code()) console.warn("forelock serve has ended");
  }

  int run_command(DevServer& server, SignalQueue& signals) const {
    ChildOptions options;
    options.command = command_;
    options.environment = {{"FORELOCK_CONFIG", server.settings_file()}, {"FORELOCK_ZOOKEEPER", server.address()}};
    options.death_signal = SIGTERM;
    ChildProcess child(options);
    for (;;) {
      child.update();
      if (child.exit_code()) return *child.exit_code();
      const std::optional<int> signal = signals.wait(wake_up_, Clock::time_point::max());
      if (signal && *signal != SIGCHLD) child.signal_group(*signal);
    }
  }

  std::uint16_t port_ = 0;
  std::string data_dir_;
  bool page_ = false;
  std::vector<std::string> command_;
  std::optional<TemporaryDirectory> temporary_;
  WakeUp wake_up_;  // never notified: signals are all there is to wait for
};

}  // namespace

std::unique_ptr<Command> make_dev_command() {
  return std::make_unique<DevCommand>();
}

}  // namespace forelock::cli
