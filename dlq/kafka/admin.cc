#include "kafka/admin.h"

#include <array>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "forelock/error.h"
#include "kafka/client_config.h"
#include "kafka/client_events.h"
#include "kafka/handles.h"
#include "kafka/kafka_error.h"
#include "kafka/topic_metadata.h"

namespace forelock::kafka {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds patience(10);        // of each call
constexpr std::chrono::seconds answer_patience(4);  // of one request within it
constexpr std::chrono::seconds starting_time(2);    // how long a broker that has just started may know no other
constexpr std::chrono::milliseconds pause(100);

using NewTopic = std::unique_ptr<rd_kafka_NewTopic_t, Destroyer<rd_kafka_NewTopic_destroy>>;
using DeleteRecords = std::unique_ptr<rd_kafka_DeleteRecords_t, Destroyer<rd_kafka_DeleteRecords_destroy>>;
using ConfigResource = std::unique_ptr<rd_kafka_ConfigResource_t, Destroyer<rd_kafka_ConfigResource_destroy>>;
using Options = std::unique_ptr<rd_kafka_AdminOptions_t, Destroyer<rd_kafka_AdminOptions_destroy>>;

struct Outcome {
  rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR_NO_ERROR;
  std::string reason;
};

std::string text_or_nothing(const char* text) {
  return text == nullptr ? std::string() : text;
}

NewTopic new_topic(const TopicSpec& spec) {
  std::array<char, 256> reason{};
  NewTopic topic(
      rd_kafka_NewTopic_new(spec.name.c_str(), spec.partitions, spec.replication, reason.data(), reason.size()));
  if (topic == nullptr) throw RequestRejectedException(ErrorCode::invalid_argument, {}, reason.data());
  for (const auto& [key, value] : spec.config) rd_kafka_NewTopic_set_config(topic.get(), key.c_str(), value.c_str());
  return topic;
}

Outcome outcome_of_create(rd_kafka_event_t* event) {
  const rd_kafka_CreateTopics_result_t* const result = rd_kafka_event_CreateTopics_result(event);
  std::size_t count = 0;
  const rd_kafka_topic_result_t** const topics = rd_kafka_CreateTopics_result_topics(result, &count);
  if (count != 1) return {RD_KAFKA_RESP_ERR__BAD_MSG, "no result for the topic"};
  return {rd_kafka_topic_result_error(topics[0]), text_or_nothing(rd_kafka_topic_result_error_string(topics[0]))};
}

ConfigResource topic_resource(const std::string& topic) {
  return ConfigResource(rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic.c_str()));
}

Outcome outcome_of_resources(const rd_kafka_ConfigResource_t** resources, std::size_t count) {
  if (count != 1) return {RD_KAFKA_RESP_ERR__BAD_MSG, "no result for the topic"};
  return {rd_kafka_ConfigResource_error(resources[0]),
          text_or_nothing(rd_kafka_ConfigResource_error_string(resources[0]))};
}

Outcome outcome_of_alter(rd_kafka_event_t* event) {
  std::size_t count = 0;
  const auto resources = rd_kafka_AlterConfigs_result_resources(rd_kafka_event_AlterConfigs_result(event), &count);
  return outcome_of_resources(resources, count);
}

Outcome outcome_of_delete(rd_kafka_event_t* event) {
  const rd_kafka_topic_partition_list_t* const offsets =
      rd_kafka_DeleteRecords_result_offsets(rd_kafka_event_DeleteRecords_result(event));
  if (offsets == nullptr || offsets->cnt != 1) return {RD_KAFKA_RESP_ERR__BAD_MSG, "no result for the partition"};
  return {offsets->elems[0].err, {}};
}

}  // namespace

class Admin::Impl {
 public:
  // A consumer: it asks for topics without making them.
  Impl(const Settings& settings, LogSink log)
      : config_(settings, Role::consumer), events_(std::move(log), config_.mask()) {
    ConfHandle conf = config_.conf();
    events_.install(conf.get());
    client_ = config_.make(std::move(conf));
  }

  std::optional<TopicMetadata> metadata(const std::string& topic, Clock::time_point deadline) {
    return topic_metadata(client_.get(), context(), topic, deadline);
  }

