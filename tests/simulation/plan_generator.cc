
#include "plan.h"
#include "plan_additions.h"

namespace forelock::simulation {
namespace {

using model::Random;

// Mostly short, so that things collide; sometimes long enough for watches, sometimes for a session's end.
Span some_hold(Random& random) {
  const auto kind = random.below(20);
  if (kind < 6) return random.between(Span{}, microseconds(500));
  if (kind < 15) return random.between(microseconds(500), milliseconds(15));
  if (kind < 19) return random.between(milliseconds(15), milliseconds(100));
  return random.between(milliseconds(100), milliseconds(700));
}

Span some_think(Random& random) {
  const auto kind = random.below(10);
  if (kind < 5) return random.between(Span{}, milliseconds(1));
  if (kind < 9) return random.between(milliseconds(1), milliseconds(20));
  return random.between(milliseconds(20), milliseconds(200));
}

PlannedCall some_call(Random& random, const Plan& plan, double background) {
  PlannedCall call;
  call.think = some_think(random);
  call.monitor = random.below(plan.monitors);
  call.priority = random.chance(background) ? Priority::background : Priority::foreground;
  const auto patience = random.below(10);
  if (patience < 3) call.patience = random.between(milliseconds(1), milliseconds(30));
  if (patience == 3) call.patience = random.between(milliseconds(30), milliseconds(500));
  call.try_once = random.chance(0.08);
  if (random.chance(0.07)) call.cancel_after = random.between(microseconds(100), milliseconds(20));
  call.wants_position = random.chance(0.1);
  call.wants_contention = random.chance(0.1);
  call.hold = some_hold(random);
  if (random.chance(0.08)) call.step_asides = random.between(1, 2);
  call.updates_record = random.chance(0.05);
  if (random.chance(0.15)) call.guarded_writes = random.between(1, 3);
  return call;
}

void add_threads(Random& random, Plan& plan) {
  const int total = random.between(12, 45);
  const double background = std::array{0.0, 0.3, 0.5, 0.5, 0.8, 1.0}[random.below(6)];
  const auto threads = plan.processes + random.below(plan.processes * 3);
  for (std::size_t i = 0; i < threads; ++i) {
    PlannedThread thread;
    thread.process = i % plan.processes;
    thread.start = random.between(Span{}, milliseconds(40));
    const int calls = std::max(1, total / static_cast<int>(threads) + random.between(-1, 1));
    for (int k = 0; k < calls; ++k) thread.calls.push_back(some_call(random, plan, background));
    plan.threads.push_back(std::move(thread));
  }
}

// Everybody at once, then nobody for a while: monitors vanish and are made anew, and counters begin again.
void make_bursts(Random& random, Plan& plan) {
  const Span period = random.between(milliseconds(8), milliseconds(40));
  plan.container_chance = 1.0;
  plan.container_life = random.between(Span{}, milliseconds(4));
  for (PlannedThread& thread : plan.threads) {
    thread.start = random.between(Span{}, milliseconds(2)) + period * random.between(0, 2);
    for (PlannedCall& call : thread.calls) {
      call.hold = random.between(Span{}, milliseconds(2));
      call.think = random.chance(0.4) ? random.between(Span{}, microseconds(300))
                                      : period - random.between(Span{}, milliseconds(5));
    }
  }
}

// Long holds at servers that lose each other for as long as a session lasts: nothing goes wrong but the knowledge of
// when a session ends.
void isolate(Random& random, Plan& plan) {
  const Span timeout = plan.session_timeout;
  plan.servers = 3;
  for (int& home : plan.homes) {
    if (random.chance(0.5)) home = 0;
  }
  for (PlannedThread& thread : plan.threads) {
    for (PlannedCall& call : thread.calls) {
      if (random.chance(0.5)) call.hold = random.between(Span{}, timeout * 3 / 2);
      call.wants_contention = random.chance(0.5);
    }
  }
  for (int count = random.between(1, 3); count > 0; --count) {
    PlannedFault fault;
    static constexpr std::array kinds = {FaultKind::cut_off, FaultKind::cut_off, FaultKind::pause,   FaultKind::deposed,
                                         FaultKind::deposed, FaultKind::divided, FaultKind::election};
    fault.kind = kinds[random.below(kinds.size())];
    fault.process = random.below(plan.processes);
    fault.at = random.between(Span{}, timeout * 2);
    fault.duration = random.between(timeout * 3 / 4, timeout * 3);
    fault.server = random.between(1, 2);
    plan.faults.push_back(fault);
  }
}

// Long holds at a leader that is deposed: it answers what takes no majority, and takes back those who reconnect.
void depose_holders(Random& random, Plan& plan) {
  const Span timeout = plan.session_timeout;
  plan.servers = 3;
  plan.probes = random.chance(0.7);
  plan.sync_limit = random.between(timeout, timeout * 3);
  for (int& home : plan.homes) {
    if (random.chance(0.7)) home = 0;
  }
  for (PlannedThread& thread : plan.threads) {
    for (PlannedCall& call : thread.calls) {
      if (random.chance(0.3)) call.hold = random.between(timeout, timeout * 5 / 2);
    }
  }
  PlannedFault deposed;
  deposed.kind = random.chance(0.8) ? FaultKind::deposed : FaultKind::divided;
  deposed.at = random.between(Span{}, timeout * 3 / 2);
  deposed.duration = random.between(timeout, timeout * 3);
  plan.faults.push_back(deposed);
  for (std::size_t i = 0; i < plan.processes; ++i) {
    if (!random.chance(0.6)) continue;
    PlannedFault cut;
    cut.process = i;
    cut.at = deposed.at + random.between(Span{}, timeout / 4);
    cut.duration = random.between(Span{}, milliseconds(20));
    cut.server = 0;
    plan.faults.push_back(cut);
  }
}

void add_literals(Random& random, Plan& plan) {
  if (!random.chance(0.3)) return;
  Random letters(plan.seed * 0x94d049bb133111ebULL + 7);  // of its own: the other draws stay what they are
  const int count = random.between(1, 2);
  for (int i = 0; i < count; ++i) {
    PlannedLiteral literal;
    literal.start = random.between(Span{}, milliseconds(100));
    literal.monitor = random.below(plan.monitors);
    literal.priority = random.chance(0.5) ? Priority::background : Priority::foreground;
    literal.hold = some_hold(random);
    literal.rounds = random.between(1, 4);
    literal.own_node_first = random.chance(0.5);
    literal.to_the_letter = letters.chance(0.5);
    plan.literals.push_back(literal);
  }
}

FaultKind some_kind(Random& random) {
  static constexpr std::array kinds = {
      FaultKind::cut,          FaultKind::cut,          FaultKind::request_lost, FaultKind::request_lost,
      FaultKind::reply_lost,   FaultKind::reply_lost,   FaultKind::reply_lost,   FaultKind::reply_lost,
      FaultKind::request_late, FaultKind::request_late, FaultKind::request_late, FaultKind::silent_both,
      FaultKind::silent_up,    FaultKind::silent_up,    FaultKind::silent_down,  FaultKind::pings_only,
      FaultKind::pause,        FaultKind::pause,        FaultKind::pause,        FaultKind::crash,
      FaultKind::shutdown,     FaultKind::expiry,       FaultKind::expiry,       FaultKind::refusal,
      FaultKind::false_error,  FaultKind::lag,          FaultKind::cut_off,      FaultKind::foreign_child,
      FaultKind::election,     FaultKind::deposed,      FaultKind::divided};
  return kinds[random.below(kinds.size())];
}

Span some_duration(Random& random, const Plan& plan) {
  const auto kind = random.below(10);
  if (kind < 4) return random.between(Span{}, milliseconds(30));
  if (kind < 7) return random.between(milliseconds(10), Span(plan.session_timeout) / 2);
  return random.between(Span(plan.session_timeout) / 2, Span(plan.session_timeout) * 5 / 2);
}

void add_faults(Random& random, Plan& plan) {
  const int count = random.chance(0.15) ? 0 : random.between(1, 6);
  for (int i = 0; i < count; ++i) {
    PlannedFault fault;
    fault.kind = some_kind(random);
    fault.process = random.below(plan.processes);
    fault.at = random.between(Span{}, milliseconds(300));
    if (random.chance(0.7)) fault.request = static_cast<std::uint32_t>(random.between(1, 60));
    if (fault.kind == FaultKind::request_lost || fault.kind == FaultKind::reply_lost ||
        fault.kind == FaultKind::request_late || fault.kind == FaultKind::refusal ||
        fault.kind == FaultKind::false_error) {
      fault.request = static_cast<std::uint32_t>(random.between(1, 60));
    }
    fault.duration = some_duration(random, plan);
    if (random.chance(0.5)) {
      fault.server = static_cast<int>(random.below(static_cast<std::size_t>(plan.servers)));
      fault.lags = random.chance(0.7);
    }
    if (fault.kind == FaultKind::lag || fault.kind == FaultKind::cut_off)
      fault.server = random.between(1, std::max(1, plan.servers - 1));
    fault.monitor = random.below(plan.monitors);
    // A counter at its end starts anew with the monitor, which somebody else's child keeps alive for ever.
    if (fault.kind == FaultKind::foreign_child && plan.first_counter[fault.monitor] > 0) fault.kind = FaultKind::cut;
    static constexpr std::array codes = {coordination::ReplyCode::no_auth, coordination::ReplyCode::quota_exceeded,
                                         coordination::ReplyCode::server_error, coordination::ReplyCode::throttled};
    fault.code = codes[random.below(codes.size())];
    plan.faults.push_back(fault);
  }
  // Two outages in a row, each of which may be too long for those who wait.
  if (random.chance(0.05)) {
    PlannedFault outage;
    outage.process = random.below(plan.processes);
    outage.duration = 2 * (plan.engine.give_up_after + random.between(Span{}, milliseconds(40)));
    for (Span at = random.between(Span{}, milliseconds(60)); at < outage.duration;
         at += outage.duration / 2 + random.between(milliseconds(25), milliseconds(80))) {
      outage.at = at;
      plan.faults.push_back(outage);
    }
  }
  // An administrator acts once on a monitor at most.
  for (std::size_t monitor = 0; monitor < plan.monitors; ++monitor) {
    // At its end a counter gives the same name twice: deletions by hand are not safe there, and not judged.
    if (!random.chance(0.2) || plan.first_counter[monitor] > 0) continue;
    PlannedFault fault;
    const auto kind = random.below(20);
    fault.kind = kind < 5    ? FaultKind::waiter_removed
                 : kind < 10 ? FaultKind::holder_removed
                 : kind < 15 ? FaultKind::lock_removed
                 : kind < 18 ? FaultKind::monitor_removed
                             : FaultKind::private_removed;
    fault.at = random.between(milliseconds(1), milliseconds(300));
    if (fault.kind == FaultKind::waiter_removed && random.chance(0.7)) {
      fault.request = static_cast<std::uint32_t>(random.between(1, 6));
    }
    fault.duration = Span{};
    fault.monitor = monitor;
    plan.faults.push_back(fault);
  }
}

// Calls become operations, whose handlers fail now and then.
void add_operations(Random& random, Plan& plan) {
  if (!random.chance(0.4)) return;
  plan.backoff_initial = milliseconds(random.between(1, 5));
  plan.backoff_cap = milliseconds(random.between(5, 40));
  plan.budget_burst = static_cast<std::uint32_t>(random.between(1, 10));
  plan.budget_per_second = random.between(100, 2000);
  const double failing = std::array{0.0, 0.2, 0.6}[random.below(3)];
  for (PlannedThread& thread : plan.threads) {
    for (PlannedCall& call : thread.calls) {
      if (!random.chance(0.5)) continue;
      PlannedOperation operation;
      operation.retries = static_cast<std::uint32_t>(random.between(0, 3));
      if (random.chance(0.2)) operation.deadline = random.between(milliseconds(1), milliseconds(150));
      if (random.chance(0.15)) operation.stop_after = random.between(microseconds(100), milliseconds(60));
      const int ends = random.between(1, 4);
      for (int i = 0; i < ends; ++i) {
        operation.handler_ends.push_back(!random.chance(failing) ? HandlerEnd::succeeds
                                         : random.chance(0.8)    ? HandlerEnd::fails_for_now
                                                                 : HandlerEnd::fails_for_good);
      }
      operation.sink_refuses = random.chance(0.2);
      operation.begun_anew = random.chance(0.5);
      call.operation = std::move(operation);
      call.step_asides = 0;
      call.cancel_after = {};
    }
  }
}

// Several monitors at once, named in any order.
void add_sets(Random& random, Plan& plan) {
  if (plan.monitors < 2) return;
  const double sets = random.chance(0.5) ? 0.9 : 0.4;
  for (PlannedThread& thread : plan.threads) {
    for (PlannedCall& call : thread.calls) {
      if (call.operation || !random.chance(sets)) continue;
      for (std::size_t i = 0; i < plan.monitors; ++i) call.set.push_back(i);
      for (std::size_t i = plan.monitors - 1; i > 0; --i) std::swap(call.set[i], call.set[random.below(i + 1)]);
      if (plan.monitors > 2 && random.chance(0.5)) call.set.pop_back();
      if (random.chance(0.1)) call.set.push_back(call.set.front());
      call.updates_record = false;
      call.guarded_writes = 0;
    }
  }
}

// An administrator takes a member away from a set that waits for another one. From numbers of its own: what else is
// planned stays what it was.
void rob_waiting_sets(Plan& plan) {
  Random random(plan.seed * 0xbf58476d1ce4e5b9ULL + 0x94d049bb);
  if (plan.monitors < 2 || !random.chance(0.5)) return;
  PlannedFault fault;
  fault.kind = FaultKind::member_removed;
  fault.monitor = random.below(plan.monitors - 1);  // the last one is kept by none
  fault.at = random.between(milliseconds(1), milliseconds(150));
  const bool counted = plan.first_counter[fault.monitor] > 0;
  const bool struck = std::any_of(plan.faults.begin(), plan.faults.end(), [&fault](const PlannedFault& other) {
    return is_by_hand(other.kind) && other.monitor == fault.monitor;
  });
  if (!counted && !struck) plan.faults.push_back(fault);
}

// From numbers of its own: schedules without it stay what they were.
void add_foreign_monitors(Plan& plan) {
  Random random(plan.seed * 0xc2b2ae3d27d4eb4fULL + 0x165667b1);
  if (plan.engine.monitor_linger == Span{} || !random.chance(0.3)) return;
  for (std::size_t monitor = 0; monitor < plan.monitors; ++monitor) {
    // A counter at its end starts anew with the monitor: it is renewed whoever has made it.
    if (plan.first_counter[monitor] > 0) continue;
    PlannedFault fault;
    fault.kind = FaultKind::foreign_monitor;
    fault.at = random.between(milliseconds(1), milliseconds(400));
    fault.monitor = monitor;
    plan.faults.push_back(fault);
  }
}

// Threads that ask again as soon as they have been refused, for as long as there is anybody else.
void add_pollers(Plan& plan) {
  Random random(plan.seed * 0xff51afd7ed558ccdULL + 0x27d4eb2f);
  if (!random.chance(0.1)) return;
  for (int count = random.between(1, 3); count > 0; --count) {
    PlannedThread poller;
    poller.process = random.below(plan.processes);
    poller.start = random.between(Span{}, milliseconds(40));
    poller.polls = true;
    PlannedCall call;
    call.think = random.between(microseconds(50), milliseconds(2));
    call.monitor = random.below(plan.monitors);
    call.priority = random.chance(0.5) ? Priority::background : Priority::foreground;
    call.try_once = true;
    call.hold = random.between(Span{}, milliseconds(2));
    // At its end a counter stands still until the monitor is empty, which it need never be then.
    if (plan.first_counter[call.monitor] > 0) continue;
    poller.calls.push_back(call);
    plan.threads.push_back(std::move(poller));
    plan.polled = true;
  }
}

// From numbers of its own, too.
void let_locks_linger(Plan& plan) {
  Random random(plan.seed * 0x9fb21c651e98df25ULL + 0x2545f491);
  Random delays(plan.seed * 0xd1342543de82ef95ULL + 0x9e3779b9);
  if (delays.chance(0.2)) plan.linger.delay = delays.between(milliseconds(1), milliseconds(20));
  if (!random.chance(0.3)) return;
  plan.linger.time = random.chance(0.5) ? random.between(milliseconds(1), milliseconds(20))
                                        : random.between(milliseconds(20), milliseconds(400));
  if (random.chance(0.5)) plan.linger.locks = 1;
  plan.linger.wanted = random.chance(0.5) ? 0 : 1 + random.below(3);
  plan.engine.others_linger = random.chance(0.5);
  plan.linger.reused = random.chance(0.25);
}

}  // namespace

Plan make_plan(std::uint64_t seed) {
  Random random(seed * 0x2545f4914f6cdd1dULL + 0x9e3779b9);
  Random lingering(seed * 0x9e3779b97f4a7c15ULL + 15);  // of its own: the other draws stay what they are
  Plan plan;
  plan.seed = seed;
  plan.luck = random.next();
  plan.processes = static_cast<std::size_t>(random.between(1, 4));
  plan.servers = random.between(1, 3);
  plan.monitors = random.chance(0.6) ? 1 : static_cast<std::size_t>(random.between(2, 3));
  plan.session_timeout = milliseconds(random.between(150, 600));
  plan.slow_network = random.chance(0.3);
  if (random.chance(0.15)) plan.latest_tick = random.between(milliseconds(2), milliseconds(60));
  plan.sync_limit = random.between(Span(plan.session_timeout) / 2, Span(plan.session_timeout) * 3);
  for (std::size_t i = 0; i < plan.processes; ++i) {
    plan.homes.push_back(random.chance(0.5) ? -1 : random.between(0, plan.servers - 1));
  }
  plan.callers_stop_late = random.chance(0.5);
  plan.probes = random.chance(0.3);
  plan.container_chance = std::array{0.0, 0.3, 1.0}[random.below(3)];
  if (random.chance(0.04)) {
    static constexpr std::int64_t alarm = std::int64_t{1} << 30;
    static constexpr std::int64_t end = 2147483647;
    plan.first_counter[0] = random.chance(0.5) ? alarm - random.between(0, 10) : end - random.between(0, 12);
  }
  plan.engine.watch_mode = random.chance(0.5) ? WatchMode::parent : WatchMode::predecessor;
  plan.engine.hold_watch_delay = random.chance(0.5) ? milliseconds(50) : milliseconds(2);
  plan.engine.give_up_after = milliseconds(random.between(100, 2000));
  plan.engine.safety_poll =
      random.chance(0.8) ? Span(std::chrono::hours(24)) : Span(milliseconds(random.between(20, 400)));
  plan.engine.remembered_monitors = random.chance(0.7) ? 4096 : random.below(3);
  if (random.chance(0.1)) plan.engine.remembered_bytes = random.below(6);
  if (random.chance(0.1)) {
    // Without room for a watch some things come to light only when they are looked for.
    plan.engine.watched_bytes = random.below(80);
    plan.engine.safety_poll = milliseconds(random.between(20, 400));
  }
  if (lingering.chance(0.5)) plan.engine.monitor_linger = lingering.between(milliseconds(1), milliseconds(40));
  plan.grouping.at_once = random.chance(0.7) ? 0 : random.below(4);
  plan.grouping.under_way = random.chance(0.8) ? 1 : 2;
  if (random.chance(0.3)) plan.grouping.operations = 3 + random.below(7);
  plan.engine.node_watch_delay = random.between(milliseconds(5), milliseconds(200));
  add_threads(random, plan);
  const bool bursts = random.chance(0.2);
  if (bursts) make_bursts(random, plan);
  const auto profile = random.below(10);
  if (!bursts && profile == 0) isolate(random, plan);
  if (!bursts && profile == 1) depose_holders(random, plan);
  add_literals(random, plan);
  add_faults(random, plan);
  // What one session has learned of a monitor must not be believed in the next.
  for (std::size_t i = 0; bursts && i < plan.processes; ++i) {
    if (!random.chance(0.3)) continue;
    PlannedFault expiry;
    expiry.kind = FaultKind::expiry;
    expiry.process = i;
    expiry.request = static_cast<std::uint32_t>(random.between(5, 40));
    plan.faults.push_back(expiry);
  }
  if (!bursts) add_operations(random, plan);  // they would pull the bursts apart
  if (seed % 2 == 0) {                        // half of the schedules stay what they were without
    add_sets(random, plan);
    rob_waiting_sets(plan);
  }
  let_locks_linger(plan);
  add_foreign_monitors(plan);
  add_pollers(plan);
  add_from_own_numbers(plan);
  return plan;
}

}  // namespace forelock::simulation
