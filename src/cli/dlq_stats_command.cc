// forelock dlq stats: how many letters, how old, of which kinds.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/connection.h"
#include "cli/dlq_commands.h"
#include "cli/dlq_filter.h"
#include "cli/exit_code.h"
#include "cli/queue_reading.h"
#include "records/wall_time.h"

namespace forelock::cli {
namespace {

class DlqStatsCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& root) override {
    CLI::App* app = root.add_subcommand("stats", "Count dead letters, by reason, type and monitor");
    filter_.add_to(*app);
    app->footer("Example: forelock dlq stats --since 1d -o json");
    return app;
  }

  int run(const Context& context) override {
    const drain::LetterFilter filter = filter_.filter(records::wall_time_now());
    QueueReader reader(context.globals.settings(), filter_.store_kind(), dead_letter_log(context.console));
    const QueueReading reading = reader.read(filter);
    if (context.console.text()) {
      context.console.write(reader.text_of(reading, context.console));
    } else {
      context.console.write_json(reader.json_of(reading));
    }
    return exit_ok;
  }

 private:
  DlqFilter filter_;
};

}  // namespace

std::unique_ptr<Command> make_dlq_stats_command() {
  return std::make_unique<DlqStatsCommand>();
}

}  // namespace forelock::cli
