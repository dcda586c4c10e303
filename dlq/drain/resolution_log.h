// The resolved topic: the letters of a topic that are resolved, and the numbers of tries of the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "drain/hashed_key.h"
#include "drain/resolution_state.h"
#include "drain/resolution_table.h"
#include "drain/store_topics.h"
#include "forelock/client.h"
#include "forelock/settings.h"
#include "kafka/producer.h"
#include "kafka/reader.h"
#include "kafka/record.h"

namespace forelock::drain {

// A compacted topic: key = resolution_key() (or "position:…" for what is no letter), value = to_text(ResolutionState).
// Throws Error(kafka_unavailable) or (kafka_rejected).
//
// Of the records of a key, those count whose drainer has the highest token; of these, the last. Compaction knows
// nothing of tokens and keeps the last of all: so what a late drainer has written behind the one that counts must be
// written over before compaction comes, which it does not within min.compaction.lag.ms (overruled()).
//
// Loading and forget() are not thread-safe; the others are, with each other and with forget().
class ResolutionLog {
 public:
  // `topics` must outlive it.
  ResolutionLog(const Settings& settings, StoreTopics& topics, LogSink log);

  // Reads it anew. \returns false, and remembers what it did before, if it holds more keys than `limit`.
  bool load(std::size_t limit);
  // Reads what it says of these keys, and remembers nothing else.
  void load_only(ResolutionTable keys);

  ResolutionState state_of(HashedKey key) const;
  // See ResolutionTable.
  bool first_sight(HashedKey key);

  // The highest token among what was read last.
  std::uint64_t highest_writer() const { return highest_writer_; }
  // Keys whose last record does not count, at most max_overruled of them.
  const std::set<std::string>& overruled() const { return overruled_; }
  static constexpr std::size_t max_overruled = 10'000;

  // Durable when it returns; remembered when it is. `put_back`: the letter stands there from now on; without it, a
  // letter that stays open stays where it is.
  void write(const std::string& key, const ResolutionState& state, std::optional<kafka::RecordPlace> put_back = {});
  // Where the copy of an open letter stands that was put back last; nothing if none was.
  std::optional<kafka::RecordPlace> put_back_at(HashedKey key) const;

  // Deletes what it knows of keys that are not in `remaining`. Best effort: what is left over is deleted next time.
  void forget(ResolutionTable remaining);

 private:
  void read(const std::function<bool(const kafka::RecordView&)>& visitor);
  using Places = std::unordered_map<HashedKey, kafka::RecordPlace, HashOfKey>;

  // Puts what it says of each key that is wanted into the table. \returns whether all of it fits.
  bool read_states(ResolutionTable& table, Places& put_back, const std::function<bool(HashedKey)>& wanted);
  void remember(ResolutionTable table, Places put_back);
  static void note(Places& places, HashedKey key, const ResolutionState& state,
                   std::optional<kafka::RecordPlace> put_back);

  StoreTopics& topics_;
  LogSink log_;
  kafka::Reader reader_;
  std::uint64_t highest_writer_ = 0;
  std::set<std::string> overruled_;
  mutable std::mutex mutex_;
  ResolutionTable table_;
  Places put_back_;  // of open letters alone
};

}  // namespace forelock::drain
