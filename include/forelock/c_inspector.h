/// \file
/// The part of the C interface that looks at a namespace: holders, waiting contenders and their records.
/// Included by forelock/c.h, where the conventions are.
#pragma once

#include "forelock/c.h"

#ifdef __cplusplus
extern "C" {
#endif

/// \name Inspector
/// Reads block for the round trips they need, at most `timeout_ms`. A view is a snapshot; its texts are valid until it
/// is freed.
/// \{

/// One monitor object.
typedef struct fl_monitor {
  size_t size;                  ///< sizeof(fl_monitor), set by the caller
  const char* monitor;          ///< the id, decoded
  const char* path;             ///< its znode; empty in a list
  int32_t held;                 ///< 1 if it is held: then the next seven describe the holder
  int32_t has_owner;            ///< 1 if the holder left a record that can be read
  fl_owner owner;               ///< the record; without one, empty texts and -1
  int32_t holder_priority;      ///< a fl_priority; -1 if unknown
  const char* holder_node;      ///< its contender node; empty if it has none
  int64_t holder_session;       ///< the session that owns `privateLock`
  int64_t holder_token;         ///< its fencing token
  int64_t held_ms;              ///< how long, by wall clocks
  uint64_t waiting;             ///< how many wait
  uint64_t waiting_foreground;  ///< of these, foreground
  uint64_t waiting_background;  ///< of these, background
  /// What the holder's record says besides: how long the lock may stay with its process after a section, or -1. With it
  /// the record is that of the grant's first section: a later one may be under way, or none.
  int64_t linger_ms;
  int64_t oldest_wait_ms;  ///< how long the one has waited that has waited longest; -1 if none waits
} fl_monitor;

/// One waiting contender.
typedef struct fl_waiter {
  size_t size;         ///< sizeof(fl_waiter), set by the caller
  uint64_t position;   ///< 1 is next
  const char* node;    ///< e.g. "B-0000000008"
  const char* behind;  ///< the node it waits for
  int32_t has_owner;   ///< 1 if it left a record that can be read
  fl_owner owner;      ///< the record; without one, empty texts and -1
  int32_t priority;    ///< a fl_priority; -1 if unknown
  int64_t session;     ///< the session that its node belongs to
  int64_t waited_ms;   ///< how long, by wall clocks
  int64_t linger_ms;   ///< what the record says besides: for how long the lock may linger, or -1
} fl_waiter;

/// The monitors that are held or waited for, sorted by id; with `all` the idle ones too.
FORELOCK_EXPORT int32_t fl_inspect_list(fl_client client, int32_t all, int64_t timeout_ms, fl_view* view);
/// One monitor with its queue; an empty view if it does not exist.
FORELOCK_EXPORT int32_t fl_inspect_show(fl_client client, const char* monitor, int64_t timeout_ms, fl_view* view);
/// One monitor's holder alone, by one read, however many wait; without these, `path` and `holder_node`. An empty view
/// if it is not held.
FORELOCK_EXPORT int32_t fl_inspect_holder(fl_client client, const char* monitor, int64_t timeout_ms, fl_view* view);
/// A holder's fencing token, as it was read.
typedef struct fl_holder_token {
  size_t size;     ///< sizeof(fl_holder_token), set by the caller
  int64_t token;   ///< 0: the monitor was not held
  int64_t age_ns;  ///< how long ago it was asked for; -1: it is not known without a request
} fl_holder_token;

/// The fencing token of the holder alone, by one read, or without one: the holder's node is watched from then on, and
/// an answer read at most `max_age_ms` ago is returned again, unless a change, or a new connection, was seen since.
/// With `timeout_ms` 0 there is no request, and no wait. *Not* promised: that the holder is still the same; a server
/// that lags behind or is cut off reports changes late, but an answer is never older than `max_age_ms`.
FORELOCK_EXPORT int32_t fl_inspect_token(fl_client client, const char* monitor, int64_t max_age_ms, int64_t timeout_ms,
                                         fl_holder_token* token);
enum { FL_IDENTITY_SIZE = 64 };  ///< bytes that fl_inspect_identity() writes at most, the end of the text included
/// A text by which two processes find out whether they share one namespace: the same for all clients of it, whichever
/// of its servers they name, and for no other one in the world. Made by the first who asks; lost with the servers'
/// data. `identity` points to FL_IDENTITY_SIZE bytes.
FORELOCK_EXPORT int32_t fl_inspect_identity(fl_client client, int64_t timeout_ms, char* identity);
/// How many monitors are in the view.
FORELOCK_EXPORT int32_t fl_view_count(fl_view view, size_t* count);
/// The monitor with this index, from 0.
FORELOCK_EXPORT int32_t fl_view_monitor(fl_view view, size_t index, fl_monitor* monitor);
/// A waiting contender of the monitor that fl_inspect_show() saw, from 0.
FORELOCK_EXPORT int32_t fl_view_waiter(fl_view view, size_t index, fl_waiter* waiter);
/// A lock set, as far as its nodes tell.
typedef struct fl_seen_set {
  size_t size;              ///< sizeof(fl_seen_set), set by the caller
  const char* id;           ///< of that acquisition of the set
  uint64_t members;         ///< how many members it has
  uint64_t named;           ///< how many of them fl_view_set_member() tells: its records name the first ones alone
  uint64_t held;            ///< how many it holds, of those that are not named too
  const char* waits_for;    ///< the member in whose queue it waits; empty if it waits in none
  int32_t behind_holder;    ///< 1 if that one is held: then the next ones describe its holder
  int32_t has_owner;        ///< 1 if that holder left a record that can be read
  fl_owner owner;           ///< the record; without one, empty texts and -1
  int32_t holder_priority;  ///< a fl_priority; -1 if unknown
  const char* holder_node;  ///< its contender node; empty if it has none
  int64_t holder_session;   ///< the session that owns its `privateLock`
  int64_t holder_token;     ///< its fencing token
  int64_t held_ms;          ///< how long, by wall clocks
  int64_t linger_ms;        ///< what the record says besides: for how long the lock may linger, or -1
} fl_seen_set;

/// The lock set to which a contender belongs that a view of one monitor shows: the holder (`waiter` -1), or the waiting
/// one with that index. Reads its members, or all monitors where its record does not name them all. `set` gets a view,
/// or 0 if the contender belongs to no set, or left no record.
FORELOCK_EXPORT int32_t fl_inspect_set(fl_client client, fl_view view, int64_t waiter, int64_t timeout_ms,
                                       fl_view* set);
/// The set that fl_inspect_set() saw.
FORELOCK_EXPORT int32_t fl_view_set(fl_view view, fl_seen_set* set);
/// A named member of that set, from 0, in the order in which they are taken: its id, and 1 if the set holds it. Either
/// pointer may be null.
FORELOCK_EXPORT int32_t fl_view_set_member(fl_view view, size_t index, const char** monitor, int32_t* held);
/// Frees it.
FORELOCK_EXPORT int32_t fl_view_free(fl_view view);

/// The result of fl_inspect_force_release().
enum fl_force_release {
  FL_FORCE_RELEASED = 0,        ///< the holder's nodes are gone
  FL_FORCE_HOLDER_CHANGED = 1,  ///< another contender holds it now, or none: nothing was done
  FL_FORCE_NO_SUCH_MONITOR = 2  ///< the monitor does not exist
};

/// Removes a holder, if `holder` (its node, or its session as "0x…", with "@" and its token behind it) still is the
/// holder. Writes; meant for people and unlockers. `result` gets a fl_force_release.
FORELOCK_EXPORT int32_t fl_inspect_force_release(fl_client client, const char* monitor, const char* holder,
                                                 int64_t timeout_ms, int32_t* result);

/// \}

#ifdef __cplusplus
}
#endif
