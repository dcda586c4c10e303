/// \file
/// The C interface: everything that the C++ library does for locks, for programs in C and for other languages'
/// bindings. Compiles as C11 and as C++.
///
/// **Handles** are numbers, not addresses: one that is closed, freed twice, of another kind or made up gets
/// FL_INVALID_HANDLE, from any thread, at any time. 0 is never a handle. Free each with its function; while other
/// threads use the object it lives on until they have finished.
///
/// **Results** are FL_OK (0) or a code. Of the last failure on the calling thread fl_last_message() and its like tell
/// more; success leaves them alone. No C++ exception leaves a function.
///
/// **Texts** that go in are UTF-8, ended by 0, and copied. Those that come out are never null unless it says so, and
/// valid until the calling thread's next call that returns texts of the same function, or for as long as it says.
///
/// **Callbacks** do not exist: asynchronous results and notifications are events, fetched with fl_poll().
///
/// **Times** are milliseconds (`_ms`) or nanoseconds (`_ns`). Every function may be called from any thread.
///
/// Stable: functions, numbers and the layout of structures do not change; new ones may be added. A structure whose
/// first member is `size` is set up by its caller with sizeof, and may grow at its end.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "forelock/c_result.h"
#include "forelock/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/// \name Settings
/// \{

/// The defaults.
FORELOCK_EXPORT int32_t fl_config_new(fl_config* config);
/// Reads a `.properties` or `.yaml` file. FL_CONFIGURATION: the message has a line for each problem.
FORELOCK_EXPORT int32_t fl_config_load(const char* path, fl_config* config);
/// Reads the text of a `.properties` file; `name` stands for the file in messages. Keys that are not of this library
/// are left alone, as in a file.
FORELOCK_EXPORT int32_t fl_config_parse(const char* text, size_t length, const char* name, fl_config* config);
/// Sets one key, in any spelling of a file. An unknown key is an error.
FORELOCK_EXPORT int32_t fl_config_set(fl_config config, const char* key, const char* value);
/// Sets `count` keys that are checked together, or none.
FORELOCK_EXPORT int32_t fl_config_set_all(fl_config config, const char* const* keys, const char* const* values,
                                          size_t count);
/// The value in force of a key of the contract: durations in milliseconds, sizes in bytes, secrets masked.
FORELOCK_EXPORT int32_t fl_config_get(fl_config config, const char* key, const char** value);
/// Frees it; clients made with it keep their settings.
FORELOCK_EXPORT int32_t fl_config_free(fl_config config);

/// \}
/// \name Client
/// \{

/// Flags of fl_client_open().
enum fl_client_flags {
  /// The library's log lines come as FL_EVENT_LOG; so do those of a dead-letter queue, to the open client with this
  /// flag that has used it last (fl_runner_new(), fl_dlq_accept(), fl_dlq_replay()).
  FL_CLIENT_LOG_EVENTS = 1,
  /// With FL_CLIENT_LOG_EVENTS: besides, at level "debug", the course of each lock: why it waits, by which proof it is
  /// granted, why it is lost; never the contents of a record, an operation or a letter, nor credentials.
  FL_CLIENT_LOG_DEBUG = 2
};

/// Opens a client with its own session; connects in the background. `config` may be 0: the defaults.
FORELOCK_EXPORT int32_t fl_client_open(fl_config config, uint32_t flags, fl_client* client);
/// Waits until a server has accepted the session. FL_CONNECTION_LOSS: not within `timeout_ms`.
FORELOCK_EXPORT int32_t fl_client_wait_connected(fl_client client, int64_t timeout_ms);

