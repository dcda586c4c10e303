// forelock dlq purge: deletes letters for good.
#include <CLI/CLI.hpp>

#include "cli/dlq/dlq_commands.h"
#include "cli/dlq/letter_removal.h"

namespace forelock::cli {
namespace {

class DlqPurgeCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& root) override {
    CLI::App* app = root.add_subcommand("purge", "Delete letters permanently; without --yes a dry run");
    app->add_option("ID", ids_, "These; or positions of unreadable records");
    filter_.add_to(*app);
    app->add_flag("--all", all_, "Every letter of the queue");
    app->add_flag("--yes", yes_, "Do it");
    app->footer("Example: forelock dlq purge --parked --until 30d --yes");
    return app;
  }

  int run(const Context& context) override {
    return remove_letters({drain::Resolution::purged, "purge", "--yes", yes_, all_, ids_, filter_}, context);
  }

 private:
  std::vector<std::string> ids_;
  DlqFilter filter_;
  bool all_ = false;
  bool yes_ = false;
};

}  // namespace

std::unique_ptr<Command> make_dlq_purge_command() {
  return std::make_unique<DlqPurgeCommand>();
}

}  // namespace forelock::cli
