#include "drain/kafka_store.h"

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <variant>

#include "drain/store_topics.h"
#include "forelock/error.h"
#include "letter/letter_headers.h"

namespace forelock::drain {
namespace {

using Kind = ResolutionState::Kind;

// Positions in the parking place begin with this.
constexpr std::string_view parking_prefix = "parking/";

// The key in the resolved topic of what has no id.
std::string key_of(const UnreadableLetter& letter) {
  return "position:" + letter.position;
}

HashedKey hashed_key_of(const LetterOrNot& read) {
  const auto* letter = std::get_if<StoredLetter>(&read);
  return hash_key(letter ? resolution_key(letter->letter) : key_of(std::get<UnreadableLetter>(read)));
}

Kind kind_of(Resolution resolution) {
  switch (resolution) {
    case Resolution::replayed:
      return Kind::replayed;
    case Resolution::parked:
      return Kind::parked;
    case Resolution::purged:
      break;
  }
  return Kind::purged;
}

kafka::Record record_of(const StoredLetter& letter) {
  kafka::Record record;
  record.key = letter.letter.monitor;
  record.value = letter.record;
  for (letter::Header& header : letter::headers_of(letter.letter)) {
    record.headers.emplace_back(std::move(header.name), std::move(header.value));
  }
  return record;
}

// Takes the first letter that it is shown.
class FirstLetter final : public LetterVisitor {
 public:
  bool letter(const StoredLetter& letter) override {
    found = letter;
    return false;
  }
  bool unreadable(const UnreadableLetter&) override { return true; }

