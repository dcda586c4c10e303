// forelock dlq park: puts letters aside, out of the way of replays.
#include <CLI/CLI.hpp>

#include "cli/dlq/dlq_commands.h"
#include "cli/dlq/letter_removal.h"

namespace forelock::cli {
namespace {

class DlqParkCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& root) override {
    CLI::App* app = root.add_subcommand("park", "Set letters aside: no replay takes them unless told to");
    app->add_option("ID", ids_, "These, at once; or positions of unreadable records");
    filter_.add_to(*app);
    app->add_flag("--all", all_, "Every letter of the queue");
    app->add_flag("--execute", execute_, "With a filter: do it; without, a dry run");
    app->footer("Example: forelock dlq park 0a1b2c3d-…");
    return app;
  }

  int run(const Context& context) override {
    return remove_letters(
        {drain::Resolution::parked, "park", "--execute", execute_ || !ids_.empty(), all_, ids_, filter_}, context);
  }

 private:
  std::vector<std::string> ids_;
  DlqFilter filter_;
  bool all_ = false;
  bool execute_ = false;
};

}  // namespace

std::unique_ptr<Command> make_dlq_park_command() {
  return std::make_unique<DlqParkCommand>();
}

}  // namespace forelock::cli
