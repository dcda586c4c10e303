/// \file
/// The part of the C interface that runs operations with retries, and its dead-letter queue. Included by forelock/c.h,
/// where the conventions are.
#pragma once

#include "forelock/c.h"

#ifdef __cplusplus
extern "C" {
#endif

/// \name Dead-letter queue
/// \{

/// Opens the outbox of the settings, and forwards to Kafka where that is configured. This function is in the library
/// forelock-dlq. What it has to say, of damage for example, comes as FL_EVENT_LOG: see FL_CLIENT_LOG_EVENTS.
/// FL_CONFIGURATION, FL_OUTBOX_UNAVAILABLE.
FORELOCK_EXPORT int32_t fl_dlq_open(fl_config config, fl_dlq* dlq);
/// Waits until nothing in the outbox is left to be forwarded, at most `timeout_ms`; `done` gets whether that is so.
FORELOCK_EXPORT int32_t fl_dlq_flush(fl_dlq dlq, int64_t timeout_ms, int32_t* done);

/// The contents of the outbox, and counts of what was taken and delivered.
typedef struct fl_dlq_status {
  size_t size;                 ///< sizeof(fl_dlq_status), set by the caller
  uint64_t outbox_rows;        ///< letters in the outbox
  uint64_t outbox_bytes;       ///< what they count against `dlq.outbox.max.bytes`
  int64_t oldest_age_ms;       ///< of the oldest letter; -1 if there is none
  uint64_t accepted;           ///< by this object
  uint64_t delivered;          ///< to Kafka, by this object
  uint64_t delivery_failures;  ///< failed attempts to deliver
  int32_t forwarding;          ///< 1 if this process pushes to Kafka
  const char* last_problem;    ///< why the last delivery failed; may be empty
} fl_dlq_status;

/// Fills `status` in; its text is valid until this thread's next call of it.
FORELOCK_EXPORT int32_t fl_dlq_get_status(fl_dlq dlq, fl_dlq_status* status);
/// Frees the handle; the queue is closed when the last runner that uses it is freed.
FORELOCK_EXPORT int32_t fl_dlq_free(fl_dlq dlq);

/// \}
/// \name Operations
/// An operation is attempted under its lock, tried again after a failure that may pass, and handed to the dead-letter
/// queue after the last (forelock::OperationRunner, which has the details). Each attempt is an FL_EVENT_ATTEMPT; the
/// program does its work and ends it with fl_attempt_succeed() or fl_attempt_fail(). Each operation ends with exactly
/// one FL_EVENT_OPERATION. At least once: an attempt may repeat what an earlier one did.
/// \{

/// Settings of a runner. 0: the default.
typedef struct fl_runner_options {
  size_t size;                 ///< sizeof(fl_runner_options), set by the caller
  int64_t backoff_initial_ms;  ///< the bound of the wait before the first retry; doubles with each further one
  int64_t backoff_cap_ms;      ///< the bound never grows beyond
  uint64_t max_operations;     ///< under way at the same time
  uint64_t retry_burst;        ///< retries of all runners of the client at once, before they are slowed down
  double retries_per_second;   ///< how many from then on; of these two, the client's first runner decides
} fl_runner_options;

/// An operation to be run. Texts may be null where it says empty.
typedef struct fl_operation_spec {
  size_t size;              ///< sizeof(fl_operation_spec), set by the caller
  const char* id;           ///< the idempotency key; empty: a random UUID
  const char* type;         ///< the kind, e.g. "saveContent"
  const char* monitor;      ///< the monitor object's id
  int32_t priority;         ///< a fl_priority
  const void* payload;      ///< opaque bytes; never logged
  size_t payload_length;    ///< of `payload`
  const char* lock_info;    ///< the purpose of the lock; empty: the type
  const char* traceparent;  ///< W3C trace context; may be empty
  int64_t timeout_ms;       ///< no attempt begins after that; 0: no end
} fl_operation_spec;

/// How an operation ended, with FL_OK.
enum fl_operation_end {
  FL_SUCCEEDED = 0,     ///< an attempt succeeded, and its lock was certain to be held until then
  FL_DEAD_LETTERED = 1  ///< the dead-letter queue has it, durably
};

/// Makes a runner. `options` may be null.
FORELOCK_EXPORT int32_t fl_runner_new(fl_client client, fl_dlq dlq, const fl_runner_options* options,
                                      fl_runner* runner);
/// Begins an operation; does not block. If this is not FL_OK, nothing was begun. `operation` may be null; else it
/// gets a handle to cancel with, which the caller frees.
FORELOCK_EXPORT int32_t fl_runner_submit(fl_runner runner, const fl_operation_spec* spec, uint64_t tag,
                                         fl_operation* operation);
/// Cancels the operation: the caller keeps it (FL_CANCELLED), unless it ends otherwise before.
FORELOCK_EXPORT int32_t fl_operation_cancel(fl_operation operation);
/// Frees the handle; the operation continues.
FORELOCK_EXPORT int32_t fl_operation_free(fl_operation operation);
/// The attempt's work is done; frees its handle.
FORELOCK_EXPORT int32_t fl_attempt_succeed(fl_attempt attempt);
/// The attempt failed; frees its handle. `code` stable, for programs: lower case letters, digits, underscores.
/// `retryable` 1 if another attempt makes sense.
FORELOCK_EXPORT int32_t fl_attempt_fail(fl_attempt attempt, const char* code, const char* message, int32_t retryable);
/// One failed attempt at an operation.
typedef struct fl_failed_attempt {
  size_t size;          ///< sizeof(fl_failed_attempt), set by the caller
  int64_t at_ms;        ///< when it failed, in milliseconds since 1970
  const char* code;     ///< stable, as in fl_attempt_fail()
  const char* message;  ///< for people; may be null
  int64_t waited_ms;    ///< how long it waited for the lock
} fl_failed_attempt;

/// Hands an operation to the dead-letter queue whose attempts the program has made without a runner. Blocks until the
/// letter is durable. `attempts` are `count` structures, oldest first, at least one; `max_attempts` is how many there
/// could have been. `id` may be null; else it gets the letter's id, valid until this thread's next call.
/// FL_INVALID_ARGUMENT, FL_REQUEST_TOO_LARGE, FL_OUTBOX_FULL, FL_OUTBOX_UNAVAILABLE: it is in no queue.
FORELOCK_EXPORT int32_t fl_dlq_accept(fl_client client, fl_dlq dlq, const fl_operation_spec* spec,
                                      const fl_failed_attempt* attempts, size_t count, uint32_t max_attempts,
                                      const char** id);
/// Cancels all operations, waits until the last one has ended, and frees the handle. They stay with their callers
/// (FL_EVENT_OPERATION with FL_CANCELLED), except those that are on their way into the queue already. An attempt under
/// way is over, too: its handle is invalid from now on, and work that still runs for it has no lock any more.
FORELOCK_EXPORT int32_t fl_runner_free(fl_runner runner);

/// \}

#ifdef __cplusplus
}
#endif

#include "forelock/c_replay.h"
