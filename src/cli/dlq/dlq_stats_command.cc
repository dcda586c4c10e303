// forelock dlq stats: how many letters, how old, of which kinds.
#include <CLI/CLI.hpp>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/connection.h"
#include "cli/dlq/dlq_commands.h"
#include "cli/dlq/dlq_filter.h"
#include "cli/dlq/queue_reading.h"
#include "cli/exit_code.h"
#include "cli/failure.h"
#include "cli/output/quantity_text.h"
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
    app->add_option("--fail-older", fail_older_,
                    "Exit code 1 if the oldest failed longer ago than this, such as 15m, 2h")
        ->type_name("AGE");
    app->add_option("--fail-more", fail_more_, "Exit code 1 if there are more letters than this")
        ->type_name("N")
        ->check(CLI::NonNegativeNumber.description(""));
    app->footer("Example: forelock dlq stats --fail-older 1h --fail-more 100 -q");
    return app;
  }

  int run(const Context& context) override {
    const WallTime now = records::wall_time_now();
    const drain::LetterFilter filter = filter_.filter(now);
    if (!fail_older_.empty() && !parse_instant(fail_older_, now))
      throw_usage("stats: --fail-older " + fail_older_ + ": no age", "such as 90s, 15m, 2h, 3d");
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
    return too_much(reading) ? exit_failed : exit_ok;
  }

 private:
  bool too_much(const QueueReading& reading) const {
    const drain::LetterStatistics& letters = reading.letters;
    const std::optional<WallTime> limit = parse_instant(fail_older_, reading.at);
    const bool old = limit && letters.oldest && *letters.oldest < *limit;
    return old || (fail_more_ && letters.letters + letters.unreadable_letters > *fail_more_);
  }

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
  std::string fail_older_;
  std::optional<std::uint64_t> fail_more_;
};

}  // namespace

std::unique_ptr<Command> make_dlq_stats_command() {
  return std::make_unique<DlqStatsCommand>();
}

}  // namespace forelock::cli
