// forelock show: one monitor in full.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/exit_code.h"
#include "cli/unknown_monitor.h"
#include "cli/views_json.h"
#include "cli/views_text.h"

namespace forelock::cli {
namespace {

class ShowCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& root) override {
    CLI::App* app = root.add_subcommand("show", "Show who holds a monitor, and the line in the order of service");
    app->add_option("MONITOR", monitor_, "The monitor's id")->required();
    return app;
  }

  int run(const Context& context) override {
    const Settings settings = context.globals.settings();
    Client client(settings, log_to(context.console));
    const std::optional<MonitorView> view = Inspector(client, patience(settings)).show(monitor_);
    if (!view) throw_unknown_monitor(monitor_);
    if (context.console.text()) {
      context.console.write(text_of(*view, context.console));
    } else {
      context.console.write_json(json_of(*view));
    }
    return exit_ok;
  }

 private:
  std::string monitor_;
};

}  // namespace

std::unique_ptr<Command> make_show_command() {
  return std::make_unique<ShowCommand>();
}

}  // namespace forelock::cli
