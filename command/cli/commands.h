// The table of subcommands, in the order of the help.
#pragma once

#include <memory>
#include <vector>

#include "cli/command.h"

namespace forelock::cli {

std::vector<std::unique_ptr<Command>> make_commands();

std::unique_ptr<Command> make_run_command();
std::unique_ptr<Command> make_ls_command();
std::unique_ptr<Command> make_show_command();
std::unique_ptr<Command> make_watch_command();
std::unique_ptr<Command> make_serve_command();
std::unique_ptr<Command> make_wait_command();
std::unique_ptr<Command> make_release_command();
std::unique_ptr<Command> make_recover_command();
std::unique_ptr<Command> make_prioritize_command();
std::unique_ptr<Command> make_sweep_command();
std::unique_ptr<Command> make_audit_command();
std::unique_ptr<Command> make_dlq_command();
std::unique_ptr<Command> make_config_command();
std::unique_ptr<Command> make_doctor_command();
std::unique_ptr<Command> make_bench_command();
std::unique_ptr<Command> make_dev_command();
std::unique_ptr<Command> make_completion_command();
std::unique_ptr<Command> make_manpage_command();

}  // namespace forelock::cli
