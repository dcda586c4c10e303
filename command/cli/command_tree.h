// The command line as data, for those who describe it: completions and the manual page.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace forelock::cli {

struct OptionEntry {
  std::vector<std::string> short_names;  // "o", without the dash
  std::vector<std::string> long_names;   // "output"
  std::string value;                     // "FORMAT"; empty for a flag
  std::vector<std::string> choices;      // what the value may be, if there are only a few
  std::string help;
};

struct CommandEntry {
  std::vector<std::string> path;  // {"config", "check"}; empty for the root
  std::string help;
  std::vector<OptionEntry> options;    // its own, not those of its parents
  std::vector<OptionEntry> arguments;  // positional: the long name is the argument's
  std::vector<CommandEntry> subcommands;
};

CommandEntry tree_of(const CLI::App& app);

}  // namespace forelock::cli
