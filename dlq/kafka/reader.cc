#include "kafka/reader.h"

#include <algorithm>
#include <map>
#include <utility>

#include "kafka/client_config.h"
#include "kafka/client_events.h"
#include "kafka/handles.h"
#include "kafka/kafka_error.h"
#include "kafka/topic_metadata.h"

namespace forelock::kafka {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::chrono::seconds call_patience(10);  // of each call but read()
constexpr milliseconds retry_pause(100);
constexpr milliseconds reader_poll_time(100);

PartitionList list_of(const std::string& topic, std::int32_t partitions, std::int64_t offset) {
  PartitionList list(rd_kafka_topic_partition_list_new(partitions));
  rd_kafka_topic_partition_list_add_range(list.get(), topic.c_str(), 0, partitions - 1);
  for (int index = 0; index < list->cnt; ++index) list->elems[index].offset = offset;
  return list;
}

// The first error of a single partition.
rd_kafka_resp_err_t error_in(const rd_kafka_topic_partition_list_t* list) {
  for (int index = 0; index < list->cnt; ++index) {
    if (list->elems[index].err != RD_KAFKA_RESP_ERR_NO_ERROR) return list->elems[index].err;
  }
  return RD_KAFKA_RESP_ERR_NO_ERROR;
}

// What is still to be read; empty when everything was.
class OpenRanges {
 public:
  explicit OpenRanges(const std::vector<PartitionRange>& ranges) {
    for (const PartitionRange& range : ranges) {
      if (range.begin < range.end) open_[range.partition] = range;
    }
  }

  bool empty() const { return open_.empty(); }
  // Whether the offset is to be visited.
  bool contains(std::int32_t partition, std::int64_t offset) const {
    const auto found = open_.find(partition);
    return found != open_.end() && offset >= found->second.begin && offset < found->second.end;
  }
  // Nothing before `offset` will come any more. \returns whether that finishes the range.
  bool reached(std::int32_t partition, std::int64_t offset) {
    const auto found = open_.find(partition);
    if (found == open_.end() || offset < found->second.end) return false;
    open_.erase(found);
    return true;
  }

  PartitionList positions(const std::string& topic) const {
    PartitionList list(rd_kafka_topic_partition_list_new(static_cast<int>(open_.size())));
    for (const auto& [partition, range] : open_) {
      rd_kafka_topic_partition_list_add(list.get(), topic.c_str(), partition)->offset = range.begin;
    }
    return list;
  }

 private:
  std::map<std::int32_t, PartitionRange> open_;
};

// Fetching goes on until the end of its scope.
class Assignment {
 public:
  Assignment(rd_kafka_t* client, const rd_kafka_topic_partition_list_t* partitions)
      : client_(client), error_(rd_kafka_assign(client, partitions)) {}
  ~Assignment() { rd_kafka_assign(client_, nullptr); }
  Assignment(const Assignment&) = delete;
  Assignment& operator=(const Assignment&) = delete;

  rd_kafka_resp_err_t error() const { return error_; }

 private:
  rd_kafka_t* client_;
  rd_kafka_resp_err_t error_;
};

RecordView view_of(const rd_kafka_message_t& message) {
  const auto text = [](const void* bytes, std::size_t size) {
    return bytes == nullptr ? std::string_view() : std::string_view(static_cast<const char*>(bytes), size);
  };
  return {message.partition, message.offset, text(message.key, message.key_len), text(message.payload, message.len),
          message.payload == nullptr};
}

}  // namespace

class Reader::Impl {
 public:
  Impl(const Settings& settings, std::string topic, const std::string& group, LogSink log)
      : topic_(std::move(topic)),
        config_(settings, Role::consumer, {{"group.id", group}}),
        events_(std::move(log), config_.mask()) {
    ConfHandle conf = config_.conf();
    events_.install(conf.get());
    client_ = config_.make(std::move(conf));
  }

  std::optional<std::vector<PartitionRange>> ranges() {
    const Clock::time_point deadline = Clock::now() + call_patience;
    const auto found = topic_metadata(client_.get(), context(), topic_, deadline);
    if (!found) return std::nullopt;
    const PartitionList begins = offsets(found->partitions, RD_KAFKA_OFFSET_BEGINNING, deadline);
    const PartitionList ends = offsets(found->partitions, RD_KAFKA_OFFSET_END, deadline);
    const PartitionList commits = committed(found->partitions, deadline);
    std::vector<PartitionRange> ranges;
    for (int index = 0; index < found->partitions; ++index) {
      PartitionRange range{index, begins->elems[index].offset, ends->elems[index].offset, std::nullopt};
      range.end = std::max(range.begin, range.end);  // retention may have gone on between the two questions
      const std::int64_t commit = commits->elems[index].offset;
      if (commit >= range.begin && commit <= range.end) range.committed = commit;
      ranges.push_back(range);
    }
    return ranges;
  }

  void read(const std::vector<PartitionRange>& ranges, const std::function<bool(const RecordView&)>& visitor,
            milliseconds patience) {
    const std::string what = "read topic " + topic_;
    OpenRanges open(ranges);
    if (open.empty()) return;
    const PartitionList positions = open.positions(topic_);
    const Assignment assignment(client_.get(), positions.get());
    if (assignment.error() != RD_KAFKA_RESP_ERR_NO_ERROR) throw_failure(context(), what, assignment.error());
    Clock::time_point deadline = Clock::now() + patience;
    while (!open.empty()) {
      const MessageHandle message(rd_kafka_consumer_poll(client_.get(), static_cast<int>(reader_poll_time.count())));
      if (message == nullptr || !advanced(*message, what)) {
        rd_kafka_poll(client_.get(), 0);
        throw_if_refused(context(), what);
        if (Clock::now() >= deadline) {
          throw_unavailable(context(), what, "nothing came for " + std::to_string(patience.count()) + " ms");
        }
        continue;
      }
      const bool record = message->err == RD_KAFKA_RESP_ERR_NO_ERROR;
      if (record && open.contains(message->partition, message->offset) && !visitor(view_of(*message))) return;
      // The offset of an end is that of the record which would come next.
      if (open.reached(message->partition, message->offset + (record ? 1 : 0))) stop_fetching(message->partition);
      deadline = Clock::now() + patience;
    }
  }

