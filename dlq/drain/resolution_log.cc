#include "drain/resolution_log.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/counted.h"
#include "drain/store_topics.h"
#include "forelock/error.h"

namespace forelock::drain {

ResolutionLog::ResolutionLog(const Settings& settings, StoreTopics& topics, LogSink log)
    : topics_(topics), log_(std::move(log)), reader_(settings, topics.resolved(), drain_group, log_) {}

bool ResolutionLog::load(std::size_t limit) {
  ResolutionTable table(limit);
  Places put_back;
  const bool fits = read_states(table, put_back, [](HashedKey) { return true; });
  if (fits) remember(std::move(table), std::move(put_back));
  return fits;
}

void ResolutionLog::load_only(ResolutionTable keys) {
  Places put_back;
  read_states(keys, put_back, [&keys](HashedKey key) { return keys.contains(key); });
  remember(std::move(keys), std::move(put_back));
}

ResolutionState ResolutionLog::state_of(HashedKey key) const {
  const std::lock_guard hold(mutex_);
  return table_.state_of(key);
}

bool ResolutionLog::first_sight(HashedKey key) {
  const std::lock_guard hold(mutex_);
  return table_.first_sight(key);
}

void ResolutionLog::write(const std::string& key, const ResolutionState& state,
                          std::optional<kafka::RecordPlace> put_back) {
  const HashedKey hashed = hash_key(key);
  const bool stays = !state.has_left_queue();
  if (!put_back && stays) put_back = put_back_at(hashed);
  topics_.write_resolved(key, to_text(state, put_back));
  const std::lock_guard hold(mutex_);
  if (table_.put(hashed, state) == ResolutionTable::Put::done) note(put_back_, hashed, state, put_back);
}

std::optional<kafka::RecordPlace> ResolutionLog::put_back_at(HashedKey key) const {
  const std::lock_guard hold(mutex_);
  const auto found = put_back_.find(key);
  return found == put_back_.end() ? std::nullopt : std::optional(found->second);
}

void ResolutionLog::note(Places& places, HashedKey key, const ResolutionState& state,
                         std::optional<kafka::RecordPlace> put_back) {
  if (put_back && !state.has_left_queue()) {
    places.insert_or_assign(key, *put_back);
  } else {
    places.erase(key);
  }
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

bool ResolutionLog::read_states(ResolutionTable& table, Places& put_back,
                                const std::function<bool(HashedKey)>& wanted) {
  using Put = ResolutionTable::Put;
  std::uint64_t unknown = 0;
  bool fits = true;
  highest_writer_ = 0;
  overruled_.clear();
  read([&](const kafka::RecordView& record) {
    const HashedKey key = hash_key(record.key);
    // A tombstone says no more than that nothing is known.
    const auto parsed = record.tombstone ? ParsedResolution{} : parse_resolution(record.value);
    if (!parsed) {
      ++unknown;
      return true;
    }
    highest_writer_ = std::max(highest_writer_, parsed->state.writer);
    if (!wanted(key)) return true;
    const Put put = record.tombstone ? table.reset(key) : table.put(key, parsed->state);
    if (put == Put::done) {
      note(put_back, key, parsed->state, parsed->put_back);
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

void ResolutionLog::remember(ResolutionTable table, Places put_back) {
  const std::lock_guard hold(mutex_);
  table_ = std::move(table);
  put_back_ = std::move(put_back);
}

void ResolutionLog::read(const std::function<bool(const kafka::RecordView&)>& visitor) {
  if (const auto ranges = reader_.ranges()) reader_.read(*ranges, visitor);
}

}  // namespace forelock::drain