/// The state of a client, and counts since it was opened.
typedef struct fl_client_status {
  size_t size;                 ///< sizeof(fl_client_status), set by the caller
  int32_t connected;           ///< 1 while a server is connected
  int64_t session_id;          ///< 0 before the first connection
  int64_t session_timeout_ms;  ///< granted by the server; 0 before the first connection
  uint64_t granted;            ///< locks granted
  uint64_t refused;            ///< acquisitions that ended without a grant
  uint64_t lost;               ///< held locks that were lost
  uint64_t released;           ///< releases confirmed
  uint64_t requests;           ///< requests sent to ZooKeeper
  uint64_t sessions_expired;   ///< sessions that the server ended
  uint64_t disconnections;     ///< connections lost
  uint64_t contenders;         ///< contenders not yet certainly gone from the server
  const char* instance;        ///< `host/pid`
  const char* last_problem;    ///< why the last failed attempt to connect failed; may be empty
  uint64_t taken_again;        ///< acquisitions of a lock that lingered: without a request
  uint64_t lingering;          ///< locks that linger now: no caller holds them
  uint64_t lost_by_reason[4];  ///< of the lost ones, by reason: in the order of fl_loss
  uint64_t retries;            ///< of operations: attempts after the first
  uint64_t retries_exhausted;  ///< operations whose last attempt has failed
} fl_client_status;

/// How many buckets fl_times has: durations up to 1, 2, 5, 10, 20, 50, 100, 200, 500 ms, 1, 2, 5, 10, 30 s, 1, 5, 15
/// min, 1 h, and beyond.
enum fl_times_buckets { FL_TIMES_BUCKETS = 19 };

/// How long the locks of one class were waited for and held, since the client was opened.
typedef struct fl_times {
  size_t size;                       ///< sizeof(fl_times), set by the caller
  int64_t wait_sum_ns;               ///< of all acquisitions that were granted, from their begin
  int64_t hold_sum_ns;               ///< of all locks that callers held, until their release was called or their loss
  uint64_t waits[FL_TIMES_BUCKETS];  ///< how many were in each bucket; those of smaller ones are not in the larger ones
  uint64_t holds[FL_TIMES_BUCKETS];  ///< the same
} fl_times;

/// Fills `times` in with those of a class. \param priority fl_priority.
FORELOCK_EXPORT int32_t fl_client_get_times(fl_client client, int32_t priority, fl_times* times);
/// Fills `status` in; its texts are valid until this thread's next call of it.
FORELOCK_EXPORT int32_t fl_client_get_status(fl_client client, fl_client_status* status);
/// Ends the session as forelock::Client::close does: waiting acquisitions end with FL_CLOSED, held locks are lost. What
/// is in the event queue can still be polled, and operations whose attempts are under way end later. Idempotent.
FORELOCK_EXPORT int32_t fl_client_close(fl_client client);
/// As fl_client_close(), then frees the handle; its locks keep theirs until they are freed. Pollers get FL_CLOSED.
FORELOCK_EXPORT int32_t fl_client_free(fl_client client);

/// \}
/// \name Events
/// \{

/// The kinds of events; the members of fl_event that it fills in beyond `source` and `tag`.
enum fl_event_kind {
  FL_EVENT_ACQUIRED = 1,   ///< an asynchronous acquisition ended: `code`; FL_OK: `value` is the fencing token
  FL_EVENT_RELEASED = 2,   ///< an asynchronous release ended: `code`
  FL_EVENT_LOST = 3,       ///< a held lock was lost: `value` is a fl_loss
  FL_EVENT_DANGER = 4,     ///< a held lock comes close to its end while the connection is silent
  FL_EVENT_QUEUED = 5,     ///< the place in the queue: `value`, 1 is next; `message` is the node before; `hint` is how
                           ///< many milliseconds it will probably still wait, empty if too little is known of that
  FL_EVENT_CONTENDED = 6,  ///< another contender waits behind the holder: `value` is its fl_priority
  FL_EVENT_ATTEMPT = 7,    ///< `source` is a fl_attempt to be worked on; `tag` the operation's; `value` its number
  FL_EVENT_FAILURE = 8,    ///< an attempt failed: `name` its code; `value` 1 if there will be another
  FL_EVENT_OPERATION = 9,  ///< an operation ended: `code`; FL_OK: `value` is a fl_operation_end; `hint` its id,
                           ///< `name` the reason if it is dead-lettered
  FL_EVENT_LOG = 10,       ///< a line of the log: `name` is "error", "warning", "info" or "debug"
  FL_EVENT_DROPPED = 11,   ///< `value` events of the kinds 3 to 6, 8 and 10 were dropped: nothing polled them
  FL_EVENT_LETTER = 12,    ///< a dead letter is replayed: `source` is a fl_attempt to be worked on; `tag` the replay's;
                           ///< `value` how many replays of it have begun before and did not end well
  FL_EVENT_REPLAY = 13     ///< a replay ended: `code`; FL_OK: `value` letters are done
};

