#include "drain/topic_target.h"

#include <chrono>
#include <memory>
#include <utility>

#include "drain/store_topics.h"
#include "forelock/error.h"
#include "kafka/producer.h"
#include "letter/letter_headers.h"
#include "letter/letter_json.h"

namespace forelock::drain {
namespace {

constexpr std::chrono::seconds target_timeout{30};

kafka::Record record_for(const std::string& topic, DeadLetter letter) {
  ++letter.replay_count;
  kafka::Record record;
  record.topic = topic;
  record.key = letter.monitor;
  record.value = letter::to_json(letter);
  for (letter::Header& header : letter::headers_of(letter)) {
    record.headers.emplace_back(std::move(header.name), std::move(header.value));
  }
  return record;
}

}  // namespace

LetterTarget topic_target(const Settings& settings, const std::string& topic, LogSink log) {
  const StoreTopics own(settings, log);
  if (topic == own.queue() || topic == own.resolved() || topic == own.parking()) {
    throw RequestRejectedException(ErrorCode::invalid_argument, "",
                                   "letters of " + own.queue() + " cannot be replayed to " + topic +
                                       ": that topic belongs to the dead-letter queue itself",
                                   "Name the topic from which the operations are worked on.");
  }
  const auto producer = std::make_shared<kafka::Producer>(settings, std::move(log));
  return [producer, topic](const StoredLetter& letter, WriteLock&, std::stop_token) -> TryResult {
    const kafka::Delivery delivery = producer->send(record_for(topic, letter.letter), target_timeout);
    if (delivery.delivered) return {TryOutcome::done, ""};
    return {delivery.permanent ? TryOutcome::failed : TryOutcome::later, delivery.message};
  };
}

}  // namespace forelock::drain
