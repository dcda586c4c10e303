#include "drain/store_topics.h"

#include <chrono>
#include <functional>
#include <optional>
#include <utility>

#include "forelock/error.h"
#include "kafka/queue_topics.h"

namespace forelock::drain {
namespace {

constexpr std::chrono::seconds delivery_timeout{30};

}  // namespace

StoreTopics::StoreTopics(const Settings& settings, LogSink log)
    : settings_(settings),
      log_(std::move(log)),
      queue_(settings.dlq_topic()),
      resolved_(queue_ + ".resolved"),
      parking_(queue_ + ".parking") {}

void StoreTopics::write_resolved(const std::string& key, const std::string& value) {
  make_resolved();
  send({resolved_, key, value, {}});
}

void StoreTopics::write_parking(kafka::Record record) {
  make_parking();
  record.topic = parking_;
  send(record);
}

kafka::RecordPlace StoreTopics::write_queue(kafka::Record record) {
  record.topic = queue_;
  return send(record);
}

void StoreTopics::delete_resolved_key(const std::string& key, const std::function<void()>& failed) {
  const kafka::Record tombstone{resolved_, key, std::nullopt, {}};
  const auto callback = [failed](const kafka::Delivery& delivery) {
    if (!delivery.delivered) failed();
  };
  kafka::Producer& to = producer();
  for (int i = 0; i < 10; ++i) {
    if (to.try_send(tombstone, callback)) return;
    to.flush(std::chrono::seconds(3));  // its queue is full
  }
  failed();
}

void StoreTopics::flush() {
  producer().flush(delivery_timeout);
}

void StoreTopics::delete_records(const std::string& topic, std::int32_t partition, std::int64_t offset) {
  admin().delete_records(topic, partition, offset);
}

std::string StoreTopics::describe() const {
  const auto servers = settings_.kafka().find("bootstrap.servers");
  return "topic " + queue_ + (servers == settings_.kafka().end() ? "" : " at " + servers->second);
}

void StoreTopics::throw_missing_queue() const {
  throw Error(ErrorCode::kafka_unavailable, "", describe() + " does not exist",
              "Check dlq.topic, or make the topic, with settings that let no dead letter expire: forelock dlq init");
}

kafka::Producer& StoreTopics::producer() {
  const std::lock_guard hold(mutex_);
  if (!producer_) producer_ = std::make_unique<kafka::Producer>(settings_, log_);
  return *producer_;
}

kafka::Admin& StoreTopics::admin() {
  if (!admin_) admin_ = std::make_unique<kafka::Admin>(settings_, log_);
  return *admin_;
}

void StoreTopics::make_resolved() {
  const std::lock_guard hold(mutex_);
  if (resolved_exists_) return;
  if (!admin().partitions(resolved_)) make(resolved_, 1);
  resolved_exists_ = true;
}

void StoreTopics::make_parking() {
  const std::lock_guard hold(mutex_);
  if (parking_exists_) return;
  if (!admin().partitions(parking_)) {
    const auto partitions = admin().partitions(queue_);
    if (!partitions) throw_missing_queue();
    make(parking_, *partitions);
  }
  parking_exists_ = true;
}

void StoreTopics::make(const std::string& topic, std::int32_t partitions) {
  for (const kafka::TopicSpec& spec : kafka::queue_topics(queue_, partitions)) {
    if (spec.name == topic) admin().create(spec);
  }
}

kafka::RecordPlace StoreTopics::send(const kafka::Record& record) {
  const kafka::Delivery delivery = producer().send(record, delivery_timeout);
  if (delivery.delivered) return {delivery.partition, delivery.offset};
  if (delivery.permanent) {
    throw Error(delivery.denied ? ErrorCode::not_authorized : ErrorCode::kafka_rejected, "",
                "a record is refused: " + delivery.message,
                "Look at the broker's limits and access rights for this topic.");
  }
  throw Error(ErrorCode::kafka_unavailable, "", "a record was not confirmed: " + delivery.message,
              "Look whether the brokers at kafka.bootstrap.servers are up; then run the same command again.");
}

}  // namespace forelock::drain
