// Topics: their existence, creation and settings, and the deletion of a prefix of their records.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "forelock/client.h"
#include "forelock/settings.h"

namespace forelock::kafka {

struct TopicSpec {
  std::string name;
  std::int32_t partitions = 1;
  std::int32_t replication = 1;  // -1: the broker's default
  std::map<std::string, std::string> config;
};

// Not thread-safe. Throws Error(kafka_unavailable) or (kafka_rejected); looks at the result of each topic and
// partition.
class Admin {
 public:
  explicit Admin(const Settings& settings, LogSink log = {});
  ~Admin();
  Admin(const Admin&) = delete;
  Admin& operator=(const Admin&) = delete;

  // The number of partitions; nothing if the topic does not exist.
  std::optional<std::int32_t> partitions(const std::string& topic);
  // Waits until the topic can be used. \returns false if it existed already.
  bool create(const TopicSpec& spec);
  // All settings of the topic as they are in force, of the broker's default or its own.
  std::map<std::string, std::string> settings(const std::string& topic);
  // Changes these settings, and no others. Not safe next to others that change settings of this topic.
  void alter(const std::string& topic, const std::map<std::string, std::string>& changes);
  // Deletes the records of this partition before `offset`, physically.
  void delete_records(const std::string& topic, std::int32_t partition, std::int64_t offset);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace forelock::kafka
