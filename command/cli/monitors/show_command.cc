// forelock show: one monitor in full.
#include <CLI/CLI.hpp>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/existing_namespace.h"
#include "cli/exit_code.h"
#include "cli/failure.h"
#include "cli/hints.h"
#include "cli/monitors/paces.h"
#include "cli/monitors/release_note.h"
#include "cli/monitors/servers_text.h"
#include "cli/monitors/views_json.h"
#include "cli/monitors/views_text.h"
#include "cli/output/quantity_text.h"
#include "forelock/error.h"
#include "records/session_text.h"

namespace forelock::cli {
namespace {

class ShowCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& root) override {
    CLI::App* app = root.add_subcommand("show", "Show who holds a monitor, and the queue in the order of service");
    app->add_option("MONITOR", monitor_, "The monitor's id")->required();
    add_duration(*app, "--expect", look_for_,
                 "Look for at most this long, and say how long each waiter will probably still wait");
    return app;
  }

  int run(const Context& context) override {
    const Settings settings = context.globals.settings();
    CommandClient client(settings, context.console, client::ClientUse::looks);
    std::optional<MonitorView> view = Inspector(*client, patience(settings)).show(monitor_);
    const auto pace = view ? watched_pace(*client, view, patience(settings)) : std::nullopt;
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
      context.console.write(text_of(*view, context.console, pace));
      if (look_for_ && !pace && !view->queue.empty()) {
        context.console.note("how long they will wait is not known: fewer than " + std::to_string(Paces::least_left) +
                             " have left the queue within " + duration_text(*look_for_));
      }
      if (set) context.console.write("  set       " + printable(text_of(*set)) + '\n');
      if (set_error) context.console.write("  set       cannot be seen now: " + printable(set_error->message) + '\n');
      if (note) context.console.write("  last " + printable(text_of(*note)) + '\n');
      if (view->holder) suggest_release(*view->holder, context);
    } else {
      nlohmann::ordered_json json = json_of(*view);
      if (pace) add_expected_waits(json, *pace);
      if (set) json["set"] = json_of(*set);
      if (set_error) json["set_error"] = {{"code", set_error->code}, {"message", set_error->message}};
      if (note) json["forced_release"] = json_of(*note);
      context.console.write_json(json);
    }
    return exit_ok;
  }

 private:
  // How long a place takes, by how its queue comes forward from now on; nothing if too little is seen in that time.
  // `view` becomes the last look.
  std::optional<std::chrono::nanoseconds> watched_pace(Client& client, std::optional<MonitorView>& view,
                                                       std::chrono::milliseconds patience) const {
    Paces paces;
    const auto begun = Paces::Steady::clock::now();
    auto look_begun = begun;
    while (look_for_ && view && !view->queue.empty()) {
      const auto known = paces.take({*view}, look_begun);
      if (const auto pace = known.find(view->monitor); pace != known.end()) return pace->second;
      if (look_begun - begun >= *look_for_) break;
      std::this_thread::sleep_for(between_looks);
      look_begun = Paces::Steady::clock::now();
      view = Inspector(client, patience).show(monitor_);
    }
    return std::nullopt;
  }

  void suggest_release(const HolderView& holder, const Context& context) const {
    const std::string id =
        holder.node.value_or(records::session_text(holder.session)) + '@' + std::to_string(holder.token);
    context.console.note("to take it away: forelock" + repeat_words(context.globals) + " release --holder " + id +
                         " --reason 'WHY' " + base::shell_argument(monitor_));
  }

  static constexpr std::chrono::milliseconds between_looks{100};

  std::string monitor_;
  std::optional<std::chrono::milliseconds> look_for_;
};

}  // namespace

std::unique_ptr<Command> make_show_command() {
  return std::make_unique<ShowCommand>();
}

}  // namespace forelock::cli
