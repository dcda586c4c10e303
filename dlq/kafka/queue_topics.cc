#include "kafka/queue_topics.h"

#include <charconv>
#include <utility>

#include "letter/letter_json.h"

namespace forelock::kafka {
namespace {

// The largest letter, with key and headers.
constexpr std::size_t largest_record = letter::max_letter_bytes + 1024 * 1024;
// Compaction keeps the last record of a key, and a drainer that was stopped for long may have written that one too
// late. The next drainer writes over it: it has a day for that.
constexpr std::int64_t compaction_lag_ms = 24 * 60 * 60 * 1000;

enum class Rule { equal, at_least };

struct Wanted {
  const char* setting;
  Rule rule;
  const char* effect;
};

constexpr Wanted wanted_settings[] = {
    {"cleanup.policy", Rule::equal, "records vanish that are needed"},
    {"retention.ms", Rule::equal, "letters expire, replayed or not"},
    {"retention.bytes", Rule::equal, "the oldest letters go when the topic has grown"},
    {"max.message.bytes", Rule::at_least, "larger letters are refused, and stay in the outbox"},
    {"min.compaction.lag.ms", Rule::at_least, "a drainer that was stopped for long may undo what a later one decided"},
};

std::optional<std::int64_t> number_in(const std::string& text) {
  std::int64_t number = 0;
  const auto end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  return parsed.ec == std::errc() && parsed.ptr == end ? std::optional(number) : std::nullopt;
}

bool good(Rule rule, const std::string& value, const std::string& wanted) {
  if (rule == Rule::equal || value == wanted) return value == wanted;
  const auto has = number_in(value);
  const auto needs = number_in(wanted);
  return has && needs && *has >= *needs;
}

}  // namespace

std::string TopicFault::text() const {
  return "topic " + topic + ": " + setting + " is " + value + ", not " + wanted + ": " + effect;
}

std::vector<TopicSpec> queue_topics(const std::string& topic, std::int32_t partitions,
                                    std::optional<std::int32_t> replication) {
  // No letter goes because of its age, and the largest one passes.
  std::map<std::string, std::string> letters = {{"cleanup.policy", "delete"},
                                                {"retention.ms", "-1"},
                                                {"retention.bytes", "-1"},
                                                {"max.message.bytes", std::to_string(largest_record)}};
  // Of what was done with each letter, the last word stays.
  std::map<std::string, std::string> resolved = {{"cleanup.policy", "compact"},
                                                 {"min.compaction.lag.ms", std::to_string(compaction_lag_ms)}};
  if (replication.value_or(0) >= 3) {
    // A letter that is acknowledged is on two disks.
    letters["min.insync.replicas"] = "2";
    resolved["min.insync.replicas"] = "2";
  }
  const std::int32_t copies = replication.value_or(-1);
  return {{topic, partitions, copies, letters},
          {topic + ".parking", partitions, copies, letters},
          {topic + ".resolved", 1, copies, resolved}};
}

std::vector<TopicFault> faults_of(const TopicSpec& spec, const std::map<std::string, std::string>& settings) {
  std::vector<TopicFault> faults;
  for (const Wanted& each : wanted_settings) {
    const auto wanted = spec.config.find(each.setting);
    const auto value = settings.find(each.setting);
    if (wanted == spec.config.end() || value == settings.end()) continue;
    if (good(each.rule, value->second, wanted->second)) continue;
    faults.push_back({spec.name, each.setting, value->second, wanted->second, each.effect});
  }
  return faults;
}

std::vector<TopicFault> queue_faults(const Settings& settings, LogSink log) {
  Admin admin(settings, std::move(log));
  std::vector<TopicFault> faults;
  for (const TopicSpec& spec : queue_topics(settings.dlq_topic(), 1)) {
    if (!admin.partitions(spec.name)) continue;
    for (TopicFault& fault : faults_of(spec, admin.settings(spec.name))) faults.push_back(std::move(fault));
  }
  return faults;
}

}  // namespace forelock::kafka
