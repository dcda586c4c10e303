// forelock ls: who holds what.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/counted.h"
#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/existing_namespace.h"
#include "cli/exit_code.h"
#include "cli/monitors/monitor_choice.h"
#include "cli/monitors/servers_text.h"
#include "cli/monitors/views_json.h"
#include "cli/monitors/views_text.h"

namespace forelock::cli {
namespace {

class LsCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& root) override {
    CLI::App* app = root.add_subcommand("ls", "List the monitors that are held or waited for");
    app->add_flag("--all,-a", all_, "Include idle monitors");
    choice_.add_to(*app);
    app->add_flag("--names", names_, "Only the ids, one per line; ids that contain a line break are left out");
    return app;
  }

  int run(const Context& context) override {
    const Settings settings = context.globals.settings();
    CommandClient client(settings, context.console, client::ClientUse::looks);
    require_namespace(*client);
    std::size_t not_permitted = 0;
    std::vector<MonitorSummary> monitors = Inspector(*client, patience(settings)).list(all_, &not_permitted);
    if (not_permitted > 0) {
      context.console.note("left out: " + base::counted(not_permitted, "node") +
                           " that these credentials may not read; zookeeper.auth.digest.file names them");
    }
    if (const std::size_t more = choice_.apply(monitors); more > 0)
      context.console.note("left out: " + base::counted(more, "monitor") + " more (--limit)");
    if (names_ && context.console.text()) {
      for (const MonitorSummary& monitor : monitors) {
        if (printable(monitor.monitor) == monitor.monitor) context.console.write(monitor.monitor + '\n');
      }
      return exit_ok;
    }
    switch (context.console.format()) {
      case Format::json:
        context.console.write_json(json_of(monitors));
        break;
      case Format::ndjson:
        for (const MonitorSummary& monitor : monitors) context.console.write_json(json_of(monitor));
        break;
      case Format::text:
        if (monitors.empty())
          context.console.note((choice_.made() ? "there is nothing of that kind at "
                                : all_         ? "there are no monitors at "
                                               : "nothing is held or waited for at ") +
                               servers_text(settings));
        context.console.write(text_of(monitors, context.console));
        break;
    }
    return exit_ok;
  }

 private:
  MonitorChoice choice_;
  bool all_ = false;
  bool names_ = false;
};

}  // namespace

std::unique_ptr<Command> make_ls_command() {
  return std::make_unique<LsCommand>();
}

}  // namespace forelock::cli
