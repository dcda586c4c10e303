// forelock dlq: the dead-letter queue.
#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/dlq/dlq_commands.h"
#include "cli/exit_code.h"

namespace forelock::cli {
namespace {

class DlqCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& root) override {
    CLI::App* app = root.add_subcommand("dlq", "Inspect and drain the dead-letter queue");
    app->require_subcommand(1);
    for (std::unique_ptr<Command>& command : make_dlq_commands()) {
      CLI::App* sub = command->add_to(*app);
      const std::string example = sub->get_footer();
      sub->footer((example.empty() ? "" : example + '\n') + "Options for every command: see forelock --help");
      commands_.push_back({sub, std::move(command)});
    }
    return app;
  }

  int run(const Context& context) override {
    for (const Entry& entry : commands_) {
      if (entry.app->parsed()) return entry.command->run(context);
    }
    return exit_usage;  // not reached: the parser requires a subcommand
  }

 private:
  struct Entry {
    CLI::App* app;
    std::unique_ptr<Command> command;
  };
  std::vector<Entry> commands_;
};

}  // namespace

std::vector<std::unique_ptr<Command>> make_dlq_commands() {
  std::vector<std::unique_ptr<Command>> commands;
  for (const auto make : {make_dlq_list_command, make_dlq_show_command, make_dlq_stats_command, make_dlq_watch_command,
                          make_dlq_export_command, make_dlq_replay_command, make_dlq_park_command,
                          make_dlq_unpark_command, make_dlq_purge_command, make_dlq_import_command,
                          make_dlq_repair_command, make_dlq_forward_command, make_dlq_init_command}) {
    commands.push_back(make());
  }
  return commands;
}

std::unique_ptr<Command> make_dlq_command() {
  return std::make_unique<DlqCommand>();
}

}  // namespace forelock::cli