  std::optional<StoredLetter> found;
};

}  // namespace

KafkaStore::KafkaStore(const Settings& settings, std::string monitor, LogSink log, std::size_t max_ids)
    : monitor_(std::move(monitor)),
      max_ids_(max_ids),
      topics_(settings, log),
      resolutions_(settings, topics_, log),
      queue_(settings, topics_.queue(), drain_group, log),
      parking_(settings, topics_.parking(), drain_group, log) {}

void KafkaStore::load() {
  queue_keys_.reset();
  if (!resolutions_.load(max_ids_)) {
    auto keys = keys_in_topics();
    if (!keys) {
      throw Error(ErrorCode::kafka_rejected, "",
                  describe() + " holds more than " + std::to_string(max_ids_) +
                      " letters, and as many ids are resolved: more than can be remembered",
                  "Delete records that are done with from the topic with Kafka's own kafka-delete-records.sh: those "
                  "before the committed offsets of group " +
                      std::string(drain_group) + ".");
    }
    resolutions_.load_only(std::move(*keys));
  }
}

void KafkaStore::scan(const LetterFilter& filter, LetterVisitor& visitor) {
  load();
  scan(filter.parked ? Place::parking : Place::queue, filter, visitor);
}

std::optional<StoredLetter> KafkaStore::find(const std::string& id) {
  LetterFilter filter;
  filter.ids = {id};
  FirstLetter first;
  load();
  scan(Place::queue, filter, first);
  if (!first.found) scan(Place::parking, filter, first);
  return std::move(first.found);
}

void KafkaStore::set_drainer(const DrainerProof* drainer) {
  const std::lock_guard hold(mutex_);
  LetterStore::set_drainer(drainer);
  fence_ = 0;
}

std::uint64_t KafkaStore::fence() {
  const std::lock_guard hold(mutex_);
  if (fence_ == 0 && drainer() != nullptr) {
    // A higher token than that of a drainer which certainly is the only one comes from servers that have been replaced
    // since. Then the count goes on from there: or nothing that is written now would count.
    drainer()->check_health();
    fence_ = std::max(drainer()->token(), resolutions_.highest_writer() + 1);
  }
  return fence_;
}

void KafkaStore::write(const std::string& key, ResolutionState state, std::optional<kafka::RecordPlace> put_back) {
  state.writer = fence();
  resolutions_.write(key, state, put_back);
}

std::uint32_t KafkaStore::begin_try(const StoredLetter& letter) {
  const std::string key = resolution_key(letter.letter);
  ResolutionState state = resolutions_.state_of(hash_key(key));
  if (letter.state == LetterState::parked ? state.is_done() : state.has_left_queue()) return 0;
  if (letter.state == LetterState::parked) state.kind = Kind::parked;
  state.tries = static_cast<std::uint16_t>(std::min(state.tries + 1u, ResolutionState::most));
  check_drainer();
  write(key, state);
  return state.tries;
}

void KafkaStore::take_back_try(const StoredLetter& letter) {
  const std::string key = resolution_key(letter.letter);
  ResolutionState state = resolutions_.state_of(hash_key(key));
  if (state.is_done() || state.tries == 0) return;
  --state.tries;
  check_drainer();
  write(key, state);
}

void KafkaStore::resolve(const StoredLetter& letter, Resolution resolution) {
  const std::string key = resolution_key(letter.letter);
  const ResolutionState before = resolutions_.state_of(hash_key(key));
  if (before.is_done()) return;
  if (resolution == Resolution::parked) {
    if (before.stands_parked()) return;
    check_drainer();
    topics_.write_parking(record_of(letter));
  }
  if (resolution != Resolution::replayed) check_drainer();
  write(key, {kind_of(resolution), 0});
}

void KafkaStore::resolve(const UnreadableLetter& letter, Resolution resolution) {
  const std::string key = key_of(letter);
  if (resolutions_.state_of(hash_key(key)).has_left_queue()) return;
  if (resolution == Resolution::parked) {
    if (letter.position.starts_with(parking_prefix)) return;
    kafka::Record record;
    record.key = letter.monitor;
    record.value = letter.record;
    check_drainer();
    topics_.write_parking(std::move(record));
  }
  check_drainer();
  write(key, {kind_of(resolution), 0});
}

bool KafkaStore::restore(const StoredLetter& letter) {
  const std::string key = resolution_key(letter.letter);
  const bool open = !resolutions_.state_of(hash_key(key)).has_left_queue();
  if (open && is_in_queue(hash_key(key))) return false;
  check_drainer();
  // The record first: its earlier copy may lie before the committed offset.
  const kafka::RecordPlace place = topics_.write_queue(record_of(letter));
  check_drainer();
  const bool known = place.offset >= 0;  // without it the first copy counts
  write(key, {Kind::open, 0}, known ? std::optional(place) : std::nullopt);
  if (queue_keys_) queue_keys_->reset(hash_key(key));
  return true;
}

void KafkaStore::write_over_overruled() {
  for (const std::string& key : resolutions_.overruled()) {
    check_drainer();
    write(key, resolutions_.state_of(hash_key(key)));
  }
}

void KafkaStore::settle() {
  load();
  if (drainer() != nullptr) write_over_overruled();
  settle(Place::queue);
  settle(Place::parking);
}

std::uint64_t KafkaStore::delete_resolved() {
  settle();
  const std::uint64_t deleted = delete_resolved(Place::queue) + delete_resolved(Place::parking);
  if (auto remaining = keys_in_topics()) resolutions_.forget(std::move(*remaining));
  return deleted;
}

std::optional<std::vector<kafka::PartitionRange>> KafkaStore::ranges(Place place) {
  auto ranges = reader(place).ranges();
  if (!ranges && place == Place::queue) topics_.throw_missing_queue();
  return ranges;
}

void KafkaStore::scan(Place place, const LetterFilter& filter, LetterVisitor& visitor) {
  auto all = ranges(place);
  if (!all) return;
  for (kafka::PartitionRange& range : *all) range.begin = std::max(range.begin, range.committed.value_or(0));
  bool stopped = false;
  std::unordered_set<HashedKey, HashOfKey> passed_by;  // letters of which a later copy counts, until that comes
  const auto visit_record = [&](const kafka::RecordView& record, bool last_chance) {
    LetterOrNot read = read_record(place, record);
    if (!is_open(place, read)) return true;
    if (auto* letter = std::get_if<StoredLetter>(&read)) {
      const HashedKey key = hashed_key_of(read);
      if (last_chance && !passed_by.contains(key)) return true;
      if (!last_chance && is_earlier_copy(place, key, record)) {
        passed_by.insert(key);
        return true;
      }
      passed_by.erase(key);
      if (!resolutions_.first_sight(key)) return true;
      letter->state = place == Place::parking ? LetterState::parked : LetterState::queued;
      letter->tries = resolutions_.state_of(key).tries;
    } else if (last_chance) {
      return true;
    }
    stopped = !visit_letter(read, filter, visitor);
    return !stopped;
  };
  reader(place).read(*all, [&](const kafka::RecordView& record) { return visit_record(record, false); });
  if (stopped || passed_by.empty()) return;
  // Where the copy that counts is not there (the topic was made anew, say), the earlier one is all there is.
  reader(place).read(*all, [&](const kafka::RecordView& record) { return visit_record(record, true); });
}

bool KafkaStore::is_earlier_copy(Place place, HashedKey key, const kafka::RecordView& record) const {
  if (place != Place::queue) return false;
  const auto put_back = resolutions_.put_back_at(key);
  return put_back && (record.partition != put_back->partition || record.offset < put_back->offset);
}

LetterOrNot KafkaStore::read_record(Place place, const kafka::RecordView& record) {
  std::string position = place == Place::parking ? std::string(parking_prefix) : "";
  position += std::to_string(record.partition) + "/" + std::to_string(record.offset);
  return read_letter(std::move(position), std::string(record.key), std::string(record.value));
}

bool KafkaStore::is_open(Place place, const LetterOrNot& read) {
  const HashedKey key = hashed_key_of(read);
  const ResolutionState state = resolutions_.state_of(key);
  if (place == Place::queue || std::holds_alternative<UnreadableLetter>(read)) return !state.has_left_queue();
  // The copy is made before it is known: until then the letter is in the queue. Where it is not, this is all there is.
  return state.stands_parked() || (!state.is_done() && !is_in_queue(key));
}

bool KafkaStore::is_in_queue(HashedKey key) {
  if (!queue_keys_) {
    queue_keys_.emplace(max_ids_);
    auto all = ranges(Place::queue);
    for (kafka::PartitionRange& range : *all) range.begin = std::max(range.begin, range.committed.value_or(0));
    queue_.read(*all, [this](const kafka::RecordView& record) {
      queue_keys_->reset(hashed_key_of(read_record(Place::queue, record)));
      return true;
    });
  }
  return queue_keys_->contains(key);
}

bool KafkaStore::is_passed(Place place, const LetterOrNot& read) const {
  const ResolutionState state = resolutions_.state_of(hashed_key_of(read));
  // A copy in the parking place of which nothing is known may be one that is about to be known.
  return place == Place::parking ? state.is_done() : state.has_left_queue();
}

void KafkaStore::settle(Place place) {
  const auto all = ranges(place);
  if (!all) return;
  for (const kafka::PartitionRange& range : *all) {
    const std::int64_t from = std::max(range.begin, range.committed.value_or(0));
    std::int64_t resolved = range.end;
    reader(place).read({{range.partition, from, range.end, {}}}, [&](const kafka::RecordView& record) {
      if (is_passed(place, read_record(place, record))) return true;
      resolved = record.offset;
      return false;
    });
    if (resolved <= range.committed.value_or(range.begin)) continue;
    check_drainer();
    reader(place).commit(range.partition, resolved);
  }
}

std::uint64_t KafkaStore::delete_resolved(Place place) {
  std::uint64_t deleted = 0;
  const auto all = ranges(place);
  if (!all) return deleted;
  const std::string& topic = place == Place::queue ? topics_.queue() : topics_.parking();
  for (const kafka::PartitionRange& range : *all) {
    const std::int64_t resolved = range.committed.value_or(range.begin);
    if (resolved <= range.begin) continue;
    check_drainer();
    topics_.delete_records(topic, range.partition, resolved);
    deleted += static_cast<std::uint64_t>(resolved - range.begin);
  }
  return deleted;
}

std::optional<ResolutionTable> KafkaStore::keys_in_topics() {
  ResolutionTable keys(max_ids_);
  bool fits = true;
  for (const Place place : {Place::queue, Place::parking}) {
    const auto all = ranges(place);
    if (!all || !fits) continue;
    reader(place).read(*all, [&](const kafka::RecordView& record) {
      return fits = keys.reset(hashed_key_of(read_record(place, record))) != ResolutionTable::Put::full;
    });
  }
  if (!fits) return std::nullopt;
  return keys;
}

}  // namespace forelock::drain
