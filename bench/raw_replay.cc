#include "bench/raw_replay.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "kafka/handles.h"

namespace forelock::bench {
namespace {

using kafka::ClientHandle;
using kafka::MessageHandle;
using kafka::PartitionList;

void check(rd_kafka_resp_err_t error) {
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) throw std::runtime_error(rd_kafka_err2str(error));
}

rd_kafka_conf_t* conf_of(const std::vector<std::pair<const char*, std::string>>& values) {
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  char reason[512];
  for (const auto& [key, value] : values) {
    if (rd_kafka_conf_set(conf, key, value.c_str(), reason, sizeof reason) != RD_KAFKA_CONF_OK) {
      throw std::runtime_error(reason);
    }
  }
  return conf;
}

ClientHandle make(rd_kafka_type_t type, rd_kafka_conf_t* conf) {
  char reason[512];
  ClientHandle client(rd_kafka_new(type, conf, reason, sizeof reason));
  if (!client) throw std::runtime_error(reason);
  return client;
}

// Writes from many threads, each of which waits for its own.
class Writer {
 public:
  Writer(const std::string& bootstrap, std::string topic) : topic_(std::move(topic)) {
    rd_kafka_conf_t* conf =
        conf_of({{"bootstrap.servers", bootstrap}, {"enable.idempotence", "true"}, {"acks", "all"}});
    rd_kafka_conf_set_dr_msg_cb(conf, [](rd_kafka_t*, const rd_kafka_message_t* message, void*) {
      auto& waiting = *static_cast<Waiting*>(message->_private);
      const std::lock_guard guard(waiting.mutex);
      waiting.error = message->err;
      waiting.done = true;
      waiting.wake.notify_one();
    });
    client_ = make(RD_KAFKA_PRODUCER, conf);
    poller_ = std::thread([this] {
      while (polling_) rd_kafka_poll(client_.get(), 100);
    });
  }
  ~Writer() {
    polling_ = false;
    poller_.join();
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void write(const std::string& key, const std::string& value) {
    Waiting waiting;
    check(rd_kafka_producev(client_.get(), RD_KAFKA_V_TOPIC(topic_.c_str()), RD_KAFKA_V_KEY(key.data(), key.size()),
                            RD_KAFKA_V_VALUE(const_cast<char*>(value.data()), value.size()),
                            RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_OPAQUE(&waiting), RD_KAFKA_V_END));
    std::unique_lock guard(waiting.mutex);
    waiting.wake.wait(guard, [&] { return waiting.done; });
    check(waiting.error);
  }

 private:
  struct Waiting {
    std::mutex mutex;
    std::condition_variable wake;
    bool done = false;
    rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR_NO_ERROR;
  };

  const std::string topic_;
  ClientHandle client_;
  std::atomic<bool> polling_{true};
  std::thread poller_;
};

// From the reader to the threads.
class Line {
 public:
  void add(std::string id) {
    const std::lock_guard guard(mutex_);
    ids_.push_back(std::move(id));
    changed_.notify_one();
  }
  void end() {
    const std::lock_guard guard(mutex_);
    ended_ = true;
    changed_.notify_all();
  }
  // \returns false at the end.
  bool take(std::string& id) {
    std::unique_lock guard(mutex_);
    changed_.wait(guard, [this] { return ended_ || !ids_.empty(); });
    if (ids_.empty()) return false;
    id = std::move(ids_.front());
    ids_.pop_front();
    return true;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> ids_;
  bool ended_ = false;
};

}  // namespace

void run(const RawReplay& replay) {
  const ClientHandle consumer = make(
      RD_KAFKA_CONSUMER,
      conf_of({{"bootstrap.servers", replay.bootstrap}, {"group.id", "raw-drain"}, {"enable.auto.commit", "false"}}));
  rd_kafka_poll_set_consumer(consumer.get());
  const PartitionList positions(rd_kafka_topic_partition_list_new(replay.partitions));
  for (int i = 0; i < replay.partitions; ++i) {
    rd_kafka_topic_partition_list_add(positions.get(), replay.topic.c_str(), i)->offset = RD_KAFKA_OFFSET_BEGINNING;
  }
  check(rd_kafka_assign(consumer.get(), positions.get()));

  Writer writer(replay.bootstrap, replay.resolved);
  Line line;
  std::vector<std::thread> threads;
  for (int i = 0; i < replay.threads; ++i) {
    threads.emplace_back([&] {
      for (std::string id; line.take(id);) {
        writer.write(id, "try 1");
        writer.write(id, "replayed");
      }
    });
  }
  for (int read = 0; read < replay.letters;) {
    const MessageHandle message(rd_kafka_consumer_poll(consumer.get(), 100));
    if (!message) continue;
    check(message->err);
    positions->elems[message->partition].offset = message->offset + 1;
    line.add(std::to_string(message->partition) + "/" + std::to_string(message->offset));
    ++read;
  }
  line.end();
  for (std::thread& thread : threads) thread.join();
  check(rd_kafka_commit(consumer.get(), positions.get(), 0));
}

}  // namespace forelock::bench
