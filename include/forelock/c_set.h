/// \file
/// The part of the C interface that takes several monitors as one lock (forelock::LockSet). Included by forelock/c.h,
/// where the conventions are.
#pragma once

#include "forelock/c.h"

#ifdef __cplusplus
extern "C" {
#endif

/// \name Lock sets
/// The functions are those of single locks, for all members at once; their rules about blocking, codes and events are
/// the same. Functions of locks take sets, too, such as fl_lock_owner(), and fl_lock_watch() with FL_ON_QUEUED, whose
/// events name the member that the set waits for; fl_lock_token() of a set is 0, see fl_set_member().
/// \{

typedef fl_handle fl_set;  ///< a lock set: one acquisition at a time

/// Makes a lock set, free. `monitors`: `count` ids in any order, 1 to 1,000; the same id twice counts once. `options`
/// may be null; they count for each member.
FORELOCK_EXPORT int32_t fl_set_new(fl_client client, const char* lock_info, const char* const* monitors, size_t count,
                                   int32_t priority, const fl_lock_options* options, fl_set* set);

/// As fl_lock_set_stack(), for the records of all members.
FORELOCK_EXPORT int32_t fl_set_set_stack(fl_set set, const char* stack);
/// Obtains all members or none; blocks, at most `timeout_ms` (or a fl_timeout). FL_LOCK_TIMEOUT, FL_CANCELLED, …;
/// fl_last_monitor() is the unavailable member. Before a failure is reported, members already taken have been released;
/// where no server answers, that continues in the background.
FORELOCK_EXPORT int32_t fl_set_acquire(fl_set set, int64_t timeout_ms);
/// Obtains the set if every member is free now; does not queue. FL_LOCK_UNAVAILABLE.
FORELOCK_EXPORT int32_t fl_set_try(fl_set set);
/// As fl_set_acquire(), without blocking: FL_EVENT_ACQUIRED tells the end, if this returns FL_OK. Its `value` is 0: see
/// fl_set_member(); its `monitor` is the member that it is about, or the first one.
FORELOCK_EXPORT int32_t fl_set_acquire_async(fl_set set, int64_t timeout_ms, uint64_t tag);
/// As fl_set_try(), without blocking; the end as for fl_set_acquire_async().
FORELOCK_EXPORT int32_t fl_set_try_async(fl_set set, uint64_t tag);
/// As fl_set_acquire(), but blocks for `block_ms` at most. If the acquisition has not ended by then it continues,
/// `*pending` becomes 1, and FL_EVENT_ACQUIRED tells its end; else 0, and there is no event. As
/// fl_lock_acquire_within().
FORELOCK_EXPORT int32_t fl_set_acquire_within(fl_set set, int64_t timeout_ms, int64_t block_ms, uint64_t tag,
                                              int32_t* pending);
/// As fl_set_try(), in the same way.
FORELOCK_EXPORT int32_t fl_set_try_within(fl_set set, int64_t block_ms, uint64_t tag, int32_t* pending);
/// Cancels a waiting acquisition of any thread. `was_waiting` (may be null) gets 0 if there was none, or it was
/// decided.
FORELOCK_EXPORT int32_t fl_set_cancel(fl_set set, int32_t* was_waiting);
/// As fl_lock_cancel_async().
FORELOCK_EXPORT int32_t fl_set_cancel_async(fl_set set, uint64_t tag, int32_t* was_waiting);
/// As fl_lock_set_priority(): the member that the set waits for moves, and those that it takes afterwards contend in
/// the new class.
FORELOCK_EXPORT int32_t fl_set_set_priority(fl_set set, int32_t priority, int32_t* changed);
/// As fl_lock_inside(), of a lock that is taken while a set is held.
FORELOCK_EXPORT int32_t fl_lock_inside_set(fl_lock lock, fl_set outer);
/// As fl_lock_inside(), for the member that the set waits for.
FORELOCK_EXPORT int32_t fl_set_inside(fl_set set, fl_lock outer);
/// As fl_set_inside(), of another set that is held.
FORELOCK_EXPORT int32_t fl_set_inside_set(fl_set set, fl_set outer);
/// Releases every member and waits for the confirmation, at most about the session time-out. As fl_lock_release().
FORELOCK_EXPORT int32_t fl_set_release(fl_set set);
/// As fl_set_release(), without blocking: FL_EVENT_RELEASED tells the end, if this returns FL_OK.
FORELOCK_EXPORT int32_t fl_set_release_async(fl_set set, uint64_t tag);
/// Releases every member without any confirmation. Nothing if the set is not held.
FORELOCK_EXPORT int32_t fl_set_release_detached(fl_set set);
/// Lets the locks that rank before it at any member go first and takes all members again, at most `timeout_ms`; blocks.
/// FL_LOCK_TIMEOUT: none is held any more.
FORELOCK_EXPORT int32_t fl_set_step_aside(fl_set set, int64_t timeout_ms);
/// Cancels or releases it without waiting and frees the handle. Completions that are owed still come, as FL_CANCELLED.
FORELOCK_EXPORT int32_t fl_set_free(fl_set set);

/// Asks for events with this tag, while the set is free. `events`: FL_ON_LOST (once for each grant of which a member is
/// lost), FL_ON_QUEUED, FL_ON_CONTENDED; `monitor` of each event is the member.
FORELOCK_EXPORT int32_t fl_set_watch(fl_set set, uint32_t events, uint64_t tag);

/// Asks for FL_EVENT_DANGER with this tag, while the set is free. `danger_margin_ms`: more than 0, at most a third of
/// the session time-out.
FORELOCK_EXPORT int32_t fl_set_watch_danger(fl_set set, int64_t danger_margin_ms, uint64_t tag);

/// 1 if every member is certain to be held now, else 0, also for an invalid handle. As cheap as for a single lock.
FORELOCK_EXPORT int32_t fl_set_is_healthy(fl_set set);
/// FL_OK if it is healthy, else FL_LOCK_UNHEALTHY; fl_last_monitor() is the member that was lost.
FORELOCK_EXPORT int32_t fl_set_check_health(fl_set set);
/// Until when the set is certain, on CLOCK_MONOTONIC; 0 if it is not held, or for an invalid handle.
FORELOCK_EXPORT int64_t fl_set_expires_at_ns(fl_set set);
/// Its fl_lock_state. FL_STATE_LOST with one member; the others stay held until it is released.
FORELOCK_EXPORT int32_t fl_set_get_state(fl_set set, int32_t* state);
/// How many members it has; 0 for an invalid handle.
FORELOCK_EXPORT size_t fl_set_size(fl_set set);
/// The member at `index`, in the order in which they are taken: its id, valid until this thread's next call of this
/// function, and the fencing token of its current or last grant. Either pointer may be null.
FORELOCK_EXPORT int32_t fl_set_member(fl_set set, size_t index, const char** monitor, int64_t* token);
/// The member in whose queue the set waits at this moment, valid until this thread's next call of this function; empty
/// if it does not wait.
FORELOCK_EXPORT int32_t fl_set_waits_for(fl_set set, const char** monitor);

/// The work continues as planned and needs `expected_ms` more; a request for each member. FL_LOCK_UNHEALTHY if one is
/// not healthy.
FORELOCK_EXPORT int32_t fl_set_alive(fl_set set, int64_t expected_ms);
/// Commits the operations together with checks that every member is still ours, all or none; blocks for a round trip.
/// As fl_lock_write_guarded().
FORELOCK_EXPORT int32_t fl_set_write_guarded(fl_set set, const fl_write* writes, size_t count, int32_t* versions);

/// \}

#ifdef __cplusplus
}
#endif
