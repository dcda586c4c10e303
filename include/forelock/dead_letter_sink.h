/// \file
/// Dead letters: operations that ran out of retries, and the interface that takes them.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "forelock/export.h"
#include "forelock/owner_record.h"
#include "forelock/priority.h"

namespace forelock {

/// One failed attempt at an operation.
struct FailedAttempt {
  std::uint32_t number = 0;             ///< 1 is the first
  WallTime at{};                        ///< when it failed
  std::string code;                     ///< stable: name_of(ErrorCode), or the handler's own
  std::string message;                  ///< for people
  std::chrono::milliseconds waited{0};  ///< how long it waited for the lock
};

/// The process that gave up an operation.
struct DeadLetterOrigin {
  std::string host;      ///< its machine's name
  std::int64_t pid = 0;  ///< its process number there
  std::string instance;  ///< `host/pid`, as in owner records
  std::string version;   ///< of this library
};

/// An operation that will not be retried automatically. A plain value.
struct DeadLetter {
  std::string id;                            ///< stable, the idempotency key of everything that happens to it later
  std::string type;                          ///< the kind of operation, e.g. "saveContent"
  std::string monitor;                       ///< the monitor object's id; the key of the record
  Priority priority = Priority::background;  ///< the class of its lock
  std::string lock_info;                     ///< the purpose of the lock
  std::string payload;                       ///< opaque bytes; never logged
  std::string reason;                        ///< stable code of the last failure
  std::vector<FailedAttempt> attempts;       ///< oldest first, at least one
  std::uint32_t max_attempts = 1;            ///< how many there could have been
  WallTime enqueued_at{};                    ///< when the operation was first asked for
  WallTime failed_at{};                      ///< when its last attempt failed
  std::uint32_t replay_count = 0;            ///< how often it had been replayed before it failed again
  DeadLetterOrigin client;                   ///< the process that gave it up
  std::string traceparent;                   ///< W3C trace context of the operation; may be empty
};

/// Takes dead letters in. Implemented by this library's queue, or by a host that brings its own.
class FORELOCK_EXPORT DeadLetterSink {
 public:
  virtual ~DeadLetterSink();

  /// Takes the letter over: when it returns, the letter is durable and no crash of this process loses it. The same
  /// letter (id, failed_at, replay_count) may be given again, by a caller that could not see the outcome; it must not
  /// become two letters for its readers. An id that fails again later is another letter.
  /// Called from any thread, concurrently. \throws Error if it could not be made durable: the caller still owns the
  /// letter and must report it. Never drops a letter silently.
  virtual void accept(const DeadLetter& letter) = 0;
};

}  // namespace forelock
