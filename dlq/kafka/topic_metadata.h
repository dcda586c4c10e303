// The metadata of a topic, as the brokers report it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "kafka/handles.h"
#include "kafka/kafka_error.h"

namespace forelock::kafka {

struct TopicMetadata {
  std::int32_t partitions = 0;
  bool served = false;  // every partition has a leader
};

// Nothing if the topic does not exist; asking does not make it, whatever the broker's settings, if the client is a
// consumer. Waits for a broker until the deadline. \throws Error.
std::optional<TopicMetadata> topic_metadata(rd_kafka_t* client, const ClientContext& context, const std::string& topic,
                                            std::chrono::steady_clock::time_point deadline);

// What is left until the deadline, for librdkafka: not negative, which would mean for ever.
int milliseconds_until(std::chrono::steady_clock::time_point deadline);

}  // namespace forelock::kafka
