// forelock show: one monitor in full.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/existing_namespace.h"
#include "cli/exit_code.h"
#include "cli/failure.h"
#include "cli/hints.h"
#include "cli/monitors/release_note.h"
#include "cli/monitors/servers_text.h"
#include "cli/monitors/views_json.h"
#include "cli/monitors/views_text.h"
#include "forelock/error.h"
#include "records/session_text.h"

namespace forelock::cli {
namespace {

class ShowCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& root) override {
    CLI::App* app = root.add_subcommand("show", "Show who holds a monitor, and the queue in the order of service");
    app->add_option("MONITOR", monitor_, "The monitor's id")->required();
    return app;
  }

  int run(const Context& context) override {
    const Settings settings = context.globals.settings();
    CommandClient client(settings, context.console, client::ClientUse::looks);
    const std::optional<MonitorView> view = Inspector(*client, patience(settings)).show(monitor_);
    if (!view) {
      require_namespace(*client);
      throw_unknown_monitor(monitor_, settings);
    }
    // A holder of a set may hold this monitor for no other reason than that it waits for another one.
    std::optional<LockSetView> set;
    std::optional<Failure> set_error;
    try {
      if (view->holder && view->holder->owner)
        set = Inspector(*client, patience(settings)).lock_set(*view->holder->owner);
    } catch (const Error&) {
      // Its other members may live in an ensemble that is silent: who holds this one is known all the same.
      set_error = failure_of(std::current_exception());
    }
    const std::optional<ReleaseNote> note = read_release_note(*client, monitor_, patience(settings));
    if (context.console.text()) {
      context.console.write(text_of(*view, context.console));
      if (set) context.console.write("  set       " + printable(text_of(*set)) + '\n');
      if (set_error) context.console.write("  set       cannot be seen now: " + printable(set_error->message) + '\n');
      if (note) context.console.write("  last " + printable(text_of(*note)) + '\n');
      if (view->holder) suggest_release(*view->holder, context);
    } else {
      nlohmann::ordered_json json = json_of(*view);
      if (set) json["set"] = json_of(*set);
      if (set_error) json["set_error"] = {{"code", set_error->code}, {"message", set_error->message}};
      if (note) json["forced_release"] = json_of(*note);
      context.console.write_json(json);
    }
    return exit_ok;
  }

 private:
  void suggest_release(const HolderView& holder, const Context& context) const {
    const std::string id =
        holder.node.value_or(records::session_text(holder.session)) + '@' + std::to_string(holder.token);
    context.console.note("to take it away: forelock" + repeat_words(context.globals) + " release --holder " + id +
                         " --reason 'WHY' " + base::shell_argument(monitor_));
  }

  std::string monitor_;
};

}  // namespace

std::unique_ptr<Command> make_show_command() {
  return std::make_unique<ShowCommand>();
}

}  // namespace forelock::cli
