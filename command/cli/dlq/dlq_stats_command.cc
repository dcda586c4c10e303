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
#include "cli/dlq/letters_text.h"
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
    const QueueReading reading = read(reader, filter);
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
    const std::string passed = passed_limits(reading);
    if (passed.empty()) return exit_ok;
    if (context.console.text()) context.console.warn(passed);
    return exit_failed;
  }

 private:
  // In words; empty: none.
  std::string passed_limits(const QueueReading& reading) const {
    const drain::LetterStatistics& letters = reading.letters;
    std::string text;
    if (const auto limit = parse_instant(fail_older_, reading.at); limit && letters.oldest && *letters.oldest < *limit)
      text = "the oldest failed " + duration_text(age_of(*letters.oldest, reading.at)) + " ago (--fail-older " +
             fail_older_ + ')';
    const std::uint64_t count = letters.letters + letters.unreadable_letters;
    if (!fail_more_ || count <= *fail_more_) return text;
    return text + (text.empty() ? "" : "; ") + "there are " + std::to_string(count) + " letters (--fail-more " +
           std::to_string(*fail_more_) + ')';
  }

  // Kafka may be away, and this machine's own letters are to be had all the same.
  QueueReading read(QueueReader& reader, const drain::LetterFilter& filter) const {
    try {
      return reader.read(filter);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kafka_unavailable) throw;
      Failure failure = failure_of(std::current_exception());
      if (!failure.hint.empty()) failure.hint += "; ";
      failure.hint += "this machine's own: forelock dlq stats --outbox";
      throw FailureException(std::move(failure));
    }
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
