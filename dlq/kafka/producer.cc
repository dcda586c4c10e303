#include "kafka/producer.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "forelock/error.h"
#include "kafka/client_config.h"
#include "kafka/client_events.h"
#include "kafka/handles.h"
#include "kafka/kafka_error.h"
#include "kafka/pending_deliveries.h"
#include "kafka/topic_metadata.h"
#include "records/start_thread.h"

namespace forelock::kafka {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds poll_time(100);
constexpr milliseconds parting_time(500);             // for what is under way when a producer is destroyed
constexpr milliseconds purge_time(5000);              // for the library to give back what it has been told to drop
constexpr milliseconds first_replacement_pause(100);  // doubles while nothing is delivered in between
constexpr milliseconds longest_replacement_pause(10000);
constexpr milliseconds resend_pause(100);
constexpr milliseconds longest_wait = std::chrono::hours(24);  // longer ones would overflow the clock

rd_kafka_vu_t topic_field(const std::string& topic) {
  rd_kafka_vu_t field{};
  field.vtype = RD_KAFKA_VTYPE_TOPIC;
  field.u.cstr = topic.c_str();
  return field;
}

rd_kafka_vu_t bytes_field(rd_kafka_vtype_t type, const std::string* bytes) {
  rd_kafka_vu_t field{};
  field.vtype = type;
  field.u.mem.ptr = bytes == nullptr ? nullptr : const_cast<char*>(bytes->data());  // copied, never written to
  field.u.mem.size = bytes == nullptr ? 0 : bytes->size();
  return field;
}

HeadersHandle headers_of(const Record& record) {
  HeadersHandle headers(rd_kafka_headers_new(record.headers.size()));
  for (const auto& [name, value] : record.headers) {
    rd_kafka_header_add(headers.get(), name.data(), static_cast<ssize_t>(name.size()), value.data(),
                        static_cast<ssize_t>(value.size()));
  }
  return headers;
}

std::vector<rd_kafka_vu_t> fields_of(const Record& record, rd_kafka_headers_t* headers, PendingDeliveries::Id id) {
  std::vector<rd_kafka_vu_t> fields = {topic_field(record.topic), bytes_field(RD_KAFKA_VTYPE_KEY, &record.key),
                                       bytes_field(RD_KAFKA_VTYPE_VALUE, record.value ? &*record.value : nullptr)};
  rd_kafka_vu_t flags{};
  flags.vtype = RD_KAFKA_VTYPE_MSGFLAGS;
  flags.u.i = RD_KAFKA_MSG_F_COPY;
  fields.push_back(flags);
  rd_kafka_vu_t opaque{};
  opaque.vtype = RD_KAFKA_VTYPE_OPAQUE;
  opaque.u.ptr = reinterpret_cast<void*>(static_cast<std::uintptr_t>(id));
  fields.push_back(opaque);
  rd_kafka_vu_t all_headers{};
  all_headers.vtype = RD_KAFKA_VTYPE_HEADERS;
  all_headers.u.headers = headers;
  fields.push_back(all_headers);
  return fields;
}

Delivery larger_than_the_queue(const std::string& topic, std::size_t size) {
  return {.permanent = true,
          .message = "topic " + topic + ": its " + std::to_string(size) +
                     " bytes are more than the client's queue holds; raise kafka.queue.buffering.max.kbytes"};
}

}  // namespace

class Producer::Impl {
 public:
  Impl(const Settings& settings, LogSink log, Expiry expiry)
      : config_(settings, Role::producer),
        expiry_(expiry),
        events_(std::move(log), config_.mask()),
        client_(make_client()) {
    thread_ = records::start_thread("forelock-kafka", [this] { run(); });
  }

