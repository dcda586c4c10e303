// The inputs and outputs of the lock engine.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/per_priority.h"
#include "base/time_point.h"
#include "coordination/session.h"
#include "forelock/lock_types.h"
#include "forelock/priority.h"
#include "lock/course.h"

namespace forelock::lock {

using base::Duration;
using base::never;
using base::TimePoint;

// Chosen by the driver; unique for the lifetime of an engine.
using ContenderId = std::uint64_t;
// The fencing token: zxid of the granting transaction.
using Token = std::int64_t;

struct EngineOptions {
  base::PerPriority<std::string> prefixes{{"A", "B"}};
  WatchMode watch_mode = WatchMode::parent;
  // How long a lock is held before its nodes are watched: short sections never pay for the watches.
  Duration hold_watch_delay = std::chrono::milliseconds(50);
  // How long the connection may be down before waiting contenders are refused.
  Duration give_up_after = std::chrono::milliseconds(5000);
  // The same for the first connection of all where give_up_after is 0: nothing has been lost yet.
  Duration first_connection = std::chrono::seconds(1);
  // A waiting process looks again after this time even if no watch event came.
  Duration safety_poll = std::chrono::seconds(10);
  // How long a waiting process leaves its own first node unwatched: short waits never pay for the watch.
  Duration node_watch_delay = std::chrono::seconds(1);
  // How many idle monitors are remembered (for the proof by sequence number), and how many bytes of their paths.
  std::size_t remembered_monitors = 4096;
  std::size_t remembered_bytes = 256 * 1024;
  // How many bytes of paths may be watched in all: Debian's client library registers all watches again in one request
  // after a reconnect, which the server refuses above 1 MiB. Beyond it, waiting processes look at intervals instead.
  std::size_t watched_bytes = 768 * 1024;
  // How long the node of a monitor stays after its last use in this process, at least; then it is removed if it is
  // unused. Zero: monitors are containers, which the server removes.
  Duration monitor_linger{0};
  // Whether a monitor that exists, but is not known here, is probably held by another process that keeps its locks
  // (linger/): then its queue is joined at once. Measured in round trips: 4 instead of 5 if it is, 3 instead of 2 if
  // not.
  bool others_linger = false;
  // The length of the chroot, by which paths are longer on the wire than here.
  std::size_t root_bytes = 0;
  // After how long the first contender of the background moves to the end of the foreground's queue (lock/ageing.h).
  // Zero: never.
  Duration background_max_wait{0};
  // Whether explained() is called.
  bool explain = false;
};

// The contenders behind a holder that contended() reports.
enum class ContentionScope {
  none,
  this_process,  // costs nothing
  all            // costs a listing, with a watch, for each change in the queue
};

// Which of a contender's nodes a record is for.
enum class RecordUse {
  waiting,   // its own, in the queue
  moved,     // its own, in the queue of another class than its own
  claiming,  // its own, made together with privateLock, whose record says the rest
  holding    // privateLock
};

// Called when the request that writes it is made. The text contains the guid.
using RecordText = std::function<std::string(RecordUse use, const std::string& guid)>;

struct AcquireSpec {
  std::string monitor;  // node name, encoded: lock/monitor_name.h
  Priority priority = Priority::foreground;
  // Its rank, if that is not its class's.
  std::optional<Priority> rank = {};
  // Identifies this acquisition in the records below; unique in the world.
  std::string guid;
  RecordText record;  // the data of its nodes
  // Refused at this instant if not granted. `never` for none.
  TimePoint deadline = never;
  // One attempt without queueing: refused at once when the lock is held or waited for.
  bool try_once = false;
  // Whether queued() is reported; costs listings.
  bool wants_position = false;
  ContentionScope contention = ContentionScope::none;
  // Refused if that many wait before it; 0: no limit.
  std::size_t queue_max = 0;
  // Refused if it would probably wait beyond its deadline.
  bool refuse_in_vain = false;
  // The monitor's node is not removed, nor made so that others remove it.
  bool keep_monitor = false;
  // How much later than others it watches its nodes as a holder (EngineOptions::hold_watch_delay).
  Duration hold_watch_later{0};
};

struct Grant {
  Token token = 0;
  std::string node;  // name of the contender's own node, e.g. "A-0000000003"
};

enum class RefusalReason {
  timed_out,        // the deadline passed
  unavailable,      // try_once, and the lock is held or waited for
  not_admitted,     // too many wait already: AcquireSpec::queue_max, refuse_in_vain
  cancelled,        // cancel() was called
  connection_lost,  // no connection for EngineOptions::give_up_after, or none at the deadline
  session_expired,  // the session ended while waiting
  rejected,         // the server refused a request for good, see Refusal::code
  closed            // the engine was closed
};

struct Refusal {
  RefusalReason reason = RefusalReason::timed_out;
  coordination::ReplyCode code = coordination::ReplyCode::ok;  // rejected: why
  std::optional<QueuePosition> position = {};                  // the last place known, if it was queued
  base::PerPriority<std::size_t> before = {};  // so many nodes of each rank then, those of holders among them
  std::optional<Duration> wait_left = {};      // how long it would probably have waited from then on
  Duration disconnected{0};                    // how much of its time there was no connection
};

enum class ReleaseOutcome {
  released,        // the server confirmed it
  gone,            // the lock did not exist any more: it was removed by force
  session_expired  // the session ended first, and the lock with it
};

// Receives the engine's decisions. Calls come from inside the engine's methods and must not call back into it.
class EngineOutput {
 public:
  // Requests are to be submitted in the order of these calls, before any later event is handed to the engine.
  virtual void send(coordination::RequestTag tag, coordination::Request request) = 0;

