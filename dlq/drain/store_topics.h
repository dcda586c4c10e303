// The three topics of a dead-letter queue in Kafka, and their contents.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "forelock/client.h"
#include "forelock/settings.h"
#include "kafka/admin.h"
#include "kafka/producer.h"
#include "kafka/record.h"

namespace forelock::drain {

// The auxiliary topics are made when they are first written to. Thread-safe. Throws Error(kafka_unavailable) or
// (kafka_rejected).
class StoreTopics {
 public:
  StoreTopics(const Settings& settings, LogSink log);

  const std::string& queue() const { return queue_; }        // what `dlq.topic` names
  const std::string& resolved() const { return resolved_; }  // QUEUE.resolved: compacted, one partition
  const std::string& parking() const { return parking_; }    // QUEUE.parking: as many partitions as the queue

  // These wait for the delivery; tried again for a while.
  void write_resolved(const std::string& key, const std::string& value);
  void write_parking(kafka::Record record);
  // \returns where it stands.
  kafka::RecordPlace write_queue(kafka::Record record);

  // For many: sends a tombstone and does not wait; `failed` is called on another thread when it was not delivered.
  void delete_resolved_key(const std::string& key, const std::function<void()>& failed);
  // Waits until what was sent without waiting is delivered or given up.
  void flush();

  // Deletes the records of this partition before `offset`.
  void delete_records(const std::string& topic, std::int32_t partition, std::int64_t offset);

  // For messages: "topic NAME at host:9092".
  std::string describe() const;
  // What to throw when the queue's topic does not exist.
  [[noreturn]] void throw_missing_queue() const;

 private:
  kafka::Producer& producer();
  kafka::Admin& admin();
  void make_resolved();
  void make_parking();
  void make(const std::string& topic, std::int32_t partitions);
  kafka::RecordPlace send(const kafka::Record& record);

  Settings settings_;
  LogSink log_;
  std::string queue_;
  std::string resolved_;
  std::string parking_;

  std::mutex mutex_;  // guards all below; sending does not need it
  std::unique_ptr<kafka::Producer> producer_;
  std::unique_ptr<kafka::Admin> admin_;
  bool resolved_exists_ = false;
  bool parking_exists_ = false;
};

inline constexpr const char* drain_group = "forelock-drain";

}  // namespace forelock::drain
