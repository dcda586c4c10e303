// Reads a topic from one offset to another, without a consumer group's rebalancing; commits offsets on demand.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "forelock/client.h"
#include "forelock/settings.h"
#include "kafka/record.h"

namespace forelock::kafka {

struct PartitionRange {
  std::int32_t partition = 0;
  std::int64_t begin = 0;                 // the first offset that exists
  std::int64_t end = 0;                   // one behind the last, when asked
  std::optional<std::int64_t> committed;  // of our group, if it lies within
};

// Not thread-safe. Every method has its own deadline and throws Error(kafka_unavailable) or (kafka_rejected) with a
// hint; nothing waits for ever.
class Reader {
 public:
  // `group` is used for commits alone.
  Reader(const Settings& settings, std::string topic, std::string group, LogSink log = {});
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  // The partitions of the topic as they are now; nothing if the topic does not exist.
  std::optional<std::vector<PartitionRange>> ranges();

  // Visits [begin, end) of each range, in order within a partition, partitions interleaved; skips what compaction or
  // retention took away. The visitor returns whether to go on. \throws if no progress is made for `patience`.
  void read(const std::vector<PartitionRange>& ranges, const std::function<bool(const RecordView&)>& visitor,
            std::chrono::milliseconds patience = std::chrono::seconds(30));

  // Commits "everything before `offset` is done", synchronously.
  void commit(std::int32_t partition, std::int64_t offset);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace forelock::kafka