  // A request that its receiver has not passed on is not to be sent any more. True: so it is, and there is no reply.
  virtual bool withdraw(coordination::RequestTag) { return false; }
  // A request under way is no longer wanted: it need not be sent again.
  virtual void unwanted(coordination::RequestTag) {}

  // The contender holds the monitor. Comes again, with a new token, after each step_aside().
  virtual void granted(ContenderId contender, const Grant& grant) = 0;
  // The contender will never be granted; its node, if there is one, is being removed.
  virtual void refused(ContenderId contender, const Refusal& refusal) = 0;
  // The answer to Engine::prove(): the contender still holds.
  virtual void proved(ContenderId) {}
  // A held lock is not held any more, without having been released. Final.
  virtual void lost(ContenderId contender, LossReason reason) = 0;
  // The answer to release(). Final.
  virtual void released(ContenderId contender, ReleaseOutcome outcome) = 0;
  // A waiting contender's place, when first known and when it changes (AcquireSpec::wants_position).
  virtual void queued(ContenderId contender, const QueuePosition& position) = 0;
  // A waiting contender stands in the queue of this class now, at its end: it has aged, or its priority was changed.
  virtual void moved(ContenderId, Priority /*rank*/) {}
  // Another program has changed a waiting contender's owner record. Each version is reported at most once.
  virtual void record_changed(ContenderId, const std::string& /*record*/) {}
  // A contender of this class waits behind the holder: once for each class and grant (AcquireSpec::contention).
  virtual void contended(ContenderId contender, Priority waiting) = 0;
  // Nothing of this contender is left on the server, or its session is gone: always the last call for a contender.
  virtual void forgotten(ContenderId contender) = 0;
  // A sequence number of this monitor has passed 2^30: the counter's end at 2^31-1 comes near.
  virtual void counter_high(const std::string& monitor, std::int64_t number) = 0;
  // The server does not permit the removal of unused monitors: in this session none will be removed.
  virtual void removal_denied() {}
  // A step in the course of a contender, for a log; only with EngineOptions::explain.
  virtual void explained(ContenderId, const CourseNote&) {}

 protected:
  ~EngineOutput() = default;
};

}  // namespace forelock::lock
