#include "drain/resolution_log.h"

#include <atomic>
#include <utility>

#include "drain/drain_group.h"
#include "forelock/error.h"

namespace forelock::drain {

ResolutionLog::ResolutionLog(const Settings& settings, StoreTopics& topics, LogSink log)
    : topics_(topics), log_(std::move(log)), reader_(settings, topics.resolved(), drain_group, log_) {}

bool ResolutionLog::load(std::size_t limit) {
  ResolutionTable table(limit);
  bool fits = true;
  read_states([&](HashedKey key, const ResolutionState& state) { return fits = table.put(key, state); });
  if (fits) remember(std::move(table));
  return fits;
}

void ResolutionLog::load_only(ResolutionTable keys) {
  read_states([&](HashedKey key, const ResolutionState& state) {
    if (keys.contains(key)) keys.put(key, state);
    return true;
  });
  remember(std::move(keys));
}

ResolutionState ResolutionLog::state_of(HashedKey key) const {
  const std::lock_guard hold(mutex_);
  return table_.state_of(key);
}

bool ResolutionLog::first_sight(HashedKey key, std::uint32_t replay_count) {
  const std::lock_guard hold(mutex_);
  return table_.first_sight(key, replay_count);
}

void ResolutionLog::write(const std::string& id, const ResolutionState& state) {
  topics_.write_resolved(id, to_text(state));
  const std::lock_guard hold(mutex_);
  table_.put(hash_key(id), state);
}

void ResolutionLog::forget(ResolutionTable remaining) {
  // Shared with callbacks that may come after an exception.
  const auto failures = std::make_shared<std::atomic<std::uint64_t>>(0);
  read([&](const kafka::RecordView& record) {
    const HashedKey key = hash_key(record.key);
    if (record.tombstone || remaining.contains(key)) return true;
    remaining.put(key, {});  // one tombstone is enough
    topics_.delete_resolved_key(std::string(record.key), [failures] { ++*failures; });
    return true;
  });
  topics_.flush();
  if (*failures > 0 && log_) {
    log_("warning", "topic " + topics_.resolved() + ": " + std::to_string(*failures) + " ids could not be deleted");
  }
}

void ResolutionLog::read_states(const std::function<bool(HashedKey, const ResolutionState&)>& visitor) {
  std::uint64_t unknown = 0;
  read([&](const kafka::RecordView& record) {
    // A tombstone says no more than that nothing is known.
    const auto state = record.tombstone ? ResolutionState{} : parse_resolution(record.value);
    if (state) return visitor(hash_key(record.key), *state);
    ++unknown;
    return true;
  });
  if (unknown > 0 && log_) {
    log_("warning", "topic " + topics_.resolved() + ": " + std::to_string(unknown) +
                        " records are passed over; something newer may have written them");
  }
}

void ResolutionLog::remember(ResolutionTable table) {
  const std::lock_guard hold(mutex_);
  table_ = std::move(table);
}

void ResolutionLog::read(const std::function<bool(const kafka::RecordView&)>& visitor) {
  if (const auto ranges = reader_.ranges()) reader_.read(*ranges, visitor);
}

}  // namespace forelock::drain