  bool create(const TopicSpec& spec) {
    const std::string what = "make topic " + spec.name;
    const Clock::time_point deadline = Clock::now() + patience;
    if (const auto existing = metadata(spec.name, deadline); existing && existing->served) return false;
    const NewTopic topic = new_topic(spec);
    rd_kafka_NewTopic_t* topics[] = {topic.get()};
    const auto send = [&](const Options& options, rd_kafka_queue_t* queue) {
      rd_kafka_CreateTopics(client_.get(), topics, 1, options.get(), queue);
    };
    const auto good = [](const Outcome& outcome) {
      return outcome.error == RD_KAFKA_RESP_ERR_NO_ERROR || outcome.error == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS;
    };
    const Outcome outcome = repeat(what, RD_KAFKA_ADMIN_OP_CREATETOPICS, deadline, send, outcome_of_create, good);
    wait_until_served(spec.name, deadline);
    return outcome.error == RD_KAFKA_RESP_ERR_NO_ERROR;
  }

  struct Setting {
    std::string value;
    bool own = false;  // the topic's, not the broker's
  };

  std::map<std::string, Setting> settings(const std::string& topic) {
    const ConfigResource resource = topic_resource(topic);
    rd_kafka_ConfigResource_t* resources[] = {resource.get()};
    const auto send = [&](const Options& options, rd_kafka_queue_t* queue) {
      rd_kafka_DescribeConfigs(client_.get(), resources, 1, options.get(), queue);
    };
    std::map<std::string, Setting> settings;
    const auto outcome_of = [&settings](rd_kafka_event_t* event) {
      std::size_t count = 0;
      const auto found =
          rd_kafka_DescribeConfigs_result_resources(rd_kafka_event_DescribeConfigs_result(event), &count);
      const Outcome outcome = outcome_of_resources(found, count);
      if (outcome.error != RD_KAFKA_RESP_ERR_NO_ERROR) return outcome;
      const auto entries = rd_kafka_ConfigResource_configs(found[0], &count);
      for (std::size_t i = 0; i < count; ++i) {
        const char* const value = rd_kafka_ConfigEntry_value(entries[i]);
        if (value == nullptr) continue;
        settings[rd_kafka_ConfigEntry_name(entries[i])] = {
            value, rd_kafka_ConfigEntry_source(entries[i]) == RD_KAFKA_CONFIG_SOURCE_DYNAMIC_TOPIC_CONFIG};
      }
      return outcome;
    };
    repeat("look at the settings of topic " + topic, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS, Clock::now() + patience, send,
           outcome_of, no_error);
    return settings;
  }

  void alter(const std::string& topic, const std::map<std::string, std::string>& changes) {
    // The request replaces all settings of the topic's own.
    std::map<std::string, std::string> all = changes;
    for (const auto& [key, setting] : settings(topic)) {
      if (setting.own) all.emplace(key, setting.value);
    }
    const ConfigResource resource = topic_resource(topic);
    for (const auto& [key, value] : all) rd_kafka_ConfigResource_set_config(resource.get(), key.c_str(), value.c_str());
    rd_kafka_ConfigResource_t* resources[] = {resource.get()};
    const auto send = [&](const Options& options, rd_kafka_queue_t* queue) {
      rd_kafka_AlterConfigs(client_.get(), resources, 1, options.get(), queue);
    };
    repeat("change the settings of topic " + topic, RD_KAFKA_ADMIN_OP_ALTERCONFIGS, Clock::now() + patience, send,
           outcome_of_alter, no_error);
  }

  void delete_records(const std::string& topic, std::int32_t partition, std::int64_t offset) {
    const std::string what = "delete records of topic " + topic + ", partition " + std::to_string(partition) +
                             ", before offset " + std::to_string(offset);
    const PartitionList before(rd_kafka_topic_partition_list_new(1));
    rd_kafka_topic_partition_list_add(before.get(), topic.c_str(), partition)->offset = offset;
    const DeleteRecords request(rd_kafka_DeleteRecords_new(before.get()));
    rd_kafka_DeleteRecords_t* requests[] = {request.get()};
    const auto send = [&](const Options& options, rd_kafka_queue_t* queue) {
      rd_kafka_DeleteRecords(client_.get(), requests, 1, options.get(), queue);
    };
    repeat(what, RD_KAFKA_ADMIN_OP_DELETERECORDS, Clock::now() + patience, send, outcome_of_delete, no_error);
  }

