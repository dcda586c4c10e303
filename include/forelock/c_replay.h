/// \file
/// The part of the C interface that replays dead letters. Included by forelock/c.h, where the conventions are.
#pragma once

#include "forelock/c.h"

#ifdef __cplusplus
extern "C" {
#endif

/// \name Replay of dead letters
/// Letters of the dead-letter queue are worked on once more, each under its monitor's lock at background priority and
/// in the order in which they failed (forelock::DeadLetterQueue::replay(), which has the details and the promises).
/// Each is an FL_EVENT_LETTER; the program does its work and ends it with fl_attempt_succeed(), or fl_attempt_fail():
/// `retryable` 1 puts the letter off, 0 counts as a failure. Each replay ends with exactly one FL_EVENT_REPLAY. At
/// least once: a letter may repeat what was done already.
/// \{

/// Which letters, and how. 0 or null: the default. The conditions must all hold; of several values in one, any.
typedef struct fl_replay_options {
  size_t size;                  ///< sizeof(fl_replay_options), set by the caller
  const char* const* ids;       ///< `id_count` whole ids; null: any
  size_t id_count;              ///< of `ids`
  const char* const* monitors;  ///< `monitor_count` ids of monitors; null: any
  size_t monitor_count;         ///< of `monitors`
  const char* const* types;     ///< `type_count` kinds of operation; null: any
  size_t type_count;            ///< of `types`
  const char* const* reasons;   ///< `reason_count` codes of the last failure; null: any
  size_t reason_count;          ///< of `reasons`
  int64_t since_ms;             ///< failed at this time or later, in milliseconds since 1970
  int64_t until_ms;             ///< failed before this time
  int32_t parked;               ///< 1: those in the parking place instead of those in the queue
  int32_t outbox;               ///< 1: the outbox also where Kafka is configured
  uint64_t max;                 ///< letters tried at most; 0: all
  double rate;                  ///< letters begun per second at most; 0: as fast as it goes
  uint64_t concurrency;         ///< monitors at once, at most 256; letters of one monitor never are; 0: 4
  int64_t lock_timeout_ms;      ///< for each letter's lock; 0: 2,000
  uint32_t max_tries;           ///< a letter that has failed so often is parked; 0: 3
  uint64_t max_unresolved;      ///< letters that it lists at most; 0: 10,000
} fl_replay_options;

/// Begins a replay; does not block. If this is not FL_OK, nothing was begun. `options` may be null. The client's events
/// must be polled until its FL_EVENT_REPLAY has come: `code` FL_OK, or FL_LOCK_TIMEOUT (another replay or change of the
/// queue is at work: the message names it), FL_CANCELLED (stopped before it began), FL_INVALID_ARGUMENT, FL_CLOSED,
/// FL_CONNECTION_LOSS, FL_KAFKA_UNAVAILABLE, FL_OUTBOX_UNAVAILABLE, …: what was done by then stays done. Free the
/// handle in any case.
FORELOCK_EXPORT int32_t fl_dlq_replay(fl_client client, fl_dlq dlq, const fl_replay_options* options, uint64_t tag,
                                      fl_replay* replay);

/// The expected outcome of a replay.
typedef struct fl_replay_preview {
  size_t size;          ///< sizeof(fl_replay_preview), set by the caller
  uint64_t letters;     ///< it would try
  uint64_t unreadable;  ///< records that cannot be read
  uint64_t overtaken;   ///< letters that do not match and stand before others of their monitors that do
  int64_t oldest_ms;    ///< when the oldest that matches failed, in milliseconds since 1970; -1 if there is none
} fl_replay_preview;

/// Reads the queue, and changes nothing; blocks. Needs no ZooKeeper. FL_KAFKA_UNAVAILABLE, FL_OUTBOX_UNAVAILABLE.
FORELOCK_EXPORT int32_t fl_dlq_preview_replay(fl_dlq dlq, const fl_replay_options* options, fl_replay_preview* preview);

/// A dead letter.
typedef struct fl_letter {
  size_t size;              ///< sizeof(fl_letter), set by the caller
  const char* id;           ///< the idempotency key
  const char* type;         ///< the kind of operation
  const char* monitor;      ///< whose lock is held
  int32_t priority;         ///< of the operation, a fl_priority; it is replayed as background work
  uint32_t tries;           ///< replays of it that have begun before and did not end well
  const char* lock_info;    ///< the purpose of the operation's lock
  const void* payload;      ///< opaque bytes
  size_t payload_length;    ///< of `payload`
  const char* reason;       ///< stable code of the last failure
  size_t failure_count;     ///< failed attempts of the operation: fl_attempt_failure()
  uint32_t max_attempts;    ///< how many there could have been
  uint32_t replay_count;    ///< how often it had been replayed into a topic before it failed again
  int64_t enqueued_at_ms;   ///< when the operation was first asked for, in milliseconds since 1970
  int64_t failed_at_ms;     ///< when its last attempt failed
  const char* instance;     ///< `host/pid` of the process that gave it up
  const char* traceparent;  ///< W3C trace context; may be empty
} fl_letter;

/// The letter of an attempt that came with FL_EVENT_LETTER. Its texts and its payload are valid until this thread's
/// next call of it. FL_INVALID_ARGUMENT: it is an attempt at an operation.
FORELOCK_EXPORT int32_t fl_attempt_letter(fl_attempt attempt, fl_letter* letter);
/// The failed attempt of its operation with this index, 0 for the oldest; as fl_attempt_letter().
FORELOCK_EXPORT int32_t fl_attempt_failure(fl_attempt attempt, size_t index, fl_failed_attempt* failure);
/// 1 if the work should end: its lock was lost, or the replay is to end; else 0. 1 for an invalid handle. Work done
/// afterwards does not count unless it ends with fl_attempt_succeed() while the lock is certain to be held.
FORELOCK_EXPORT int32_t fl_attempt_should_stop(fl_attempt attempt);

/// Begins no more letters and lets those under way finish; fl_attempt_should_stop() tells them.
FORELOCK_EXPORT int32_t fl_replay_stop(fl_replay replay);

/// The result of a replay.
typedef struct fl_replay_report {
  size_t size;                   ///< sizeof(fl_replay_report), set by the caller
  uint64_t replayed;             ///< done, and out of the queue
  uint64_t failed;               ///< and will be tried by the next replay
  uint64_t later;                ///< put off, or their lock was unavailable
  uint64_t parked;               ///< failed too often
  uint64_t skipped;              ///< behind an earlier letter of their monitor that failed or waits
  uint64_t unreadable;           ///< records that cannot be read
  int32_t stopped;               ///< 1: by the caller, or the drainer's lock was lost: not all letters were met
  uint64_t unresolved;           ///< letters in the list: fl_replay_unresolved()
  uint64_t unresolved_left_out;  ///< letters that are not done and had no place in it
  const char* unsettled;         ///< why the queue could not be tidied up; empty if it was; nothing is lost by that
} fl_replay_report;

/// The result of a replay that has ended; its text is valid until this thread's next call of it. FL_INVALID_ARGUMENT
/// while it runs; its failure if it has failed.
FORELOCK_EXPORT int32_t fl_replay_get_report(fl_replay replay, fl_replay_report* report);

/// The outcome of a letter that is not done.
enum fl_replay_outcome {
  FL_REPLAY_LATER = 1,       ///< put off, its lock was lost, or the replay was stopped; not counted
  FL_REPLAY_FAILED = 2,      ///< counted; the next replay tries it again
  FL_REPLAY_PARKED = 3,      ///< failed once too often; later ones of its monitor continue
  FL_REPLAY_LOCKED_OUT = 4,  ///< its monitor's lock was not obtained in time; not counted
  FL_REPLAY_SKIPPED = 5,     ///< an earlier one of its monitor failed or has to wait
  FL_REPLAY_UNREADABLE = 6   ///< not a letter, or one of a newer version; left alone
};

/// A letter that was met and is not done.
typedef struct fl_unresolved_letter {
  size_t size;          ///< sizeof(fl_unresolved_letter), set by the caller
  const char* id;       ///< of an unreadable one: its position
  const char* type;     ///< empty of an unreadable one
  const char* monitor;  ///< whose lock it needs
  int32_t outcome;      ///< a fl_replay_outcome
  const char* why;      ///< for people
} fl_unresolved_letter;

/// The one with this index, as they came up; its texts are valid until this thread's next call of it. As
/// fl_replay_get_report().
FORELOCK_EXPORT int32_t fl_replay_unresolved(fl_replay replay, size_t index, fl_unresolved_letter* letter);
/// Stops it, waits until it has ended, and frees the handle. Letters under way are put off: their attempts' handles are
/// invalid from now on, and work that still runs for them has no lock any more. FL_EVENT_REPLAY still comes.
FORELOCK_EXPORT int32_t fl_replay_free(fl_replay replay);

/// \}

#ifdef __cplusplus
}
#endif
