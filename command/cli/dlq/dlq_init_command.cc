// forelock dlq init: makes the topics of the dead-letter queue.
#include <CLI/CLI.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/connection.h"
#include "cli/dlq/dlq_commands.h"
#include "cli/dlq/dlq_filter.h"
#include "cli/exit_code.h"
#include "cli/failure.h"
#include "cli/output/text_table.h"
#include "kafka/admin.h"
#include "kafka/queue_topics.h"

namespace forelock::cli {
namespace {

class DlqInitCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& root) override {
    CLI::App* app =
        root.add_subcommand("init", "Create the queue's topics in Kafka, and check the settings of existing ones");
    app->add_option("--partitions", partitions_, "Partitions of the queue's and the parking topic, if created [6]")
        ->type_name("N")
        ->check(CLI::Range(1, 10'000).description(""));
    app->add_option("--replication", replication_, "Replicas of each [the broker's default]")
        ->type_name("N")
        ->check(CLI::Range(1, 100).description(""));
    app->add_flag("--alter", alter_, "Correct settings with which an existing topic would lose letters");
    app->footer("Example: forelock dlq init --partitions 12 --replication 3");
    return app;
  }

  int run(const Context& context) override {
    const Settings settings = context.globals.settings();
    require_kafka(settings, "init");
    kafka::Admin admin(settings, dead_letter_log(context.console));
    TextTable table({{"TOPIC"}, {"PARTITIONS", true}, {""}});
    nlohmann::ordered_json topics = nlohmann::ordered_json::array();
    std::size_t faulty = 0;
    for (const kafka::TopicSpec& spec : kafka::queue_topics(settings.dlq_topic(), partitions_, replication_)) {
      const bool made = admin.create(spec);
      const std::int32_t partitions = admin.partitions(spec.name).value_or(spec.partitions);
      const std::vector<kafka::TopicFault> faults = kafka::faults_of(spec, admin.settings(spec.name));
      if (alter_ && !faults.empty()) admin.alter(spec.name, wanted_by(faults));
      if (!alter_ && !faults.empty()) ++faulty;
      nlohmann::ordered_json listed = nlohmann::ordered_json::array();
      for (const kafka::TopicFault& fault : faults) {
        listed.push_back({{"setting", fault.setting}, {"value", fault.value}, {"wanted", fault.wanted}});
        if (context.console.text() && !alter_) context.console.warn(printable(fault.text()));
      }
      topics.push_back({{"topic", spec.name},
                        {"partitions", partitions},
                        {"created", made},
                        {"altered", alter_ && !faults.empty()},
                        {"faults", listed}});
      table.add({{spec.name}, {std::to_string(partitions)}, state_cell(made, faults)});
    }
    if (context.console.text()) {
      context.console.write(table.str(context.console));
    } else {
      context.console.write_json({{"topics", topics}});
    }
    if (faulty == 0) return exit_ok;
    throw FailureException(
        {exit_failed,
         "topic_settings",
         std::to_string(faulty) + (faulty == 1 ? " topic has" : " topics have") + " settings by which letters get lost",
         "forelock dlq init --alter puts them right",
         {},
         false,
         {}});
  }

 private:
  static std::map<std::string, std::string> wanted_by(const std::vector<kafka::TopicFault>& faults) {
    std::map<std::string, std::string> changes;
    for (const kafka::TopicFault& fault : faults) changes[fault.setting] = fault.wanted;
    return changes;
  }

  TextTable::Cell state_cell(bool made, const std::vector<kafka::TopicFault>& faults) const {
    if (made) return {"made", Style::good};
    if (faults.empty()) return {"exists already", Style::plain};
    std::string names;
    for (const kafka::TopicFault& fault : faults) names += (names.empty() ? "" : ", ") + fault.setting;
    return alter_ ? TextTable::Cell{"altered: " + names, Style::good} : TextTable::Cell{"wrong: " + names, Style::bad};
  }

  std::int32_t partitions_ = 6;
  std::optional<std::int32_t> replication_;
  bool alter_ = false;
};

}  // namespace

std::unique_ptr<Command> make_dlq_init_command() {
  return std::make_unique<DlqInitCommand>();
}

}  // namespace forelock::cli
