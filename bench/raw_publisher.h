// The floor for the dead-letter queue: the same promise with nothing but SQLite and librdkafka. A letter is inserted
// and committed, sent by an idempotent producer, and deleted when it is confirmed. Letters that come together share a
// transaction, and deletions ride along. Nothing is serialised, parsed, checked or counted.
#pragma once

#include <librdkafka/rdkafka.h>
#include <sqlite3.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace forelock::bench {

// Ready to be stored and sent.
struct RawLetter {
  std::string id;
  std::string key;
  std::string record;
};

class RawPublisher {
 public:
  using Headers = std::vector<std::pair<std::string, std::string>>;

  // Without a file letters go straight to librdkafka. `headers` go with every letter.
  RawPublisher(const std::filesystem::path& file, const std::string& bootstrap, std::string topic, Headers headers);
  ~RawPublisher();
  RawPublisher(const RawPublisher&) = delete;
  RawPublisher& operator=(const RawPublisher&) = delete;

  // Makes a file that holds these letters.
  static void fill(const std::filesystem::path& file, const std::vector<RawLetter>& letters);

  // Returns when the letter is durable. Thread-safe.
  void accept(const RawLetter& letter);
  // Hands everything in the file to librdkafka.
  void forward();
  // Until everything that was handed over is confirmed, and deleted.
  void wait_until_empty();

 private:
  struct Insert {
    RawLetter letter;
    std::int64_t sequence = 0;
  };
  // A thread that waits for its insert.
  struct Waiting {
    Insert insert;
    bool done = false;
    std::condition_variable wake;
  };

  void write();
  void transact(std::vector<Insert>& inserts, const std::vector<std::int64_t>& deletions);
  void produce(const std::string& key, const std::string& record, std::int64_t sequence);
  void poll();
  static void on_delivery(rd_kafka_t* client, const rd_kafka_message_t* message, void* self);

  const std::string topic_;
  const Headers headers_;
  rd_kafka_t* client_ = nullptr;
  sqlite3* database_ = nullptr;
  sqlite3_stmt* insert_ = nullptr;
  sqlite3_stmt* delete_ = nullptr;
  std::mutex database_mutex_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Waiting*> waiting_;
  std::vector<std::int64_t> deletions_;
  std::uint64_t handed_over_ = 0;
  std::uint64_t gone_ = 0;
  bool stopping_ = false;
  std::atomic<bool> polling_{true};
  std::thread writer_;
  std::thread poller_;
};

}  // namespace forelock::bench
