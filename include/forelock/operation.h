/// \file
/// Operations: work done under a lock, retried after transient failures, and never silently dropped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "forelock/dead_letter_sink.h"
#include "forelock/error.h"
#include "forelock/export.h"
#include "forelock/priority.h"

namespace forelock {

/// An Operation is a piece of work under a lock: the monitor, the priority, and the work. A plain value.
struct Operation {
  /// The idempotency key: of the dead letter too. Empty: a random UUID is made when the operation is run. At most
  /// max_id_bytes of printable ASCII.
  std::string id = {};
  /// The kind of operation, e.g. "saveContent"; not empty, else as `id`.
  std::string type = {};
  std::string monitor = {};                  ///< the monitor object's id
  Priority priority = Priority::background;  ///< the class of its lock
  std::string payload = {};                  ///< opaque bytes, at most max_payload_bytes; never logged
  std::string lock_info = {};                ///< the purpose of the lock; empty: the type
  std::string traceparent = {};              ///< W3C trace context, passed through to the dead letter; may be empty
  std::uint32_t replay_count = 0;            ///< how often it has been replayed from the queue before

  static constexpr std::size_t max_id_bytes = 128;          ///< limit of `id` and `type`
  static constexpr std::size_t max_lock_info_bytes = 1024;  ///< limit of `lock_info`
  /// Limit of `payload`; keep larger data in a store.
  static constexpr std::size_t max_payload_bytes = 1024 * 1024;
};

/// How an operation ended: in success, or in the dead-letter queue. (Failures returned to the caller are thrown
/// instead.)
struct OperationResult {
  /// The two ways to end without an exception.
  enum class Status {
    succeeded,     ///< a handler call returned, and the lock was certain to be held until then
    dead_lettered  ///< the sink has it, durably
  };
  Status status = Status::succeeded;    ///< which of them
  std::string id;                       ///< the operation's id; if dead_lettered, the letter's
  std::string reason;                   ///< if dead_lettered: the stable code of the last failure
  std::vector<FailedAttempt> attempts;  ///< those that failed, oldest first
};

/// The exception by which a handler reports a failure. `code` is stable, for programs and filters: lower case letters,
/// digits and underscores, at most 64 (others are changed to fit: a failure is not lost because its code is misspelt);
/// `message` is for people, the first 1,000 bytes of it are kept. Neither may hold the payload.
class FORELOCK_EXPORT OperationFailure : public std::runtime_error {
 public:
  /// \param code for programs. \param message for people.
  /// \param retryable whether the same operation may succeed later without any intervention.
  OperationFailure(std::string code, const std::string& message, bool retryable);
  ~OperationFailure() override;

  /// For programs.
  const std::string& code() const noexcept { return code_; }
  /// Whether another attempt makes sense.
  bool retryable() const noexcept { return retryable_; }

 private:
  std::string code_;
  bool retryable_;
};

}  // namespace forelock
