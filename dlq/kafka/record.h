// Records of a Kafka topic.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace forelock::kafka {

// To be sent. The partition follows from the key as Java's clients choose it (murmur2).
struct Record {
  std::string topic;
  std::string key;
  std::optional<std::string> value;  // nothing: a tombstone
  std::vector<std::pair<std::string, std::string>> headers;
};

// Where a record stands in its topic.
struct RecordPlace {
  std::int32_t partition = -1;
  std::int64_t offset = -1;

  bool operator==(const RecordPlace&) const = default;
};

// The outcome of a record that was sent.
struct Delivery {
  bool delivered = false;
  bool permanent = false;    // the broker will refuse this very record again: too large, not authorized
  bool denied = false;       // of these: not authorized
  bool topic_wide = false;   // any other record for its topic fares the same
  std::string message = {};  // why not, for people
  std::int32_t partition = -1;
  std::int64_t offset = -1;
};

// Read from a topic; the views are valid during the visit.
struct RecordView {
  std::int32_t partition = 0;
  std::int64_t offset = 0;
  std::string_view key;
  std::string_view value;
  bool tombstone = false;
};

}  // namespace forelock::kafka
