// One subcommand.
#pragma once

#include "cli/global_options.h"
#include "cli/output/console.h"

namespace forelock::cli {

// What a command works with. Lives as long as the program.
struct Context {
  const GlobalOptions& globals;
  const Console& console;
  const CLI::App& root;  // the whole command line, for those who describe it
};

class Command {
 public:
  Command() = default;
  virtual ~Command() = default;
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  // Declares name, arguments and help; called once, before run(). \returns what was added.
  virtual CLI::App* add_to(CLI::App& root) = 0;

  // Does it. \returns the exit code. Any exception is reported by main.
  virtual int run(const Context& context) = 0;
};

}  // namespace forelock::cli
