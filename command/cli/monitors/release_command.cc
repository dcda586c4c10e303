// forelock release: takes a lock away from its holder.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/existing_namespace.h"
#include "cli/exit_code.h"
#include "cli/failure.h"
#include "cli/hints.h"
#include "cli/monitors/forced_release.h"
#include "cli/monitors/servers_text.h"
#include "cli/monitors/views_text.h"

namespace forelock::cli {
namespace {

class ReleaseCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& root) override {
    CLI::App* app = root.add_subcommand("release", "Take a lock away from its holder, which is notified at once");
    app->add_option("MONITOR", monitor_, "The monitor's id")->required();
    app->add_option("--holder", holder_,
                    "The holder as the last line of 'forelock show' names it: its node, or its session where it has "
                    "none, with @TOKEN behind it")
        ->type_name("ID");
    app->add_option("--reason", reason_,
                    "Why: shown to the former holder and by 'forelock show', and kept in the audit record")
        ->type_name("TEXT");
    app->footer(
        "'forelock show MONITOR' ends with the command to copy. Names of nodes come again, and tokens do not: without\n"
        "@TOKEN a later holder of the same name may be hit. The audit record is one line of JSON on stderr and in the\n"
        "system's log (journalctl -t forelock).\n"
        "Options for every command: see forelock --help");
    return app;
  }

  int run(const Context& context) override {
    check();
    const Settings settings = context.globals.settings();
    CommandClient client(settings, context.console, client::ClientUse::looks);
    const ReleaseReport report =
        force_release(*client, patience(settings), context.console, {"release", monitor_, holder_, reason_});
    switch (report.outcome) {
      case ReleaseOutcome::released:
        break;
      case ReleaseOutcome::no_such_monitor:
        require_namespace(*client);
        throw_unknown_monitor(monitor_, settings);
      case ReleaseOutcome::holder_changed:
        refuse(report.before);
      case ReleaseOutcome::unknown:
        report_unknown(report.problem);
    }
    if (context.console.text()) {
      context.console.write("released " + printable(monitor_) + ": " + printable(holder_) +
                            " does not hold it any more\n");
    } else {
      context.console.write_json({{"monitor", monitor_}, {"holder", holder_}, {"released", true}, {"reason", reason_}});
    }
    return exit_ok;
  }

 private:
  // Everything that is missing at once.
  void check() const {
    const bool no_reason = reason_.find_first_not_of(" \t\n") == std::string::npos;
    if (!holder_.empty() && !no_reason) return;
    const std::string missing =
        holder_.empty() ? no_reason ? "--holder ID and --reason TEXT are" : "--holder ID is" : "--reason TEXT is";
    throw_usage("release: " + missing + " missing", show_hint(monitor_) + " names the holder, and the command to copy");
  }

  // Whether it was done nobody knows.
  [[noreturn]] void report_unknown(const std::exception_ptr& problem) const {
    Failure failure = failure_of(problem);
    failure.message = monitor_ + " may have been released: " + failure.message;
    failure.hint = show_hint(monitor_) + " says who holds it now";
    failure.monitor = monitor_;
    throw FailureException(std::move(failure));
  }

  [[noreturn]] void refuse(const std::optional<HolderView>& holder) const {
    std::string message = "nothing was done: " + holder_ + " does not hold " + monitor_;
    if (holder && known_as(*holder) != holder_)
      message += "; its holder is " + known_as(*holder) + ", " + who(holder->owner, holder->session);
    throw FailureException({exit_failed, "holder_changed", message, show_hint(monitor_), monitor_, false, {}});
  }

  std::string monitor_;
  std::string holder_;
  std::string reason_;
};

}  // namespace

std::unique_ptr<Command> make_release_command() {
  return std::make_unique<ReleaseCommand>();
}

}  // namespace forelock::cli
