// The resolved topic: which letters of a topic are done with, and how often the others have been tried.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "drain/hashed_key.h"
#include "drain/resolution_state.h"
#include "drain/resolution_table.h"
#include "drain/store_topics.h"
#include "forelock/client.h"
#include "forelock/settings.h"
#include "kafka/producer.h"
#include "kafka/reader.h"

namespace forelock::drain {

// A compacted topic: key = the letter's id (or "position:…" for what is no letter), value = to_text(ResolutionState).
// Throws Error(kafka_unavailable) or (kafka_rejected).
//
// Loading and forget() are not thread-safe; the others are, with each other and with forget().
class ResolutionLog {
 public:
  // `topics` must outlive it.
  ResolutionLog(const Settings& settings, StoreTopics& topics, LogSink log);

  // Reads it anew. \returns false, and remembers what it did before, if it holds more ids than `limit`.
  bool load(std::size_t limit);
  // Reads what it says of these keys, and remembers nothing else.
  void load_only(ResolutionTable keys);

  ResolutionState state_of(HashedKey key) const;
  // See ResolutionTable.
  bool first_sight(HashedKey key, std::uint32_t replay_count);

  // Durable when it returns.
  void write(const std::string& id, const ResolutionState& state);

  // Deletes what it knows of ids that are not in `remaining`. Best effort: what is left over is deleted next time.
  void forget(ResolutionTable remaining);

 private:
  void read(const std::function<bool(const kafka::RecordView&)>& visitor);
  // Reads the state of each record's key. The visitor returns whether to go on.
  void read_states(const std::function<bool(HashedKey, const ResolutionState&)>& visitor);
  void remember(ResolutionTable table);

  StoreTopics& topics_;
  LogSink log_;
  kafka::Reader reader_;
  mutable std::mutex mutex_;
  ResolutionTable table_;
};

}  // namespace forelock::drain