/// Why a held lock was lost.
enum fl_loss {
  FL_LOSS_DEADLINE_PASSED = 1,  ///< the session could not be proved alive in time; another client may hold the lock now
  FL_LOSS_SESSION_EXPIRED = 2,  ///< the server has ended the session
  FL_LOSS_REMOVED = 3,          ///< an administrator or unlocker deleted the lock
  FL_LOSS_CLOSED = 4            ///< the client was closed under it
};

/// One event. Its texts are valid until the calling thread's next fl_poll().
typedef struct fl_event {
  int32_t kind;         ///< a fl_event_kind
  int32_t code;         ///< FL_OK or why not
  fl_handle source;     ///< the lock, attempt, operation or replay; it may have been freed since
  uint64_t tag;         ///< the number given with the call that led to it
  int64_t value;        ///< see the kind
  int32_t retryable;    ///< of `code`
  const char* monitor;  ///< the monitor concerned; may be empty
  const char* name;     ///< see the kind; may be empty
  const char* message;  ///< for people; may be empty
  const char* hint;     ///< what to do next; may be empty
} fl_event;

/// Fetches events in order; waits for the first event at most `timeout_ms` (negative: for as long as it
/// takes). Each asynchronous acquisition, release, operation and replay appears exactly once. At most 1,000,000 of
/// these are under way or not yet fetched (FL_OVERLOADED from the call that asks for more), and 65,536 other events.
/// \returns how many of `events` are filled in, 0 after the time; or a negative code: -FL_CLOSED when the client is
/// closed, everything has been fetched, and no operation's end is awaited any more; -FL_INVALID_HANDLE,
/// -FL_INVALID_ARGUMENT; -FL_FORKED in a child of the process that opened the client.
FORELOCK_EXPORT int64_t fl_poll(fl_client client, int64_t timeout_ms, fl_event* events, size_t count);
/// A descriptor for poll(2), epoll and event loops: readable (POLLIN) as long as fl_poll() would return at once, with
/// events or with -FL_CLOSED. Then call `fl_poll(client, 0, …)`; with edge-triggered polling (EPOLLET) repeat it
/// until it returns 0 or an error. Of several threads that wait for it one may find that another has fetched the
/// events: 0. The same descriptor for each call. It belongs to the client: do not read, write or close it, and wait for
/// it no more when you call fl_client_free(); it is closed with the client or its last lock. A child that is forked
/// must not wait for it. FL_OVERLOADED: the process may open no more descriptors. FL_FORKED.
FORELOCK_EXPORT int32_t fl_client_get_fd(fl_client client, int32_t* fd);

/// \}
/// \name Locks
/// \{

/// The two classes of work: a waiting foreground lock always goes before a waiting background one.
enum fl_priority {
  FL_FOREGROUND = 0,  ///< a person waits for it
  FL_BACKGROUND = 1   ///< bulk work
};

/// Values for `timeout_ms` of an acquisition. With 0 it is a single attempt, as fl_lock_try() and fl_set_try().
enum fl_timeout {
  FL_CONFIGURED = -1,  ///< the time-out configured for the lock's class
  FL_FOREVER = -2      ///< no end
};

/// For `queue_max`.
enum fl_limit { FL_UNLIMITED = -1 };

