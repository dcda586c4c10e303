/// \file
/// Errors: stable codes, one base class, and an exception class for each case that callers distinguish.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "forelock/export.h"

namespace forelock {

/// Stable codes: their names (name_of) appear in logs, JSON output and dead letters, their numbers in the C interface
/// (forelock/c.h); neither ever changes. 0 is not a code: it means success there.
enum class ErrorCode {
  lock_timeout = 1,         ///< the lock was not obtained in time
  lock_unavailable = 2,     ///< try_lock: the lock is held, or others wait for it
  cancelled = 3,            ///< the caller cancelled the wait
  session_expired = 4,      ///< the server ended the session, and with it every lock and every place in a queue
  connection_loss = 5,      ///< no server could be reached
  no_node = 6,              ///< the lock to be released does not exist any more
  lock_unhealthy = 7,       ///< the lock is, or may be, lost
  not_authorized = 8,       ///< the server's ACL or the credentials do not permit it
  quota_exceeded = 9,       ///< a quota of the server is used up
  invalid_argument = 10,    ///< an invalid monitor id, path or option
  request_too_large = 11,   ///< over the server's limit; never sent
  write_conflict = 12,      ///< a guarded write's own operations were refused: see the message; the lock is still held
  not_held = 13,            ///< an operation of a holder on a lock that is not held
  already_held = 14,        ///< lock() on a lock object that already holds or waits: locks are not re-entrant
  configuration = 15,       ///< an invalid setting
  closed = 16,              ///< the client is closed
  forked = 17,              ///< the client belongs to the parent process
  server_error = 18,        ///< anything else that the server reports; the effect is unknown
  internal = 19,            ///< a defect of this library
  handler_failed = 20,      ///< an operation's handler threw an exception other than OperationFailure or Error
  overloaded = 21,          ///< too much for now: operations in progress, threads of the host, work of the server
  outbox_full = 22,         ///< `dlq.outbox.max.bytes` is reached: the dead letter was not taken
  outbox_unavailable = 23,  ///< the outbox cannot be opened, read or written: disk full, permissions, damage, in use
  kafka_unavailable = 24,   ///< no broker could be reached, or none serves the topic
  kafka_rejected = 25,      ///< the broker refuses for good: authorization, size, configuration
  record_invalid = 26,      ///< a record of the dead-letter queue that cannot be understood
  record_too_new = 27,      ///< a record of the dead-letter queue that a newer version has written
  lock_refused = 29         ///< so many wait for the lock already that it was not waited for
  // 28 was another error in earlier builds, and is not used again.
};

/// The code's stable name, e.g. "lock_timeout".
FORELOCK_EXPORT std::string_view name_of(ErrorCode code) noexcept;

/// Whether the same call may succeed later without human intervention: time-outs, refused attempts, lost connections
/// and sessions, unhealthy locks, what is full or away for now. The retry layer decides by this table alone.
FORELOCK_EXPORT bool is_retryable(ErrorCode code) noexcept;

/// Base of every exception of this library. Immutable; may be copied and passed between threads.
class FORELOCK_EXPORT Error : public std::runtime_error {
 public:
  /// \param code the case; \param monitor the monitor id concerned, or empty; \param message for people, says what
  /// and where; \param hint what to do next, or empty.
  Error(ErrorCode code, std::string monitor, const std::string& message, std::string hint = {});
  ~Error() override;

  /// The case, for programs.
  ErrorCode code() const noexcept { return code_; }
  /// The monitor id concerned; empty if none is.
  const std::string& monitor() const noexcept { return monitor_; }
  /// What to do next, for people; may be empty. Not part of what().
  const std::string& hint() const noexcept { return hint_; }
  /// is_retryable(code()).
  bool retryable() const noexcept { return is_retryable(code_); }

 private:
  ErrorCode code_;
  std::string monitor_;
  std::string hint_;
};

/// The lock was not obtained within the stipulated time (lock_timeout, lock_unavailable, lock_refused) or is no longer
/// wanted (cancelled).
class FORELOCK_EXPORT InstanceLockException : public Error {
 public:
  using Error::Error;
  ~InstanceLockException() override;
};

/// The session ended while the caller waited for a lock or released one (session_expired).
class FORELOCK_EXPORT SessionExpiredException : public Error {
 public:
  using Error::Error;
  ~SessionExpiredException() override;
};

/// The connection to ZooKeeper is lost (connection_loss). What was asked for may still happen; what the library does
/// about it is said by the function that throws.
class FORELOCK_EXPORT ConnectionLossException : public Error {
 public:
  using Error::Error;
  ~ConnectionLossException() override;
};

/// unlock_or_throw() of a lock that does not exist any more (no_node), or that is not held (not_held).
class FORELOCK_EXPORT NoNodeException : public Error {
 public:
  using Error::Error;
  ~NoNodeException() override;
};

/// The lock is, or may be, lost (lock_unhealthy): the work that it protects must stop.
class FORELOCK_EXPORT LockUnhealthyException : public Error {
 public:
  using Error::Error;
  ~LockUnhealthyException() override;
};

/// The server or the library refused the request (not_authorized, quota_exceeded, invalid_argument, request_too_large,
/// write_conflict, already_held, overloaded, closed, forked, server_error); of these only overloaded is worth trying
/// again.
class FORELOCK_EXPORT RequestRejectedException : public Error {
 public:
  using Error::Error;
  ~RequestRejectedException() override;
};

}  // namespace forelock
