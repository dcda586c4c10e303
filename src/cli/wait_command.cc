// forelock wait: until a monitor is free, or held.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/duration_text.h"
#include "cli/exit_code.h"
#include "cli/hints.h"
#include "cli/views_text.h"

namespace forelock::cli {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds look_again_after{100};

class WaitCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& root) override {
    CLI::App* app = root.add_subcommand("wait", "Wait until nobody holds a monitor or waits for it");
    app->add_option("MONITOR", monitor_, "The monitor's id; one that does not exist is free")->required();
    app->add_flag("--held", held_, "Wait until somebody holds it instead");
    add_duration(*app, "--timeout", timeout_, "Give up after this long (exit 75); without it, never");
    return app;
  }

  int run(const Context& context) override {
    const Settings settings = context.globals.settings();
    Client client(settings, log_to(context.console));
    Inspector inspector(client, patience(settings));
    const Clock::time_point begin = Clock::now();
    // Looks once even without any time: the question has an answer now.
    for (;;) {
      const std::optional<MonitorView> view = inspector.show(monitor_);
      if (is_reached(view)) return succeed(context, std::chrono::duration_cast<milliseconds>(Clock::now() - begin));
      const auto waited = Clock::now() - begin;
      if (timeout_ && waited >= *timeout_) fail(view);
      std::this_thread::sleep_for(timeout_ ? std::min<Clock::duration>(look_again_after, *timeout_ - waited)
                                           : look_again_after);
    }
  }

 private:
  bool is_reached(const std::optional<MonitorView>& view) const {
    if (held_) return view && view->holder;
    return !view || (!view->holder && view->queue.empty());
  }

  int succeed(const Context& context, milliseconds waited) const {
    const char* state = held_ ? "held" : "free";
    if (context.console.text()) {
      context.console.note(monitor_ + " is " + state);
    } else {
      context.console.write_json({{"monitor", monitor_}, {"state", state}, {"waited_ms", waited.count()}});
    }
    return exit_ok;
  }

  [[noreturn]] void fail(const std::optional<MonitorView>& view) const {
    std::string message = monitor_ + (held_ ? " is not held" : " is not free") + " after " + duration_text(*timeout_);
    if (!held_ && view && view->holder) {
      message +=
          ": held by " + who(view->holder->owner, view->holder->session) + " for " + duration_text(view->holder->held);
    }
    throw FailureException({exit_not_in_time, "lock_timeout", message, show_hint(monitor_), monitor_, true, {}});
  }

  std::string monitor_;
  bool held_ = false;
  std::optional<milliseconds> timeout_;
};

}  // namespace

std::unique_ptr<Command> make_wait_command() {
  return std::make_unique<WaitCommand>();
}

}  // namespace forelock::cli