/// Flags of a lock.
enum fl_lock_flags {
  /// It gets no lock that lingers, and does not linger (`zookeeper.lock.linger`): each acquisition has a grant of its
  /// own, with a fencing token that no other section has.
  FL_LOCK_NO_LINGER = 1,
  /// In place of `zookeeper.admission`: an acquisition that would probably wait in vain is refused at once
  /// (FL_LOCK_REFUSED),
  FL_LOCK_ADMISSION_REFUSE = 2,
  /// or it waits all the same. Not both.
  FL_LOCK_ADMISSION_OFF = 4,
  /// A monitor that its acquisition makes stays when it is unused: for a small number that are locked again and again.
  FL_LOCK_KEEP_MONITOR = 8
};

/// Optional parameters of a lock. All 0: none.
typedef struct fl_lock_options {
  size_t size;                   ///< sizeof(fl_lock_options)
  int64_t expected_runtime_ms;   ///< how long the work is expected to take; 0: unknown
  int64_t auto_unlock_after_ms;  ///< in the owner record: an unlocker may release the lock after it; 0: unset
  int32_t capture_stack;         ///< 1: record where the acquisition was called, by native frames
  const char* thread_name;       ///< of the identity `host/pid/thread`; null: the thread's
  uint64_t flags;                ///< fl_lock_flags
  int64_t queue_max;             ///< in place of `zookeeper.queue.max`: refused (FL_LOCK_REFUSED) if that many wait
                                 ///< before it; 0: as configured; FL_UNLIMITED: any number may
} fl_lock_options;

/// Makes a lock object, free. `options` may be null.
FORELOCK_EXPORT int32_t fl_lock_new(fl_client client, const char* lock_info, const char* monitor, int32_t priority,
                                    const fl_lock_options* options, fl_lock* lock);
/// Where the next acquisition of the lock is called, for its owner record: one frame a line, innermost first; in place
/// of what `capture_stack` finds. For hosts whose frames are no native ones. At most 32 lines and 4,096 bytes are kept;
/// those of an acquisition of a lock that has lingered, which writes no record, are dropped. Null: no stack recorded.
FORELOCK_EXPORT int32_t fl_lock_set_stack(fl_lock lock, const char* stack);
/// Obtains the lock; blocks, at most `timeout_ms` (or a fl_timeout). FL_LOCK_TIMEOUT (the message names the holder and
/// its purpose), FL_CANCELLED, …
FORELOCK_EXPORT int32_t fl_lock_acquire(fl_lock lock, int64_t timeout_ms);
/// Obtains the lock if it is free and no other contender waits; does not queue. FL_LOCK_UNAVAILABLE.
FORELOCK_EXPORT int32_t fl_lock_try(fl_lock lock);
/// As fl_lock_acquire(), without blocking: FL_EVENT_ACQUIRED tells the end, if this returns FL_OK. The message of one
/// that timed out does not say who holds the lock, since a look at that blocks: fl_inspect_holder().
FORELOCK_EXPORT int32_t fl_lock_acquire_async(fl_lock lock, int64_t timeout_ms, uint64_t tag);
/// As fl_lock_try(), without blocking.
FORELOCK_EXPORT int32_t fl_lock_try_async(fl_lock lock, uint64_t tag);
/// As fl_lock_acquire(), but blocks for `block_ms` at most. If the acquisition has not ended by then it continues,
/// `*pending` becomes 1, and FL_EVENT_ACQUIRED tells its end; else 0, and there is no event. With 0 it does not block
/// at all: without an event the lock is held, since it has lingered; any other outcome is reported by the event.
/// For hosts whose threads must hear of interruptions, without the price of an event for each acquisition.
FORELOCK_EXPORT int32_t fl_lock_acquire_within(fl_lock lock, int64_t timeout_ms, int64_t block_ms, uint64_t tag,
                                               int32_t* pending);