  ~Impl() {
    pending_.wait_until_none(parting_time);
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      wake_thread();
    }
    changed_.notify_all();
    thread_.join();
  }

  bool try_send(const Record& record, Callback callback);
  Delivery send(const Record& record, milliseconds timeout);
  bool flush(milliseconds timeout) { return pending_.wait_until_none(std::min(timeout, longest_wait)); }
  std::string last_problem() const { return events_.last_problem(); }
  milliseconds message_timeout() const {
    std::array<char, 32> value{};
    std::size_t size = value.size();
    const ConfHandle conf = config_.conf();
    rd_kafka_conf_get(conf.get(), "message.timeout.ms", value.data(), &size);
    return milliseconds(std::atoll(value.data()));
  }

 private:
  ClientHandle make_client() {
    ConfHandle conf = config_.conf();
    if (expiry_ == Expiry::none) rd_kafka_conf_set(conf.get(), "message.timeout.ms", "0", nullptr, 0);
    events_.install(conf.get(), [this](const rd_kafka_message_t& message) { on_delivery(message); });
    return config_.make(std::move(conf));
  }

  // The thread's.
  void run();
  void on_delivery(const rd_kafka_message_t& message);
  void finish_refused();
  void replace_client(const std::string& reason);
  void end_client(ClientHandle client, std::string reason);

  Delivery failed(rd_kafka_resp_err_t error, const char* reason, const std::string& topic, std::size_t size) const;
  void wake_thread();
  bool wait_to_stop(milliseconds time);

  ClientConfig config_;
  const Expiry expiry_;
  ClientEvents events_;
  PendingDeliveries pending_;

  std::mutex mutex_;
  std::condition_variable changed_;
  ClientHandle client_;                        // changed by the thread alone; null while it is being replaced
  std::map<std::string, TopicHandle> topics_;  // of client_
  std::optional<std::pair<PendingDeliveries::Id, Delivery>> refused_;  // taken back by the thread alone
  bool stopping_ = false;

  milliseconds replacement_pause_{0};  // the thread's
  std::string parting_reason_;         // the thread's
  std::thread thread_;
};

bool Producer::Impl::try_send(const Record& record, Callback callback) {
  const std::lock_guard lock(mutex_);
  if (client_ == nullptr || stopping_ || refused_) return false;
  // Asks for the topic's partitions at once; left to itself librdkafka asks with the next tick of a timer, up to a
  // second later.
  TopicHandle& topic = topics_[record.topic];
  if (topic == nullptr) topic.reset(rd_kafka_topic_new(client_.get(), record.topic.c_str(), nullptr));
  const PendingDeliveries::Id id = pending_.add(std::move(callback));
  // Ours as long as the record is not taken. Headers given one by one would be freed twice by librdkafka when the topic
  // is unknown (https://github.com/confluentinc/librdkafka/issues/4627).
  HeadersHandle headers = headers_of(record);
  const std::vector<rd_kafka_vu_t> fields = fields_of(record, headers.get(), id);
  const auto produce = [&] { return ErrorHandle(rd_kafka_produceva(client_.get(), fields.data(), fields.size())); };
  ErrorHandle error = produce();
  // The queue may have become empty a moment ago. Where it is full although it was empty, there will never be room.
  const bool was_empty =
      rd_kafka_error_code(error.get()) == RD_KAFKA_RESP_ERR__QUEUE_FULL && rd_kafka_outq_len(client_.get()) == 0;
  if (was_empty) error = produce();
  if (error == nullptr) {
    static_cast<void>(headers.release());
    return true;
  }
  const rd_kafka_resp_err_t code = rd_kafka_error_code(error.get());
  const bool too_large = code == RD_KAFKA_RESP_ERR__QUEUE_FULL && was_empty;
  if ((code == RD_KAFKA_RESP_ERR__QUEUE_FULL && !too_large) || code == RD_KAFKA_RESP_ERR__FATAL ||
      code == RD_KAFKA_RESP_ERR__STATE) {
    pending_.withdraw(id);
    return false;
  }
  // It is about this record: its callback learns it, on the thread where callbacks run.
  const std::size_t size = record.key.size() + (record.value ? record.value->size() : 0);
  refused_.emplace(id, too_large ? larger_than_the_queue(record.topic, size)
                                 : failed(code, rd_kafka_error_string(error.get()), record.topic, size));
  wake_thread();
  return true;
}

Delivery Producer::Impl::send(const Record& record, milliseconds timeout) {
  struct Waiting {
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<Delivery> delivery;
  };
  const Clock::time_point deadline = Clock::now() + std::min(timeout, longest_wait);
  Delivery last{};
  do {
    const auto waiting = std::make_shared<Waiting>();  // shared: the callback may come after the deadline
    const bool taken = try_send(record, [waiting](const Delivery& delivery) {
      const std::lock_guard lock(waiting->mutex);
      waiting->delivery = delivery;
      waiting->changed.notify_all();
    });
    if (taken) {
      std::unique_lock lock(waiting->mutex);
      if (!waiting->changed.wait_until(lock, deadline, [&waiting] { return waiting->delivery.has_value(); })) {
        last.message = "not confirmed within " + std::to_string(timeout.count()) + " ms" + events_.and_last_problem();
        return last;
      }
      last = *waiting->delivery;
      if (last.delivered || last.permanent) return last;
    } else {
      last.message = "librdkafka takes no records at the moment" + events_.and_last_problem();
    }
  } while (!wait_to_stop(std::min(resend_pause, milliseconds(milliseconds_until(deadline)))) &&
           Clock::now() < deadline);
  return last;
}

