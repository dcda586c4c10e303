// forelock wait: until a monitor is free, or held.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <utility>

#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/existing_namespace.h"
#include "cli/exit_code.h"
#include "cli/hints.h"
#include "cli/monitors/views_text.h"
#include "cli/output/quantity_text.h"
#include "forelock/error.h"

namespace forelock::cli {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

// The longer it has waited the less often it looks, at the cost of a twentieth of that time.
constexpr int looks_in_the_time_waited = 20;
constexpr Clock::duration soonest_look = milliseconds(100);
constexpr Clock::duration latest_look = milliseconds(1000);
constexpr milliseconds least_first_look{1000};  // takes a connection, too
constexpr milliseconds least_look{250};
constexpr milliseconds tell_after{1000};

class WaitCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& root) override {
    CLI::App* app = root.add_subcommand("wait", "Wait until a monitor is free: not held, and no waiters");
    app->add_option("MONITOR", monitor_, "The monitor's id; one that does not exist is free")->required();
    app->add_flag("--held", held_, "Wait until it is held instead");
    add_duration(*app, "--timeout", timeout_,
                 "Give up after this long (30s, 5m; exit 75, or 69 without a server); without it, never");
    return app;
  }

  int run(const Context& context) override {
    const Settings settings = context.globals.settings();
    CommandClient client(settings, context.console, client::ClientUse::looks);
    const Clock::time_point begin = Clock::now();
    // Looks once even without any time: the question has an answer now.
    for (;;) {
      const auto view = look_at(*client, begin, context.console);
      if (view && is_reached(*view))
        return succeed(context, std::chrono::duration_cast<milliseconds>(Clock::now() - begin));
      const auto waited = Clock::now() - begin;
      if (timeout_ && waited >= *timeout_) {
        if (!view) std::rethrow_exception(failure_);  // there is no answer: no server was reached
        fail(*view);
      }
      if (view && *view && waited >= tell_after) tell(**view, context.console);
      const auto pause = std::clamp<Clock::duration>(waited / looks_in_the_time_waited, soonest_look, latest_look);
      std::this_thread::sleep_for(timeout_ ? std::min<Clock::duration>(pause, *timeout_ - waited) : pause);
    }
  }

 private:
  // Nothing while there is no connection, as long as there is time.
  std::optional<std::optional<MonitorView>> look_at(Client& client, Clock::time_point begin, const Console& console) {
    milliseconds longest = patience(client.settings());
    if (timeout_) {
      // Rounded up: a look that ends just before the time-out would be followed by another one.
      const auto left = std::chrono::ceil<milliseconds>(begin + *timeout_ - Clock::now());
      longest = std::clamp(left, failure_ ? least_look : least_first_look, longest);
    }
    try {
      std::optional<MonitorView> view = Inspector(client, longest).show(monitor_);
      if (!view) require_namespace(client);
      return view;
    } catch (const Error& error) {
      failure_ = std::current_exception();
      if (!error.retryable() || (timeout_ && Clock::now() - begin >= *timeout_)) throw;
      if (std::exchange(problem_, error.what()) != error.what())
        console.note(std::string(error.what()) + "; trying again");
      return std::nullopt;
    }
  }

  // Once, to a person.
  void tell(const MonitorView& view, const Console& console) {
    if (std::exchange(told_, true) || !view.holder) return;
    if (!console.text() || (isatty(STDERR_FILENO) != 1 && console.verbosity() == 0)) return;
    console.note("waiting for " + monitor_ + ", held by " + who(view.holder->owner, view.holder->session) + " for " +
                 duration_text(view.holder->held));
  }

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
  std::exception_ptr failure_;  // of the last look
  std::string problem_;         // that was told last
  bool told_ = false;
};

}  // namespace

std::unique_ptr<Command> make_wait_command() {
  return std::make_unique<WaitCommand>();
}

}  // namespace forelock::cli
