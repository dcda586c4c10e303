// The command-line options of a worker.
#pragma once

#include "forelock/settings.h"
#include "support/standard.h"

namespace forelock::robustness {

// KIND KEY=VALUE…: keys as below, or any setting of the library.
struct WorkerOptions {
  std::string kind;                   // api, async, cli, operations, sets, stall, unlocker, visit
  std::filesystem::path directory;    // directory=…: of the history
  std::filesystem::path resource;     // resource=…: its socket
  std::string process;                // process=…: unique name
  std::uint64_t seed = 1;             // seed=…
  std::vector<std::string> monitors;  // monitors=a,b,…: shared ones, the first the most wanted
  int own_monitors = 0;               // own=…: so many more that nobody else uses, or hardly
  int rare_monitors = 0;              // rare=…: and so many that are used so seldom that each is new
  std::vector<std::string> visited;   // visited=a,b,…: others' own ones, used now and then
  int threads = 4;                    // threads=…: or locks, of an asynchronous worker
  int pause_us = 0;                   // pause=…: mean time between two acquisitions of a thread
  std::filesystem::path command;      // command=…: the `forelock` binary
  bool overdue = false;               // overdue=true: some sections are longer than the lock lets an unlocker wait
  Settings settings;
  std::vector<std::string> setting_arguments;  // the settings as they were given

  int hold_ms = 0;  // hold=…: so long does a holder stay: visit; stall, if nothing happens to it

  // visit: what a command does under the lock
  std::uint64_t call = 0;                    // call=…
  Priority priority = Priority::foreground;  // priority=…

  // Throws std::runtime_error for what it does not understand, ConfigurationException for a wrong setting.
  static WorkerOptions parse(int count, char** arguments);
};

}  // namespace forelock::robustness
