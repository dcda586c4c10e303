// forelock release: takes a lock away from its holder.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/audit.h"
#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/exit_code.h"
#include "cli/hints.h"
#include "cli/monitors/release_note.h"
#include "cli/monitors/servers_text.h"
#include "cli/monitors/views_text.h"
#include "records/instance.h"
#include "records/session_text.h"
#include "records/wall_time.h"

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
        "'forelock show MONITOR' ends with the command to copy. The audit record is one line of JSON on stderr and in\n"
        "the system's log (journalctl -t forelock).\n"
        "Options for every command: see forelock --help");
    return app;
  }

  int run(const Context& context) override {
    check();
    const Settings settings = context.globals.settings();
    CommandClient client(settings, context.console);
    Inspector inspector(*client, patience(settings));

    AuditRecord record{"release", monitor_, holder_, {}, reason_, {}};
    const std::optional<MonitorView> before = inspector.show(monitor_);
    if (before) record.view = before->holder;
    if (!before) throw_unknown_monitor(monitor_, settings);
    // Before the deed: the victim reads it as soon as it learns of its loss.
    const std::string data = leave_release_note(
        *client, monitor_,
        {records::wall_time_now(), acting_user() + '@' + records::process_identity(), reason_, holder_});
    const ForceReleaseResult result = inspector.force_release(monitor_, holder_);
    if (result != ForceReleaseResult::released) withdraw_release_note(*client, monitor_, data);
    if (result == ForceReleaseResult::no_such_monitor) throw_unknown_monitor(monitor_, settings);
    if (result == ForceReleaseResult::holder_changed) refuse(before);

    record.result = "released";
    audit(record, context.console);
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

  [[noreturn]] void refuse(const std::optional<MonitorView>& view) const {
    std::string message = "nothing was done: " + holder_ + " does not hold " + monitor_;
    if (view && view->holder) {
      const std::string known_as = view->holder->node.value_or(records::session_text(view->holder->session)) + '@' +
                                   std::to_string(view->holder->token);
      if (known_as != holder_)
        message += "; its holder is " + known_as + ", " + who(view->holder->owner, view->holder->session);
    }
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
