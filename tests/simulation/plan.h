// A schedule as an explicit list of what is going to be attempted: made from a seed, cut down by the shrinker.
#pragma once

#include "coordination/reply_code.h"
#include "forelock/priority.h"
#include "grouping/grouping_session.h"
#include "linger/linger_machine.h"
#include "lock/engine_types.h"
#include "model/random.h"

namespace forelock::simulation {

using model::Instant;
using model::Span;
using std::chrono::microseconds;
using std::chrono::milliseconds;

inline constexpr std::size_t max_monitors = 3;
// The names of the monitors' nodes: one letter each.
inline constexpr std::string_view monitor_names = "PQR";

enum class HandlerEnd { succeeds, fails_for_now, fails_for_good };

// A call that is an operation: tried again when it fails, and given to the dead-letter queue in the end.
struct PlannedOperation {
  std::uint32_t retries = 3;
  Span deadline{};                       // from its beginning; zero: none
  Span stop_after{};                     // zero: never
  std::vector<HandlerEnd> handler_ends;  // by attempt, the last one for all further ones; empty: it succeeds
  bool sink_refuses = false;
  bool begun_anew = false;  // by its caller, under the same id, when its process has been down
};

// One call of a thread and what it does with the lock.
struct PlannedCall {
  Span think{};  // before the call
  std::size_t monitor = 0;
  Priority priority = Priority::foreground;
  Span patience{};      // the deadline, from the call; zero: none
  Span cancel_after{};  // zero: never
  bool try_once = false;
  bool wants_position = false;
  bool wants_contention = false;
  std::size_t queue_max = 0;  // lock::AcquireSpec, as the next one
  bool refuse_in_vain = false;
  Span hold{};
  int step_asides = 0;
  bool updates_record = false;
  Span changes_after{};  // when the caller makes it one of the other class, while it waits; zero: never
  int guarded_writes = 0;
  std::optional<std::size_t> inner;  // a monitor that it locks as well while it holds, for `inner_hold`
  Span inner_after{};                // the grant
  Span inner_patience{};             // until it does without
  Span inner_hold{};
  std::vector<std::size_t> set;               // of monitors, in the caller's order; empty: only `monitor`
  std::optional<PlannedOperation> operation;  // then patience and hold are those of each attempt
};

struct PlannedThread {
  std::size_t process = 0;
  Span start{};
  std::vector<PlannedCall> calls;
  bool polls = false;  // its last call is repeated for as long as other threads have calls before them,
  std::size_t most_polls = std::numeric_limits<std::size_t>::max();  // but not more often than this
};

// A client that follows requirements 001 to the letter.
struct PlannedLiteral {
  Span start{};
  std::size_t monitor = 0;
  Priority priority = Priority::foreground;
  Span hold{};
  int rounds = 1;
  bool own_node_first = true;
  bool to_the_letter = false;  // it does not make the monitor again when that has gone between its steps
};

enum class FaultKind {
  cut,           // the connection goes; what is under way may or may not arrive
  request_lost,  // this request does not reach the server
  reply_lost,    // it is applied, and the connection goes before the reply
  request_late,  // the client has given it up already when it is applied, if it is
  silent_both,   // the connection swallows everything
  silent_up,
  silent_down,
  pings_only,       // the server answers pings, and everything else only afterwards
  pause,            // the process stands still
  crash,            // and is started anew somewhat later
  shutdown,         // in good order
  expiry,           // no connection until the server has ended the session
  refusal,          // the server refuses this request
  false_error,      // it says server_error although it has applied this request
  lag,              // a follower stands still
  cut_off,          // a follower and the leader do not hear of each other
  election,         // the leader goes, and everybody loses the connection until there is another one
  deposed,          // the leader loses its followers without knowing it, and they elect another one
  divided,          // the leader and its followers do not hear each other, and find out in their own time
  wished,           // an operator wishes a waiting contender to be of the other class
  waiter_removed,   // an administrator deletes a waiting contender's node
  holder_removed,   // the holder's own node
  lock_removed,     // the holder's node and privateLock, at once
  member_removed,   // the same, of a member that a set holds while it waits for another one
  private_removed,  // privateLock alone
  monitor_removed,  // the monitor, with everything in it
  foreign_child,    // a child that is nobody's contender
  foreign_monitor,  // another program deletes the monitor, while it is empty, and makes a node of its own in its place
  count_
};

// What somebody does to a monitor.
constexpr bool is_by_hand(FaultKind kind) {
  return kind >= FaultKind::waiter_removed && kind < FaultKind::count_;
}

struct PlannedFault {
  FaultKind kind = FaultKind::cut;
  std::size_t process = 0;
  // The one that it strikes; but a process stands still, crashes or shuts down as a whole.
  // When: at the process's request of this number, or (0) at the instant `at`. A waiter's removal: a
  // moment after the lock has become free for this time, when the next claim is on its way.
  std::uint32_t request = 0;
  Span at{};
  Span duration{};
  int server = -1;  // cut and alike: the server of the next attempt; it stands still meanwhile if `lags`
  bool lags = false;
  std::size_t monitor = 0;
  coordination::ReplyCode code = coordination::ReplyCode::no_auth;
};

struct Plan {
  std::uint64_t seed = 0;
  std::uint64_t luck = 0;  // what the random delays are made of
  std::size_t processes = 3;
  int servers = 3;
  std::size_t monitors = 1;
  milliseconds session_timeout{400};
  bool slow_network = false;
  bool callers_stop_late = false;      // who has lost a set notices at the end of its hold
  Span latest_tick = milliseconds(2);  // how much later than due the driver's timer may come
  bool probes = false;                 // the driver tells of acknowledged requests of its own
  double container_chance = 0.5;
  Span container_life = milliseconds(50);
  // How long a server goes on serving that hears nothing of those it needs.
  Span sync_limit = milliseconds(1000);
  std::vector<int> homes;  // by process: the server it prefers, or -1
  std::array<std::int64_t, max_monitors> first_counter{};
  lock::EngineOptions engine;
  std::vector<bool> ages;  // by process: whether the background does as the engine says
  grouping::GroupingLimits grouping;
  linger::LingerLimits linger;  // of a process
  milliseconds backoff_initial{2};
  milliseconds backoff_cap{20};
  std::uint32_t budget_burst = 10;
  double budget_per_second = 1000;
  bool polled = false;  // some of the threads do
  std::vector<PlannedThread> threads;
  std::vector<PlannedLiteral> literals;
  std::vector<PlannedFault> faults;
};

// The same seed makes the same plan on every machine.
Plan make_plan(std::uint64_t seed);
std::string_view name_of(FaultKind kind);
// For people: one line for each planned thing.
std::string describe(const Plan& plan);

}  // namespace forelock::simulation