 private:
  ClientContext context() const { return {config_, events_}; }
  static bool no_error(const Outcome& outcome) { return outcome.error == RD_KAFKA_RESP_ERR_NO_ERROR; }

  // Asks until the outcome is good; for a while also where a broker has just started and refuses for that reason alone.
  template <class Send, class OutcomeOf, class Good>
  Outcome repeat(const std::string& what, rd_kafka_admin_op_t operation, Clock::time_point deadline, Send send,
                 OutcomeOf outcome_of, Good good) {
    for (;;) {
      const Outcome outcome = ask(operation, deadline, send, outcome_of);
      if (good(outcome)) return outcome;
      rd_kafka_poll(client_.get(), 0);
      throw_if_refused(context(), what);
      const bool starting = outcome.error == RD_KAFKA_RESP_ERR_INVALID_REPLICATION_FACTOR &&
                            Clock::now() < deadline - patience + starting_time;
      if ((is_permanent(outcome.error) && !starting) || Clock::now() >= deadline) {
        throw_failure(context(), what, outcome.error, outcome.reason);
      }
      std::this_thread::sleep_for(pause);
    }
  }

  template <class Send, class OutcomeOf>
  Outcome ask(rd_kafka_admin_op_t operation, Clock::time_point deadline, Send send, OutcomeOf outcome_of) {
    const Clock::time_point end = std::min(deadline, Clock::now() + answer_patience);
    const Options options(rd_kafka_AdminOptions_new(client_.get(), operation));
    std::array<char, 256> reason{};
    const int time = std::max(1, milliseconds_until(end));
    rd_kafka_AdminOptions_set_request_timeout(options.get(), time, reason.data(), reason.size());
    rd_kafka_AdminOptions_set_operation_timeout(options.get(), time, reason.data(), reason.size());
    const QueueHandle queue(rd_kafka_queue_new(client_.get()));
    send(options, queue.get());
    const EventHandle event(rd_kafka_queue_poll(queue.get(), time + 1000));  // the library's own time-out comes first
    if (event == nullptr) return {RD_KAFKA_RESP_ERR__TIMED_OUT, {}};
    if (const auto error = rd_kafka_event_error(event.get()); error != RD_KAFKA_RESP_ERR_NO_ERROR) {
      return {error, text_or_nothing(rd_kafka_event_error_string(event.get()))};
    }
    return outcome_of(event.get());
  }

  void wait_until_served(const std::string& topic, Clock::time_point deadline) {
    for (;;) {
      const std::optional<TopicMetadata> found = metadata(topic, deadline);
      if (found && found->served) return;
      if (Clock::now() >= deadline) {
        throw_unavailable(context(), "make topic " + topic, "no broker serves the new topic yet");
      }
      std::this_thread::sleep_for(pause);
    }
  }

  ClientConfig config_;
  ClientEvents events_;
  ClientHandle client_;
};

Admin::Admin(const Settings& settings, LogSink log) : impl_(std::make_unique<Impl>(settings, std::move(log))) {}

Admin::~Admin() = default;

std::optional<std::int32_t> Admin::partitions(const std::string& topic) {
  const std::optional<TopicMetadata> found = impl_->metadata(topic, Clock::now() + patience);
  if (!found) return std::nullopt;
  return found->partitions;
}

bool Admin::create(const TopicSpec& spec) {
  return impl_->create(spec);
}

std::map<std::string, std::string> Admin::settings(const std::string& topic) {
  std::map<std::string, std::string> values;
  for (const auto& [key, setting] : impl_->settings(topic)) values[key] = setting.value;
  return values;
}

void Admin::alter(const std::string& topic, const std::map<std::string, std::string>& changes) {
  impl_->alter(topic, changes);
}

void Admin::delete_records(const std::string& topic, std::int32_t partition, std::int64_t offset) {
  impl_->delete_records(topic, partition, offset);
}

}  // namespace forelock::kafka
