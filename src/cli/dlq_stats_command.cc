// forelock dlq stats: how many letters, how old, of which kinds.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "cli/connection.h"
#include "cli/dlq_commands.h"
#include "cli/dlq_filter.h"
#include "cli/exit_code.h"
#include "cli/queue_reading.h"
#include "forelock/error.h"
#include "forward/open_outbox.h"
#include "kafka/queue_topics.h"
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
    const std::optional<std::vector<kafka::TopicFault>> faults = topic_faults(context);
    if (context.console.text()) {
      context.console.write(reader.text_of(reading, context.console));
      for (const kafka::TopicFault& fault : faults.value_or(std::vector<kafka::TopicFault>()))
        context.console.warn(printable(fault.text() + " (forelock dlq init --alter)"));
    } else {
      nlohmann::ordered_json json = reader.json_of(reading);
      json["topic_faults"] = nullptr;
      if (faults) {
        json["topic_faults"] = nlohmann::ordered_json::array();
        for (const kafka::TopicFault& fault : *faults) json["topic_faults"].push_back(fault.text());
      }
      context.console.write_json(json);
    }
    return exit_ok;
  }

 private:
  // Nothing if they cannot be known: without Kafka, or without the right to see topics' settings.
  std::optional<std::vector<kafka::TopicFault>> topic_faults(const Context& context) const {
    const Settings settings = context.globals.settings();
    if (!forward::kafka_is_configured(settings) || filter_.store_kind() == drain::StoreKind::outbox)
      return std::nullopt;
    try {
      return kafka::queue_faults(settings, dead_letter_log(context.console));
    } catch (const Error&) {
      return std::nullopt;
    }
  }

  DlqFilter filter_;
};

}  // namespace

std::unique_ptr<Command> make_dlq_stats_command() {
  return std::make_unique<DlqStatsCommand>();
}

}  // namespace forelock::cli
