// forelock completion: a script for a shell.
#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/completion.h"
#include "cli/exit_code.h"

namespace forelock::cli {
namespace {

class CompletionCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& root) override {
    CLI::App* app = root.add_subcommand("completion", "Print a completion script: bash, zsh or fish");
    app->add_option("SHELL", shell_, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
    return app;
  }

  int run(const Context& context) override {
    const CommandEntry tree = tree_of(context.root);
    context.console.write(shell_ == "bash"  ? bash_completion(tree)
                          : shell_ == "zsh" ? zsh_completion(tree)
                                            : fish_completion(tree));
    return exit_ok;
  }

 private:
  std::string shell_;
};

}  // namespace

std::unique_ptr<Command> make_completion_command() {
  return std::make_unique<CompletionCommand>();
}

}  // namespace forelock::cli
