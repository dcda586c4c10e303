// forelock dlq init: makes the topics of the dead-letter queue.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/connection.h"
#include "cli/dlq_commands.h"
#include "cli/dlq_filter.h"
#include "cli/exit_code.h"
#include "cli/text_table.h"
#include "kafka/admin.h"
#include "letter/letter_json.h"

namespace forelock::cli {
namespace {

// The largest letter, with key and headers.
constexpr std::size_t largest_record = letter::max_letter_bytes + 1024 * 1024;

class DlqInitCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& root) override {
    CLI::App* app = root.add_subcommand("init", "Make the queue's topics in Kafka; those that exist stay as they are");
    app->add_option("--partitions", partitions_, "Of the queue and of its parking place, if they are made [6]")
        ->type_name("N")
        ->check(CLI::Range(1, 10'000).description(""));
    app->add_option("--replication", replication_, "Copies of each [the broker's default]")
        ->type_name("N")
        ->check(CLI::Range(1, 100).description(""));
    app->footer("Example: forelock dlq init --partitions 12 --replication 3");
    return app;
  }

  int run(const Context& context) override {
    const Settings settings = context.globals.settings();
    require_kafka(settings, "init");
    kafka::Admin admin(settings, dead_letter_log(context.console));
    TextTable table({{"TOPIC"}, {"PARTITIONS", true}, {""}});
    nlohmann::ordered_json topics = nlohmann::ordered_json::array();
    for (const kafka::TopicSpec& spec : specs(settings.dlq_topic())) {
      const bool made = admin.create(spec);
      const std::int32_t partitions = admin.partitions(spec.name).value_or(spec.partitions);
      topics.push_back({{"topic", spec.name}, {"partitions", partitions}, {"created", made}});
      table.add({{spec.name},
                 {std::to_string(partitions)},
                 {made ? "made" : "exists already", made ? Style::good : Style::plain}});
    }
    if (context.console.text()) {
      context.console.write(table.str(context.console));
    } else {
      context.console.write_json({{"topics", topics}});
    }
    return exit_ok;
  }

 private:
  std::vector<kafka::TopicSpec> specs(const std::string& topic) const {
    // No letter goes because of its age, and the largest one passes.
    const std::map<std::string, std::string> letters = {{"cleanup.policy", "delete"},
                                                        {"retention.ms", "-1"},
                                                        {"retention.bytes", "-1"},
                                                        {"max.message.bytes", std::to_string(largest_record)},
                                                        {"min.insync.replicas", std::to_string(in_sync())}};
    // Of what was done with each letter, the last word stays.
    const std::map<std::string, std::string> resolved = {{"cleanup.policy", "compact"},
                                                         {"min.insync.replicas", std::to_string(in_sync())}};
    const std::int32_t replication = replication_.value_or(-1);
    return {{topic, partitions_, replication, letters},
            {topic + ".parking", partitions_, replication, letters},
            {topic + ".resolved", 1, replication, resolved}};
  }

  // A letter that is acknowledged is on two disks, where there are three.
  int in_sync() const { return replication_.value_or(1) >= 3 ? 2 : 1; }

  std::int32_t partitions_ = 6;
  std::optional<std::int32_t> replication_;
};

}  // namespace

std::unique_ptr<Command> make_dlq_init_command() {
  return std::make_unique<DlqInitCommand>();
}

}  // namespace forelock::cli
