// Replays dead letters: each under its own lock, in order within a monitor, counted before it is tried.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <variant>

#include "drain/drainer_lock.h"
#include "drain/letter_store.h"
#include "forelock/client.h"
#include "forelock/dead_letter_replay.h"
#include "forelock/write_lock.h"

namespace forelock::drain {

using forelock::ReplayOptions;
using forelock::ReplayReport;

// What one try came to.
enum class TryOutcome {
  done,
  later,  // not now: not counted against the letter, its monitor waits for the next replay
  failed
};
struct TryResult {
  TryOutcome outcome = TryOutcome::failed;
  std::string message;  // why not, for people; never the payload
};

// Does the work. Called from several threads for different monitors at once. `lock` is held. Must watch `stop`: it is
// stopped when the letter's lock or the drainer's is lost, and when the replay is to end. What it throws is a failure.
using LetterTarget = std::function<TryResult(const StoredLetter& letter, WriteLock& lock, std::stop_token stop)>;

// A target that takes the letter's lock by itself, or has another program take it: the replay does not hold it
// meanwhile, which would keep the target from it. Otherwise as a LetterTarget.
using LockingTarget = std::function<TryResult(const StoredLetter& letter, std::stop_token stop)>;

using AnyTarget = std::variant<LetterTarget, LockingTarget>;

// The progress of a replay; called from its threads, one at a time.
class ReplayObserver {
 public:
  virtual ~ReplayObserver() = default;
  using Event = ReplayOutcome;
  virtual void event(Event event, const StoredLetter& letter, const std::string& message) = 0;
  // The drainer's lock is held: before everything else.
  virtual void begun(std::uint64_t /*token*/) {}
};

// One replay at a time, over all machines: run() holds the store's DrainerLock while it works.
//
// Each matching letter is tried at most once in a replay. A try is counted durably before the target is called, so that
// a letter that kills the replayer is counted too; when as many as max_tries have begun without success, the letter is
// parked and later ones of its monitor go on. A letter that failed and is not parked keeps the later ones of its
// monitor waiting for the next replay; so does one whose lock was not obtained in time (not counted), and one that the
// target or a lost lock put off (counted back, unless the drainer's lock is in doubt: then nothing is written). A
// letter that is in the parking place already stays there when it fails, and blocks no other letter.
//
// Crash-safe: killed at any point and run again, each letter is tried at least once more, or is resolved already. At
// least once: a target that succeeded may be called again when the process dies before that is recorded.
//
// Memory: LookAhead's limits, and the letters under way.
class Replayer {
 public:
  // All must outlive it. `target` and `observer` are called from threads of run().
  Replayer(Client& client, LetterStore& store, AnyTarget target, ReplayObserver& observer);

  // Blocks. \throws Error of the store, when what is under way has ended; InstanceLockException if another drainer is
  // at work; RequestRejectedException(invalid_argument) for invalid options. What an observer throws.
  ReplayReport run(const ReplayOptions& options, std::stop_token stop);

 private:
  Client& client_;
  LetterStore& store_;
  AnyTarget target_;
  ReplayObserver& observer_;
};

}  // namespace forelock::drain
