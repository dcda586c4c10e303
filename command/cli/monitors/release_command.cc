// forelock release: takes a lock away from its holder.
#include <CLI/CLI.hpp>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/audit.h"
#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/existing_namespace.h"
#include "cli/exit_code.h"
#include "cli/failure.h"
#include "cli/hints.h"
#include "cli/monitors/release_note.h"
#include "cli/monitors/servers_text.h"
#include "cli/monitors/views_text.h"
#include "forelock/error.h"
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
    Inspector inspector(*client, patience(settings));

    AuditRecord record{"release", monitor_, holder_, {}, reason_, {}};
    const std::optional<MonitorView> before = inspector.show(monitor_);
    if (before) record.view = before->holder;
    if (!before) {
      require_namespace(*client);
      throw_unknown_monitor(monitor_, settings);
    }
    // A note would keep the monitor's node.
    if (!is_meant(before->holder)) refuse(before);
    // Before the deed: the victim reads it as soon as it learns of its loss.
    const std::string data =
        leave_release_note(*client, monitor_,
                           {records::wall_time_now(), acting_user() + '@' + records::process_identity(), reason_,
                            holder_, before->holder ? before->holder->token : 0});
    ForceReleaseResult result = ForceReleaseResult::released;
    try {
      result = inspector.force_release(monitor_, holder_);
    } catch (const Error& error) {
      if (!may_have_happened(error)) {
        withdraw_release_note(*client, monitor_, data);
        throw;
      }
      if (!is_gone(inspector, before->holder)) report_unknown(record, error, context.console);
    }
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

  // The request may have got through although its reply did not.
  static bool may_have_happened(const Error& error) {
    return error.code() == ErrorCode::connection_loss || error.code() == ErrorCode::session_expired ||
           error.code() == ErrorCode::server_error;
  }

  // Whether the holder that is meant, and was there before, certainly does not hold it any more. That it holds it still
  // says nothing: the request may be on its way, and the server that is asked behind the others. So it is looked at for
  // a moment.
  bool is_gone(Inspector& inspector, const std::optional<HolderView>& before) const {
    if (!is_meant(before)) return false;
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    do {
      try {
        const std::optional<MonitorView> now = inspector.show(monitor_);
        if (!now || !now->holder || now->holder->token != before->token) return true;
      } catch (const Error&) {
        // Not known yet: the look may have met the end of the same connection.
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    } while (std::chrono::steady_clock::now() < until);
    return false;
  }

  // The deed is on record even where nobody knows whether it is done. The note stays: it may be true.
  [[noreturn]] void report_unknown(AuditRecord& record, const Error& error, const Console& console) const {
    record.result = "unknown";
    audit(record, console);
    Failure failure = failure_of(std::current_exception());
    failure.message = monitor_ + " may have been released: " + error.what();
    failure.hint = show_hint(monitor_) + " says who holds it now";
    failure.monitor = monitor_;
    throw FailureException(std::move(failure));
  }

  bool is_meant(const std::optional<HolderView>& holder) const {
    return holder && (holder_ == node_of(*holder) || holder_ == known_as(*holder));
  }

  static std::string node_of(const HolderView& holder) {
    return holder.node.value_or(records::session_text(holder.session));
  }

  static std::string known_as(const HolderView& holder) { return node_of(holder) + '@' + std::to_string(holder.token); }

  [[noreturn]] void refuse(const std::optional<MonitorView>& view) const {
    std::string message = "nothing was done: " + holder_ + " does not hold " + monitor_;
    if (view && view->holder) {
      if (known_as(*view->holder) != holder_)
        message +=
            "; its holder is " + known_as(*view->holder) + ", " + who(view->holder->owner, view->holder->session);
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
