// forelock sweep: removes unused monitors that crashed processes have left.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/existing_namespace.h"
#include "cli/exit_code.h"
#include "cli/monitors/servers_text.h"
#include "cli/monitors/sweep.h"
#include "cli/output/quantity_text.h"

namespace forelock::cli {
namespace {

using std::chrono::milliseconds;

class SweepCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& root) override {
    CLI::App* app = root.add_subcommand("sweep", "Remove unused monitors that crashed processes have left behind");
    add_duration(*app, "--older-than", older_than_, "Leave those that were made later than this ago (default: 1m)");
    app->add_flag("--dry-run", dry_run_, "Say what would be removed, and remove nothing");
    app->footer(
        "Clients remove their unused monitors themselves (zookeeper.monitor.linger). Monitors in use, and those that\n"
        "other programs have made, stay; so does one for a day after 'forelock release'.\n"
        "Options for every command: see forelock --help");
    return app;
  }

  int run(const Context& context) override {
    const Settings settings = context.globals.settings();
    CommandClient client(settings, context.console, client::ClientUse::looks);
    require_namespace(*client);
    SweepOptions options;
    if (older_than_) options.older_than = *older_than_;
    options.dry_run = dry_run_;
    options.patience = patience(settings);
    report(sweep(*client, options), context, settings);
    return exit_ok;
  }

 private:
  void report(const SweepReport& sweep, const Context& context, const Settings& settings) const {
    if (!context.console.text()) {
      context.console.write_json({{dry_run_ ? "would_remove" : "removed", sweep.removed},
                                  {"in_use", sweep.in_use},
                                  {"too_young", sweep.too_young},
                                  {"of_others", sweep.of_others},
                                  {"unreadable", sweep.unreadable}});
      return;
    }
    for (const std::string& monitor : sweep.removed) context.console.write(printable(monitor) + '\n');
    context.console.note(
        (dry_run_ ? "would remove " : "removed ") + std::to_string(sweep.removed.size()) + " unused monitors at " +
        servers_text(settings) + "; left " + std::to_string(sweep.in_use) + " in use, " +
        std::to_string(sweep.too_young) + " too young, " + std::to_string(sweep.of_others) + " of other programs" +
        (sweep.unreadable == 0 ? "" : ", " + std::to_string(sweep.unreadable) + " that we may not read"));
  }

  std::optional<milliseconds> older_than_;
  bool dry_run_ = false;
};

}  // namespace

std::unique_ptr<Command> make_sweep_command() {
  return std::make_unique<SweepCommand>();
}

}  // namespace forelock::cli
