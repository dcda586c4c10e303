#include "kafka/topic_metadata.h"

#include <algorithm>
#include <memory>
#include <thread>

namespace forelock::kafka {
namespace {

using Clock = std::chrono::steady_clock;

// The library waits for a broker until the end of a call even if it has been told that our password is wrong; so it is
// asked for longer and longer times.
constexpr std::chrono::milliseconds first_patience(500);
constexpr std::chrono::milliseconds metadata_pause(50);

using Answer = std::unique_ptr<const rd_kafka_metadata_t, Destroyer<rd_kafka_metadata_destroy>>;

}  // namespace

int milliseconds_until(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<std::chrono::milliseconds::rep>(left, 0, 3'600'000));
}

std::optional<TopicMetadata> topic_metadata(rd_kafka_t* client, const ClientContext& context, const std::string& topic,
                                            Clock::time_point deadline) {
  const std::string what = "look for topic " + topic;
  const TopicHandle handle(rd_kafka_topic_new(client, topic.c_str(), nullptr));
  if (handle == nullptr) throw_failure(context, what, rd_kafka_last_error());
  for (std::chrono::milliseconds patience = first_patience;; patience *= 2) {
    const rd_kafka_metadata_t* found = nullptr;
    const int time = std::min(static_cast<int>(patience.count()), milliseconds_until(deadline));
    rd_kafka_resp_err_t error = rd_kafka_metadata(client, 0, handle.get(), &found, time);
    const Answer answer(found);
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR && answer->topic_cnt == 1) {
      const rd_kafka_metadata_topic_t& entry = answer->topics[0];
      error = entry.err;
      if (error == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART) return std::nullopt;
      if (error == RD_KAFKA_RESP_ERR_NO_ERROR) {
        const bool served = std::all_of(entry.partitions, entry.partitions + entry.partition_cnt,
                                        [](const rd_kafka_metadata_partition_t& part) { return part.leader >= 0; });
        return TopicMetadata{entry.partition_cnt, served && entry.partition_cnt > 0};
      }
    }
    rd_kafka_poll(client, 0);  // serves what it has to say about our credentials
    throw_if_refused(context, what);
    if (is_permanent(error) || Clock::now() >= deadline) throw_failure(context, what, error);
    std::this_thread::sleep_for(metadata_pause);
  }
}

}  // namespace forelock::kafka
