// forelock prioritize: makes a lock that waits one of another class.
#include <CLI/CLI.hpp>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/existing_namespace.h"
#include "cli/exit_code.h"
#include "cli/failure.h"
#include "cli/hints.h"
#include "cli/monitors/servers_text.h"
#include "cli/monitors/views_text.h"
#include "cli/monitors/wish.h"
#include "cli/output/quantity_text.h"

namespace forelock::cli {
namespace {

using std::chrono::milliseconds;

// A process watches a waiting contender's node after a second.
constexpr milliseconds usual_timeout{5000};

std::vector<std::string> class_names() {
  std::vector<std::string> names;
  for (const Priority priority : all_priorities) names.emplace_back(name_of(priority));
  return names;
}

class PrioritizeCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& root) override {
    CLI::App* app = root.add_subcommand("prioritize", "Make a waiting lock of another process one of another class");
    app->add_option("MONITOR", monitor_, "The monitor's id")->required();
    app->add_option("--waiter", waiter_, "The waiter's node, as 'forelock show MONITOR' names it")->type_name("NODE");
    app->add_option("--class", class_, "foreground goes before background")
        ->type_name("CLASS")
        ->check(CLI::IsMember(class_names()));
    app->add_option("--reason", reason_, "Why: kept in the audit record")->type_name("TEXT");
    add_duration(*app, "--timeout", timeout_, "How long to wait for its process to move it [5s]; then exit 75");
    app->footer(
        "Only its own process can move it: to the end of the queue of that class, with the deadline that it has. The\n"
        "wish is written into its node, which its process reads, as a rule within a second. A client that was not "
        "made\n"
        "with Forelock cannot be moved. The audit record is one line of JSON on stderr and in the system's log\n"
        "(journalctl -t forelock).\n"
        "Options for every command: see forelock --help");
    return app;
  }

  int run(const Context& context) override {
    check();
    const Settings settings = context.globals.settings();
    CommandClient client(settings, context.console, client::ClientUse::looks);
    const Wish wish{monitor_, waiter_, parse_priority(class_).value(), reason_};
    const WishReport report =
        make_wish(*client, patience(settings), context.console, wish, timeout_.value_or(usual_timeout));
    switch (report.outcome) {
      case WishOutcome::moved:
        return succeed(context.console, "moved", *report.waiter, " has moved: it is " + place(*report.waiter));
      case WishOutcome::already:
        return succeed(context.console, "already", *report.waiter, already_text(*report.waiter));
      case WishOutcome::no_such_monitor:
        require_namespace(*client);
        throw_unknown_monitor(monitor_, settings);
      default:
        fail(report.outcome);
    }
  }

 private:
  // Everything that is missing at once.
  void check() const {
    std::string missing;
    const auto want = [&missing](bool given, const char* option) {
      if (!given) missing += (missing.empty() ? "" : ", ") + std::string(option);
    };
    want(!waiter_.empty(), "--waiter NODE");
    want(!class_.empty(), "--class CLASS");
    want(reason_.find_first_not_of(" \t\n") != std::string::npos, "--reason TEXT");
    if (missing.empty()) return;
    throw_usage("prioritize: missing: " + missing, show_hint(monitor_) + " names the waiters' nodes");
  }

  static std::string place(const WaiterView& waiter) {
    return printable(waiter.node) + " now, at place " + std::to_string(waiter.position);
  }

  std::string already_text(const WaiterView& waiter) const {
    if (waiter.priority && name_of(*waiter.priority) == class_) return " is of the " + class_ + " already";
    return " stands in the queue of the " + class_ + " already, as it has waited for long";
  }

  int succeed(const Console& console, const char* result, const WaiterView& waiter, const std::string& text) const {
    if (console.text()) {
      console.write(printable(waiter_) + text + " of " + printable(monitor_) + '\n');
    } else {
      console.write_json({{"monitor", monitor_},
                          {"waiter", waiter_},
                          {"class", class_},
                          {"result", result},
                          {"node", waiter.node},
                          {"position", waiter.position},
                          {"reason", reason_}});
    }
    return exit_ok;
  }

  [[noreturn]] void fail(WishOutcome outcome) const {
    int exit_code = exit_failed;
    std::string code;
    std::string text;
    switch (outcome) {
      case WishOutcome::unmoved:
        exit_code = exit_not_in_time;
        code = "unmoved";
        text = waiter_ + " waits where it has waited: its process has not obeyed within " +
               duration_text(timeout_.value_or(usual_timeout)) +
               ". It is not connected, waits at very many monitors, or is of a version that knows no wishes. The wish "
               "stays in its record";
        break;
      case WishOutcome::granted:
        code = "holds";
        text = waiter_ + " has got the lock in the meantime";
        break;
      case WishOutcome::holds:
        code = "holds";
        text = "nothing was done: " + waiter_ + " does not wait, it holds " + monitor_;
        break;
      case WishOutcome::gone:
        code = "waiter_gone";
        text = waiter_ + " does not wait any more: it has got the lock and released it, or given up";
        break;
      case WishOutcome::no_record:
        code = "no_owner_record";
        text = "nothing was done: " + waiter_ + " has no owner record; its client was not made with Forelock, and " +
               "cannot be moved";
        break;
      case WishOutcome::too_large:
        code = "record_too_large";
        text = "nothing was done: the record of " + waiter_ + " has no room for a wish (" +
               std::to_string(OwnerRecord::max_record_bytes) + " bytes)";
        break;
      default:
        code = "no_such_waiter";
        text = "nothing was done: " + waiter_ + " does not wait for " + monitor_;
        break;
    }
    const bool retryable = outcome == WishOutcome::unmoved;
    throw FailureException({exit_code, code, text, show_hint(monitor_), monitor_, retryable, {}});
  }

  std::string monitor_;
  std::string waiter_;
  std::string class_;
  std::string reason_;
  std::optional<milliseconds> timeout_;
};

}  // namespace

std::unique_ptr<Command> make_prioritize_command() {
  return std::make_unique<PrioritizeCommand>();
}

}  // namespace forelock::cli