  void commit(std::int32_t partition, std::int64_t offset) {
    const std::string what =
        "commit offset " + std::to_string(offset) + " of topic " + topic_ + ", partition " + std::to_string(partition);
    const Clock::time_point deadline = Clock::now() + call_patience;
    const PartitionList offsets(rd_kafka_topic_partition_list_new(1));
    rd_kafka_topic_partition_list_add(offsets.get(), topic_.c_str(), partition)->offset = offset;
    repeat(what, deadline, [&] { return commit_once(offsets.get(), deadline); });
  }

 private:
  ClientContext context() const { return {config_, events_}; }

  // Whether the event says that the broker serves the partition: a record, or its end. \throws Error for what will not
  // pass.
  bool advanced(const rd_kafka_message_t& message, const std::string& what) const {
    if (message.err == RD_KAFKA_RESP_ERR_NO_ERROR || message.err == RD_KAFKA_RESP_ERR__PARTITION_EOF) return true;
    if (is_permanent(message.err)) throw_failure(context(), what, message.err, rd_kafka_message_errstr(&message));
    return false;
  }

  void stop_fetching(std::int32_t partition) {
    const PartitionList list(rd_kafka_topic_partition_list_new(1));
    rd_kafka_topic_partition_list_add(list.get(), topic_.c_str(), partition);
    const ErrorHandle ignored(rd_kafka_incremental_unassign(client_.get(), list.get()));
  }

  // By the question for times, which takes the protocol's two special times as well, keeps its deadline, and asks for
  // all partitions at once: rd_kafka_query_watermark_offsets() may wait for ever.
  PartitionList offsets(std::int32_t partitions, std::int64_t time, Clock::time_point deadline) {
    PartitionList list;
    repeat("ask for the offsets of topic " + topic_, deadline, [&] {
      list = list_of(topic_, partitions, time);
      const auto error = rd_kafka_offsets_for_times(client_.get(), list.get(), attempt_time(deadline));
      return error != RD_KAFKA_RESP_ERR_NO_ERROR ? error : error_in(list.get());
    });
    return list;
  }

  PartitionList committed(std::int32_t partitions, Clock::time_point deadline) {
    PartitionList list;
    repeat("ask for the committed offsets of topic " + topic_, deadline, [&] {
      list = list_of(topic_, partitions, RD_KAFKA_OFFSET_INVALID);
      const auto error = rd_kafka_committed(client_.get(), list.get(), attempt_time(deadline));
      return error != RD_KAFKA_RESP_ERR_NO_ERROR ? error : error_in(list.get());
    });
    return list;
  }

  // On a queue of its own, for the sake of the deadline: rd_kafka_commit() has none.
  rd_kafka_resp_err_t commit_once(const rd_kafka_topic_partition_list_t* offsets, Clock::time_point deadline) {
    const QueueHandle queue(rd_kafka_queue_new(client_.get()));
    const auto error = rd_kafka_commit_queue(client_.get(), offsets, queue.get(), nullptr, nullptr);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return error;
    const EventHandle event(rd_kafka_queue_poll(queue.get(), attempt_time(deadline)));
    if (event == nullptr) return RD_KAFKA_RESP_ERR__TIMED_OUT;
    if (rd_kafka_event_error(event.get()) != RD_KAFKA_RESP_ERR_NO_ERROR) return rd_kafka_event_error(event.get());
    const rd_kafka_topic_partition_list_t* const results = rd_kafka_event_topic_partition_list(event.get());
    return results == nullptr ? RD_KAFKA_RESP_ERR_NO_ERROR : error_in(results);
  }

  static int attempt_time(Clock::time_point deadline) {
    return std::min(milliseconds_until(deadline), static_cast<int>(milliseconds(call_patience).count()) / 3);
  }

  // Until it works; a broker that has just started, or a new leader, refuses for a while.
  template <class Attempt>
  void repeat(const std::string& what, Clock::time_point deadline, Attempt attempt) {
    for (;;) {
      const rd_kafka_resp_err_t error = attempt();
      if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return;
      // Waits a little, and serves what the client has to say. Not for records, which may be on their way to read().
      rd_kafka_poll(client_.get(), static_cast<int>(retry_pause.count()));
      throw_if_refused(context(), what);
      if (is_permanent(error) || Clock::now() >= deadline) throw_failure(context(), what, error);
    }
  }

  const std::string topic_;
  ClientConfig config_;
  ClientEvents events_;
  ClientHandle client_;
};

Reader::Reader(const Settings& settings, std::string topic, std::string group, LogSink log)
    : impl_(std::make_unique<Impl>(settings, std::move(topic), group, std::move(log))) {}

Reader::~Reader() = default;

std::optional<std::vector<PartitionRange>> Reader::ranges() {
  return impl_->ranges();
}

void Reader::read(const std::vector<PartitionRange>& ranges, const std::function<bool(const RecordView&)>& visitor,
                  std::chrono::milliseconds patience) {
  impl_->read(ranges, visitor, patience);
}

void Reader::commit(std::int32_t partition, std::int64_t offset) {
  impl_->commit(partition, offset);
}

}  // namespace forelock::kafka
