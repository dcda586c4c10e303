#include "cli/commands.h"

namespace forelock::cli {

std::vector<std::unique_ptr<Command>> make_commands() {
  std::vector<std::unique_ptr<Command>> commands;
  for (const auto make :
       {make_run_command, make_ls_command, make_show_command, make_watch_command, make_serve_command, make_wait_command,
        make_release_command, make_prioritize_command, make_recover_command, make_sweep_command, make_audit_command,
        make_dlq_command, make_config_command, make_doctor_command, make_bench_command, make_dev_command,
        make_completion_command, make_manpage_command}) {
    commands.push_back(make());
  }
  return commands;
}

}  // namespace forelock::cli
