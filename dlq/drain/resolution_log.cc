#include "drain/resolution_log.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/counted.h"
#include "drain/drain_group.h"
#include "forelock/error.h"

namespace forelock::drain {

ResolutionLog::ResolutionLog(const Settings& settings, StoreTopics& topics, LogSink log)
    : topics_(topics), log_(std::move(log)), reader_(settings, topics.resolved(), drain_group, log_) {}

bool ResolutionLog::load(std::size_t limit) {
  ResolutionTable table(limit);
  const bool fits = read_states(table, [](HashedKey) { return true; });
  if (fits) remember(std::move(table));
  return fits;
}

void ResolutionLog::load_only(ResolutionTable keys) {
  read_states(keys, [&keys](HashedKey key) { return keys.contains(key); });
  remember(std::move(keys));
}

ResolutionState ResolutionLog::state_of(HashedKey key) const {
  const std::lock_guard hold(mutex_);
  return table_.state_of(key);
}

bool ResolutionLog::first_sight(HashedKey key) {
  const std::lock_guard hold(mutex_);
  return table_.first_sight(key);
}

void ResolutionLog::write(const std::string& key, const ResolutionState& state) {
  topics_.write_resolved(key, to_text(state));
  const std::lock_guard hold(mutex_);
  table_.put(hash_key(key), state);
}

void ResolutionLog::forget(ResolutionTable remaining) {
  // Shared with callbacks that may come after an exception.
  const auto failures = std::make_shared<std::atomic<std::uint64_t>>(0);
  read([&](const kafka::RecordView& record) {
    const HashedKey key = hash_key(record.key);
    if (record.tombstone || remaining.contains(key)) return true;
    remaining.reset(key);  // one tombstone is enough
    topics_.delete_resolved_key(std::string(record.key), [failures] { ++*failures; });
    return true;
  });
  topics_.flush();
  if (*failures > 0 && log_) {
    log_("warning", "topic " + topics_.resolved() + ": " + base::counted(*failures, "key") + " could not be deleted");
  }
}

bool ResolutionLog::read_states(ResolutionTable& table, const std::function<bool(HashedKey)>& wanted) {
  using Put = ResolutionTable::Put;
  std::uint64_t unknown = 0;
  bool fits = true;
  highest_writer_ = 0;
  overruled_.clear();
  read([&](const kafka::RecordView& record) {
    const HashedKey key = hash_key(record.key);
    // A tombstone says no more than that nothing is known.
    const auto state = record.tombstone ? ResolutionState{} : parse_resolution(record.value);
    if (!state) {
      ++unknown;
      return true;
    }
    highest_writer_ = std::max(highest_writer_, state->writer);
    if (!wanted(key)) return true;
    const Put put = record.tombstone ? table.reset(key) : table.put(key, *state);
    if (put == Put::done) {
      overruled_.erase(std::string(record.key));
    } else if (put == Put::overruled && overruled_.size() < max_overruled) {
      overruled_.emplace(record.key);
    }
    return fits = put != Put::full;
  });
  if (unknown > 0 && log_) {
    log_("warning", "topic " + topics_.resolved() + ": " + std::to_string(unknown) +
                        " records are passed over; something newer may have written them");
  }
  return fits;
}

void ResolutionLog::remember(ResolutionTable table) {
  const std::lock_guard hold(mutex_);
  table_ = std::move(table);
}

void ResolutionLog::read(const std::function<bool(const kafka::RecordView&)>& visitor) {
  if (const auto ranges = reader_.ranges()) reader_.read(*ranges, visitor);
}

}  // namespace forelock::drain
