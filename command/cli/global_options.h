// The options that every subcommand takes, before or after its name.
#pragma once

#include <string>
#include <vector>

#include "cli/log/command_log.h"
#include "cli/output/console.h"
#include "forelock/settings.h"

namespace CLI {
class App;
}

namespace forelock::cli {

struct GlobalOptions {
  std::string config;            // --config
  std::string zookeeper;         // --zookeeper
  std::vector<std::string> set;  // --set KEY=VALUE
  std::string output = "text";   // -o
  std::string color = "auto";    // --color
  bool quiet = false;
  int verbosity = 0;
  std::string audit_file;  // --audit-file
  LogOptions log;          // --log-file, --log-format, --log-level

  // Declares them; they are filled in by the parser, so this object must outlive it.
  void add_to(CLI::App& root);

  ConsoleOptions console() const;
  // The file of --audit-file, or of $FORELOCK_AUDIT_FILE; empty if there is none.
  std::string audit_path() const;

  // The settings in force: the file of --config or $FORELOCK_CONFIG, over it --zookeeper and --set; where none of them
  // names servers, $FORELOCK_ZOOKEEPER does. \throws ConfigurationException, FailureException for a --set without '='.
  Settings settings() const;
};

}  // namespace forelock::cli
