// The dead letters that a drain tool sees: the same for the outbox and for Kafka.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "drain/letter_filter.h"
#include "forelock/dead_letter_sink.h"

namespace forelock::drain {

// Where a letter stands.
enum class LetterState { queued, parked };

// How a letter leaves the queue. The names are the values in the resolved topic.
enum class Resolution { replayed, parked, purged };
std::string_view name_of(Resolution resolution);

struct StoredLetter {
  std::string position;  // for people and for resolve(): "partition/offset" in Kafka, the row's number in the outbox
  LetterState state = LetterState::queued;
  std::uint32_t tries = 0;  // replays begun so far that did not finish well
  DeadLetter letter;
  std::string record;         // the JSON as it is stored
  std::int64_t checksum = 0;  // of an outbox's row: another one may have its position meanwhile
};

// A record that is no letter (damaged, or of a newer schema). It is shown, never replayed, and never blocks others; it
// can be purged or parked by its position.
struct UnreadableLetter {
  std::string position;
  std::string monitor;  // the key, if there is one
  std::string code;     // "record_invalid", "record_too_new"
  std::string message;
  std::string record;
  std::int64_t checksum = 0;  // as in a StoredLetter
};

class LetterVisitor {
 public:
  virtual ~LetterVisitor() = default;
  // \returns whether to go on. The letter is valid during the call.
  virtual bool letter(const StoredLetter& letter) = 0;
  virtual bool unreadable(const UnreadableLetter& letter) = 0;
};

// The proof that a store has a single writer: a DrainerLock.
class DrainerProof {
 public:
  virtual ~DrainerProof() = default;
  // Higher than that of every drainer before.
  virtual std::uint64_t token() const = 0;
  // \throws LockUnhealthyException unless it is certain that no other drainer is at work.
  virtual void check_health() const = 0;
};

// Not thread-safe, except where it says so. All methods throw Error (kafka_unavailable, outbox_unavailable, …) with a
// hint. Whatever changes the store is to be called under its DrainerLock, for letters that were seen under it.
//
// A drainer may be stopped between its look at the lock and its write, for longer than its session lives. So the lock
// is looked at right before each write (LockUnhealthyException: nothing was written), and what a topic gets carries the
// drainer's token: a late write changes nothing that a later drainer has decided.
class LetterStore {
 public:
  virtual ~LetterStore() = default;

  // The lock under which changes are made from now on; nullptr: none, and they are not fenced. Called by DrainerLock.
  virtual void set_drainer(const DrainerProof* drainer) { drainer_ = drainer; }

  // For people: "outbox /var/…/outbox.db", "topic MdmDeadLetterQueue at host:9092".
  virtual std::string describe() const = 0;
  // The monitor object whose lock makes its drainer single.
  virtual std::string drainer_monitor() const = 0;

  // Visits the unresolved letters that are in the queue when it begins and match, each once, oldest first within a
  // monitor. Memory is bounded by one batch and, for Kafka, a few bytes for each resolved or visited id. The visitor
  // may take its time: nothing is kept open or locked meanwhile.
  virtual void scan(const LetterFilter& filter, LetterVisitor& visitor) = 0;

  // The unresolved letter with this id, wherever it stands.
  virtual std::optional<StoredLetter> find(const std::string& id) = 0;

  // Records durably that a replay of this letter begins. \returns how many have begun, this one included; 0 if the
  // letter has left the store meanwhile. Thread-safe with itself, take_back_try(), resolve() and a scan() under way.
  virtual std::uint32_t begin_try(const StoredLetter& letter) = 0;
  // Takes back what the last begin_try() of this letter counted: the try was no failure of the letter. Thread-safe as
  // begin_try().
  virtual void take_back_try(const StoredLetter& letter) = 0;

  // Removes it from the queue for good; `parked` puts it into the parking place first. Durable when it returns;
  // repeating it does no harm. Thread-safe as begin_try(). `replayed` is a fact that the caller knows by the letter's
  // own lock, and is written without the drainer's.
  virtual void resolve(const StoredLetter& letter, Resolution resolution) = 0;
  virtual void resolve(const UnreadableLetter& letter, Resolution resolution) = 0;

  // The way back: a letter that stands parked, or one that was exported and is given again, is in the queue and open
  // when it returns, whatever has become of it before. In a topic it stands behind all others then, in an outbox a
  // parked one has kept its place. \returns false, and nothing has changed, if it is in the queue already. Durable.
  virtual bool restore(const StoredLetter& letter) = 0;

  // After a batch of resolve(): lets the store forget what is done with (commits the resolved prefix).
  virtual void settle() = 0;
  // purge only: physically deletes the resolved prefix, where the store keeps resolved letters (Kafka).
  // \returns how many records went.
  virtual std::uint64_t delete_resolved() = 0;

 protected:
  const DrainerProof* drainer() const { return drainer_; }
  void check_drainer() const {
    if (drainer_ != nullptr) drainer_->check_health();
  }

 private:
  const DrainerProof* drainer_ = nullptr;
};

}  // namespace forelock::drain
