/// \file
/// Replays of dead letters by a handler of the application: see DeadLetterQueue::replay().
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "forelock/dead_letter_sink.h"
#include "forelock/write_lock.h"

namespace forelock {

/// Selects dead letters. All conditions that are set must hold; of several values in one condition, any.
struct DeadLetterFilter {
  std::vector<std::string> ids;       ///< whole ids
  std::vector<std::string> monitors;  ///< monitor objects' ids
  std::vector<std::string> types;     ///< kinds of operation
  std::vector<std::string> reasons;   ///< codes of the last failure
  std::optional<WallTime> since;      ///< failed at this time or later
  std::optional<WallTime> until;      ///< failed before this time
  bool parked = false;                ///< those in the parking place instead of those in the queue
};

/// Settings of one replay. A plain value.
struct ReplayOptions {
  static constexpr std::size_t max_concurrency = 256;  ///< limit of `concurrency`

  DeadLetterFilter filter = {};                  ///< which letters
  bool outbox = false;                           ///< the outbox also where Kafka is configured
  std::optional<std::uint64_t> max = {};         ///< letters tried at most
  double rate = 0;                               ///< letters begun per second at most; 0: as fast as it goes
  std::size_t concurrency = 4;                   ///< monitors at once; letters of one monitor never are
  std::uint32_t max_tries = 3;                   ///< a letter that has failed so often is parked
  std::chrono::milliseconds lock_timeout{2000};  ///< for each letter's lock
  std::size_t max_unresolved = 10'000;           ///< letters listed in ReplayReport::unresolved at most
};

/// The arguments of a handler. Valid during the call.
struct ReplayAttempt {
  const DeadLetter& letter;   ///< what is to be done
  const std::uint32_t tries;  ///< replays of it that have begun before and did not end well
  WriteLock& lock;            ///< of the letter's monitor, held: check_health(), fencing_token(), write_guarded()
  /// Stopped when the lock is lost or the replay is to end. What the handler does afterwards does not count unless it
  /// returns and the lock was certain to be held until then.
  const std::stop_token stop;
};

/// Does the work of one letter. It may be that of an OperationRunner, which decides in the same way what is worth
/// another attempt. Returning: done. Throwing an OperationFailure that is retryable, or an Error of this library that
/// is: not now; it is not counted against the letter, which stays where it is, as do the later ones of its monitor.
/// Throwing anything else: failed. Called on threads of the replay, for different monitors at once.
using ReplayHandler = std::function<void(ReplayAttempt&)>;

/// What became of a letter.
enum class ReplayOutcome {
  replayed,    ///< done, and out of the queue
  later,       ///< the handler put it off, its lock was lost, or the replay was stopped; not counted
  failed,      ///< counted; the next replay tries it again
  parked,      ///< failed once too often; later ones of its monitor go on
  locked_out,  ///< its monitor's lock was not to be had in time; not counted
  skipped,     ///< an earlier one of its monitor failed or has to wait
  unreadable   ///< not a letter, or one of a newer version; left alone, and no other waits for it
};

/// A letter that was met and is not done.
struct UnresolvedLetter {
  std::string id;                                ///< of an unreadable one: its position
  std::string type;                              ///< empty of an unreadable one
  std::string monitor;                           ///< whose lock it needs
  ReplayOutcome outcome = ReplayOutcome::later;  ///< never replayed
  std::string why;                               ///< for people; at most 1,000 bytes
};

/// The result of a replay.
struct ReplayReport {
  std::uint64_t replayed = 0;    ///< done, and out of the queue
  std::uint64_t failed = 0;      ///< and will be tried by the next replay
  std::uint64_t later = 0;       ///< put off, or locked out
  std::uint64_t parked = 0;      ///< failed too often
  std::uint64_t skipped = 0;     ///< behind an earlier letter of their monitor that failed or waits
  std::uint64_t unreadable = 0;  ///< records that cannot be read
  bool stopped = false;          ///< by the caller, or because the drainer's lock was lost: not all letters were met
  /// Why the queue could not be tidied up afterwards, for people; empty if it was. Nothing is lost by that: the next
  /// replay reads a little more and does it.
  std::string unsettled;
  /// Those that were met and are not done, as they came up, at most ReplayOptions::max_unresolved.
  std::vector<UnresolvedLetter> unresolved;
  std::uint64_t unresolved_left_out = 0;  ///< more of them
};

/// What a replay would do. A snapshot.
struct ReplayPreview {
  std::uint64_t letters = 0;       ///< it would try
  std::uint64_t unreadable = 0;    ///< records that cannot be read
  std::uint64_t overtaken = 0;     ///< that do not match and stand before others of their monitors that do
  std::optional<WallTime> oldest;  ///< when the oldest that matches failed
};

}  // namespace forelock
