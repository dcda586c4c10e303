// The topics of a dead-letter queue: their creation, and a check whether existing ones lose letters.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "forelock/client.h"
#include "forelock/settings.h"
#include "kafka/admin.h"

namespace forelock::kafka {

// A setting of a topic that breaks a promise of the queue.
struct TopicFault {
  std::string topic;
  std::string setting;
  std::string value;   // as it is
  std::string wanted;  // what `forelock dlq init --alter` would set
  std::string effect;  // what happens as it is, for people

  // Such as "topic T: retention.ms is 604800000, not -1: letters expire".
  std::string text() const;
};

// How the queue's topic, its parking place and its resolved topic are made. min.insync.replicas is set for a
// replication of 3 and more; else it is the broker's.
std::vector<TopicSpec> queue_topics(const std::string& topic, std::int32_t partitions,
                                    std::optional<std::int32_t> replication = std::nullopt);

// What is wrong with the settings of a topic, given all of them. `spec` is one of queue_topics().
std::vector<TopicFault> faults_of(const TopicSpec& spec, const std::map<std::string, std::string>& settings);

// Of all topics of the queue that exist. \throws Error(kafka_unavailable); Error(kafka_rejected), as for a user that
// may not see the topics' settings.
std::vector<TopicFault> queue_faults(const Settings& settings, LogSink log = {});

}  // namespace forelock::kafka
