// The table of `forelock dlq`'s subcommands, in the order of the help.
#pragma once

#include <memory>
#include <vector>

#include "cli/command.h"

namespace forelock::cli {

std::vector<std::unique_ptr<Command>> make_dlq_commands();

std::unique_ptr<Command> make_dlq_list_command();
std::unique_ptr<Command> make_dlq_show_command();
std::unique_ptr<Command> make_dlq_stats_command();
std::unique_ptr<Command> make_dlq_watch_command();
std::unique_ptr<Command> make_dlq_export_command();
std::unique_ptr<Command> make_dlq_replay_command();
std::unique_ptr<Command> make_dlq_park_command();
std::unique_ptr<Command> make_dlq_repair_command();
std::unique_ptr<Command> make_dlq_unpark_command();
std::unique_ptr<Command> make_dlq_purge_command();
std::unique_ptr<Command> make_dlq_import_command();
std::unique_ptr<Command> make_dlq_forward_command();
std::unique_ptr<Command> make_dlq_init_command();

}  // namespace forelock::cli