void Producer::Impl::run() {
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) break;
    }
    rd_kafka_poll(client_.get(), static_cast<int>(poll_time.count()));
    finish_refused();
    if (const std::optional<std::string> reason = events_.fatal()) replace_client(*reason);
  }
  finish_refused();
  ClientHandle client;
  {
    const std::lock_guard lock(mutex_);
    topics_.clear();
    client = std::move(client_);
  }
  end_client(std::move(client), "the producer was closed");
}

void Producer::Impl::on_delivery(const rd_kafka_message_t& message) {
  const auto id = static_cast<PendingDeliveries::Id>(reinterpret_cast<std::uintptr_t>(message._private));
  if (message.err == RD_KAFKA_RESP_ERR_NO_ERROR) {
    replacement_pause_ = milliseconds(0);
    pending_.finish(id, {.delivered = true, .partition = message.partition, .offset = message.offset});
    return;
  }
  const bool dropped = message.err == RD_KAFKA_RESP_ERR__PURGE_QUEUE ||
                       message.err == RD_KAFKA_RESP_ERR__PURGE_INFLIGHT || message.err == RD_KAFKA_RESP_ERR__FATAL;
  if (dropped && !parting_reason_.empty()) {
    pending_.finish(id, {.message = parting_reason_});
  } else {
    pending_.finish(id, failed(message.err, nullptr, rd_kafka_topic_name(message.rkt), message.len + message.key_len));
  }
}

// try_send() takes nothing before the record is told of, so that there is one at most.
void Producer::Impl::finish_refused() {
  std::unique_lock lock(mutex_);
  if (!refused_) return;
  lock.unlock();
  pending_.finish(refused_->first, refused_->second);
  lock.lock();
  refused_.reset();
}

void Producer::Impl::replace_client(const std::string& reason) {
  events_.log("error", "the producer cannot continue and is replaced: " + reason);
  ClientHandle client;
  {
    const std::lock_guard lock(mutex_);
    topics_.clear();
    client = std::move(client_);
  }
  end_client(std::move(client), reason);
  events_.forget();
  while (!wait_to_stop(replacement_pause_)) {
    replacement_pause_ = std::clamp(replacement_pause_ * 2, first_replacement_pause, longest_replacement_pause);
    try {
      ClientHandle next = make_client();
      const std::lock_guard lock(mutex_);
      client_ = std::move(next);
      return;
    } catch (const Error& error) {
      events_.log("error", error.what());
    }
  }
}

// Every callback has been called when it returns.
void Producer::Impl::end_client(ClientHandle client, std::string reason) {
  parting_reason_ = std::move(reason);
  if (client != nullptr) {
    rd_kafka_purge(client.get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    const Clock::time_point deadline = Clock::now() + purge_time;
    while (rd_kafka_outq_len(client.get()) > 0 && Clock::now() < deadline) rd_kafka_poll(client.get(), 10);
    client.reset();
  }
  finish_refused();
  pending_.finish_all({.message = parting_reason_});
  parting_reason_.clear();
}

Delivery Producer::Impl::failed(rd_kafka_resp_err_t error, const char* reason, const std::string& topic,
                                std::size_t size) const {
  std::string message = reason == nullptr ? rd_kafka_err2str(error) : reason;
  if (error == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE) {
    message += ": " + std::to_string(size) + " bytes; raise max.message.bytes of topic " + topic;
  } else if (!refuses_record(error)) {
    message += events_.and_last_problem();
  }
  return {.permanent = refuses_record(error),
          .denied = denies(error),
          .topic_wide = concerns_topic(error),
          .message = "topic " + topic + ": " + config_.mask().applied_to(message)};
}

// With the mutex held.
void Producer::Impl::wake_thread() {
  if (client_ == nullptr) return;
  const QueueHandle queue(rd_kafka_queue_get_main(client_.get()));
  rd_kafka_queue_yield(queue.get());
}

bool Producer::Impl::wait_to_stop(milliseconds time) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, time, [this] { return stopping_; });
}

Producer::Producer(const Settings& settings, LogSink log, Expiry expiry)
    : impl_(std::make_unique<Impl>(settings, std::move(log), expiry)) {}

Producer::~Producer() = default;

bool Producer::try_send(const Record& record, Callback callback) {
  return impl_->try_send(record, std::move(callback));
}

Delivery Producer::send(const Record& record, milliseconds timeout) {
  return impl_->send(record, timeout);
}

bool Producer::flush(milliseconds timeout) {
  return impl_->flush(timeout);
}

milliseconds Producer::message_timeout() const {
  return impl_->message_timeout();
}

std::string Producer::last_problem() const {
  return impl_->last_problem();
}

}  // namespace forelock::kafka