/// As fl_lock_try(), in the same way.
FORELOCK_EXPORT int32_t fl_lock_try_within(fl_lock lock, int64_t block_ms, uint64_t tag, int32_t* pending);
/// Cancels a waiting acquisition of any thread: it ends with FL_CANCELLED. `was_waiting` (may be null) gets 0 if there
/// was none, or its grant came first.
FORELOCK_EXPORT int32_t fl_lock_cancel(fl_lock lock, int32_t* was_waiting);
/// The same of the acquisition that was begun with this tag: where it has ended, one that another thread has begun on
/// the lock object since is left alone.
FORELOCK_EXPORT int32_t fl_lock_cancel_async(fl_lock lock, uint64_t tag, int32_t* was_waiting);
/// Changes the class: of a lock that waits at once, to the end of its new class's queue and with the same deadline; of
/// one that is free from its next acquisition on. Does not wait for the servers. `changed` (may be null) gets 0 while
/// the lock is held, about to be, or being released: then nothing has changed.
FORELOCK_EXPORT int32_t fl_lock_set_priority(fl_lock lock, int32_t priority, int32_t* changed);
/// Says that `lock` is taken while `outer` is held, from its next acquisition on: where a foreground contender waits
/// for `outer` while `lock` waits in the background, `lock` moves to the foreground's queue, 100 ms after it has begun
/// to wait or later; its class stays. So does, in turn, what its holder waits for inside of it. May be called for
/// several outer locks; one that is not held, or has been freed, does not count. FL_INVALID_ARGUMENT if they are not of
/// one client.
FORELOCK_EXPORT int32_t fl_lock_inside(fl_lock lock, fl_lock outer);
/// Releases the lock and waits for the confirmation, at most about the session time-out. Not held afterwards, whatever
/// it returns: FL_NO_NODE (it was removed before), FL_NOT_HELD, FL_SESSION_EXPIRED, FL_CONNECTION_LOSS.
FORELOCK_EXPORT int32_t fl_lock_release(fl_lock lock);
/// As fl_lock_release(), without blocking: FL_EVENT_RELEASED tells the end, if this returns FL_OK.
FORELOCK_EXPORT int32_t fl_lock_release_async(fl_lock lock, uint64_t tag);
/// Releases the lock without any confirmation; the client makes sure in the background. Nothing if it is not held.
FORELOCK_EXPORT int32_t fl_lock_release_detached(fl_lock lock);
/// Lets the locks that rank before this one go first and takes it again, at most `timeout_ms`; blocks.
/// FL_LOCK_TIMEOUT: not held any more.
FORELOCK_EXPORT int32_t fl_lock_step_aside(fl_lock lock, int64_t timeout_ms);
/// Cancels or releases it without waiting and frees the handle. Completions that are owed still come, as FL_CANCELLED.
FORELOCK_EXPORT int32_t fl_lock_free(fl_lock lock);

/// The events of a lock to be reported besides completions.
enum fl_lock_events {
  FL_ON_LOST = 1,      ///< FL_EVENT_LOST, once for each grant that is lost
  FL_ON_DANGER = 2,    ///< FL_EVENT_DANGER
  FL_ON_QUEUED = 4,    ///< FL_EVENT_QUEUED; costs the server a listing for each change
  FL_ON_CONTENDED = 8  ///< FL_EVENT_CONTENDED; costs a watch, and a listing for each change
};

/// Asks for events with this tag; while the lock is free, or an attempt's has just begun. `events`: fl_lock_events,
/// added. `danger_margin_ms`: for FL_ON_DANGER: more than 0, at most a third of the session time-out.
FORELOCK_EXPORT int32_t fl_lock_watch(fl_handle lock, uint32_t events, int64_t danger_margin_ms, uint64_t tag);

/// \}
/// \name State of a held lock
/// These take the handle of a lock or of an attempt.
/// \{

