/// \file
/// The part of the C interface that everything else needs: its version, results, handles. Included by forelock/c.h,
/// where the conventions are.
#pragma once

#include <stdint.h>

#include "forelock/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/// \name Version
/// \{

/// Of these headers: grows when something is added.
#define FL_ABI_VERSION 8

/// "major.minor.patch" of the library that runs.
FORELOCK_EXPORT const char* fl_version(void);
/// FL_ABI_VERSION of the library that runs.
FORELOCK_EXPORT int32_t fl_abi_version(void);
/// FL_OK if the library serves programs compiled with headers of this FL_ABI_VERSION, else FL_ABI_MISMATCH.
FORELOCK_EXPORT int32_t fl_check_abi(int32_t headers);

/// \}
/// \name Results
/// \{

/// The result of a function: FL_OK, a forelock::ErrorCode by its number, or one of the codes of this interface alone.
enum fl_code {
  FL_OK = 0,                   ///< done
  FL_LOCK_TIMEOUT = 1,         ///< the lock was not obtained in time; retryable
  FL_LOCK_UNAVAILABLE = 2,     ///< a single attempt: the lock is held, or others wait for it; retryable
  FL_CANCELLED = 3,            ///< the caller cancelled the wait, was interrupted, or closed the lock
  FL_SESSION_EXPIRED = 4,      ///< the server ended the session, and with it every lock and place in a queue; retryable
  FL_CONNECTION_LOSS = 5,      ///< no server could be reached; retryable
  FL_NO_NODE = 6,              ///< the lock to be released does not exist any more
  FL_LOCK_UNHEALTHY = 7,       ///< the lock is, or may be, lost; retryable
  FL_NOT_AUTHORIZED = 8,       ///< the server's ACL or the credentials do not permit it
  FL_QUOTA_EXCEEDED = 9,       ///< a quota of the server is used up
  FL_INVALID_ARGUMENT = 10,    ///< an invalid monitor id, path or option; the message says which
  FL_REQUEST_TOO_LARGE = 11,   ///< over the server's limit; never sent
  FL_WRITE_CONFLICT = 12,      ///< a guarded write's own operations were refused; the lock is still held
  FL_NOT_HELD = 13,            ///< an operation of a holder on a lock that is not held
  FL_ALREADY_HELD = 14,        ///< the lock object holds or waits already: locks are not re-entrant
  FL_CONFIGURATION = 15,       ///< a setting is invalid
  FL_CLOSED = 16,              ///< the client is closed
  FL_FORKED = 17,              ///< the client belongs to the parent process
  FL_SERVER_ERROR = 18,        ///< anything else that the server reports; the effect is unknown
  FL_INTERNAL = 19,            ///< a defect of the library
  FL_HANDLER_FAILED = 20,      ///< an operation's handler failed and says no more
  FL_OVERLOADED = 21,          ///< too much for now: operations, threads of the host, work of the server; retryable
  FL_OUTBOX_FULL = 22,         ///< the dead letter was not taken: `dlq.outbox.max.bytes` is reached; retryable
  FL_OUTBOX_UNAVAILABLE = 23,  ///< the outbox cannot be opened, read or written: disk full, permissions, damage, in use
  FL_KAFKA_UNAVAILABLE = 24,   ///< no broker could be reached, or none serves the topic; retryable
  FL_KAFKA_REJECTED = 25,      ///< the broker refuses for good: authorization, size, configuration
  FL_RECORD_INVALID = 26,      ///< a record of the dead-letter queue that cannot be understood
  FL_RECORD_TOO_NEW = 27,      ///< a record of the dead-letter queue of a newer version
  FL_LOCK_REFUSED = 29,        ///< refused without waiting: too many contenders wait already; retryable
  FL_INVALID_HANDLE = 1001,    ///< the object is closed, of another kind, or was never there
  FL_OUT_OF_MEMORY = 1002,     ///< no memory, or no room for another handle
  FL_ABI_MISMATCH = 1003       ///< the library is older than the headers
};

/// The code's stable name, "lock_timeout"; "ok" for FL_OK, "unknown" for any other number.
FORELOCK_EXPORT const char* fl_code_name(int32_t code);
/// 1 if the same call may succeed later without human intervention, else 0.
FORELOCK_EXPORT int32_t fl_is_retryable(int32_t code);

/// The code of the last failure on this thread; FL_OK before the first.
FORELOCK_EXPORT int32_t fl_last_code(void);
/// A description of the failure, for people. Valid until this thread's next failure, as the next two.
FORELOCK_EXPORT const char* fl_last_message(void);
/// The next step to take, for people; may be empty.
FORELOCK_EXPORT const char* fl_last_hint(void);
/// The monitor id concerned; may be empty.
FORELOCK_EXPORT const char* fl_last_monitor(void);

/// \}
/// \name Handles
/// \{

typedef uint64_t fl_handle;      ///< any of the following
typedef fl_handle fl_config;     ///< settings
typedef fl_handle fl_client;     ///< a session, and its event queue
typedef fl_handle fl_lock;       ///< a lock object: one acquisition at a time
typedef fl_handle fl_view;       ///< a snapshot of a namespace
typedef fl_handle fl_dlq;        ///< a dead-letter queue
typedef fl_handle fl_runner;     ///< runs operations
typedef fl_handle fl_operation;  ///< an operation under way
typedef fl_handle fl_attempt;    ///< one attempt at an operation or a dead letter, with its lock
typedef fl_handle fl_replay;     ///< a replay of dead letters

/// \}

#ifdef __cplusplus
}
#endif