/// 1 if the lock is certain to be held now (forelock::WriteLock::healthy), else 0, also for an invalid handle. Costs
/// some tens of nanoseconds.
FORELOCK_EXPORT int32_t fl_lock_is_healthy(fl_handle lock);
/// FL_OK if it is healthy, else FL_LOCK_UNHEALTHY with a message.
FORELOCK_EXPORT int32_t fl_lock_check_health(fl_handle lock);
/// The fencing token of the current or last grant; 0 if there was none, or for an invalid handle.
FORELOCK_EXPORT int64_t fl_lock_token(fl_handle lock);
/// The value of the header `X-Forelock-Held`, with which a node of OpenSearch or Elasticsearch that has the plugin does
/// a write under the lock; of a set, for all members: `monitor=token, monitor=token`, monitors percent-encoded. Valid
/// until this thread's next call of this function. FL_INVALID_ARGUMENT if it was never granted.
FORELOCK_EXPORT int32_t fl_lock_held_header(fl_handle lock, const char** header);
/// Until when the lock is certain, on CLOCK_MONOTONIC; 0 if it is not held, or for an invalid handle.
FORELOCK_EXPORT int64_t fl_lock_expires_at_ns(fl_handle lock);
/// How long the lock is certain from now on; 0 if it is not healthy.
FORELOCK_EXPORT int64_t fl_lock_time_left_ns(fl_handle lock);

/// The state of a lock object.
enum fl_lock_state {
  FL_STATE_FREE = 0,     ///< not held, not waiting
  FL_STATE_WAITING = 1,  ///< in the queue
  FL_STATE_HELD = 2,     ///< held, connected
  FL_STATE_SUSPECT = 3,  ///< held, the connection is silent; certain until it expires
  FL_STATE_LOST = 4      ///< no longer held, without having been released
};
/// Its fl_lock_state.
FORELOCK_EXPORT int32_t fl_lock_get_state(fl_handle lock, int32_t* state);

/// The owner record of a holder or waiter. Wall-clock times in milliseconds since 1970; absent: -1.
typedef struct fl_owner {
  const char* lock_info;        ///< why it takes the lock
  const char* instance;         ///< `host/pid/thread`
  const char* guid;             ///< identifies the acquisition
  const char* stack;            ///< where it was called, one frame a line, innermost first; may be empty
  int32_t priority;             ///< a fl_priority
  int64_t enqueued_at_ms;       ///< when it began to wait
  int64_t acquired_at_ms;       ///< holder: when the claim was sent
  int64_t expected_runtime_ms;  ///< how long the holder expects to need
  int64_t alert_at_ms;          ///< when people should look at it
  int64_t auto_unlock_at_ms;    ///< when an unlocker may free it
} fl_owner;

/// The record of the current acquisition.
FORELOCK_EXPORT int32_t fl_lock_owner(fl_handle lock, fl_owner* owner);
/// What that record says besides: how long the lock may stay with its process after a section
/// (`zookeeper.lock.linger`); -1 if it does not.
FORELOCK_EXPORT int32_t fl_lock_get_linger(fl_handle lock, int64_t* linger_ms);
/// The work continues as planned and needs `expected_ms` more. FL_LOCK_UNHEALTHY if the lock is not healthy.
FORELOCK_EXPORT int32_t fl_lock_alive(fl_handle lock, int64_t expected_ms);

/// The operations of a guarded write.
enum fl_write_kind {
  FL_WRITE_CREATE = 1,  ///< creates a persistent node
  FL_WRITE_SET = 2,     ///< replaces its data
  FL_WRITE_DELETE = 3,  ///< deletes it
  FL_WRITE_CHECK = 4    ///< changes nothing; refused if the version differs
};

/// One operation of a guarded write.
typedef struct fl_write {
  int32_t kind;      ///< a fl_write_kind
  int32_t version;   ///< the data version that the node must have; -1: any
  const char* path;  ///< absolute, inside the configured chroot
  const void* data;  ///< for create and set
  size_t length;     ///< of `data`
} fl_write;

/// Commits them together with a check that the lock is still ours, all or none; blocks for a round trip.
/// `versions` gets the new data version for each; may be null. FL_LOCK_UNHEALTHY and FL_WRITE_CONFLICT: nothing
/// was written. FL_CONNECTION_LOSS: the message says whether the outcome is unknown.
FORELOCK_EXPORT int32_t fl_lock_write_guarded(fl_handle lock, const fl_write* writes, size_t count, int32_t* versions);

/// \}

#ifdef __cplusplus
}
#endif

#include "forelock/c_inspector.h"
#include "forelock/c_operation.h"
#include "forelock/c_set.h"
