#include "plan_additions.h"

namespace forelock::simulation {
namespace {

using model::Random;

// Background contenders that age, callers that change their minds, and now and then a foreground that never ends. From
// numbers of its own; a third of the schedules stay what they were without.
void add_moves(Plan& plan) {
  if (plan.seed % 3 == 0) return;
  Random random(plan.seed * 0xd6e8feb86659fd93ULL + 0x1b873593);
  if (random.chance(0.3)) {
    const double changing = random.chance(0.5) ? 0.1 : 0.5;
    for (PlannedThread& thread : plan.threads) {
      for (PlannedCall& call : thread.calls) {
        if (call.operation || call.try_once || !random.chance(changing)) continue;
        call.changes_after = random.between(microseconds(100), milliseconds(20));
      }
    }
  }
  if (!random.chance(0.35)) return;
  plan.engine.background_max_wait = random.between(milliseconds(20), milliseconds(250));
  const bool flood = random.chance(0.4) && plan.literals.empty() && plan.first_counter[0] == 0;
  for (std::size_t i = 0; i < plan.processes; ++i) plan.ages.push_back(flood || random.chance(0.75));
  if (!flood) return;
  plan.polled = true;
  const std::size_t monitor = random.below(plan.monitors);
  for (int count = random.between(2, 3); count > 0; --count) {
    PlannedThread thread;
    thread.process = random.below(plan.processes);
    thread.start = random.between(Span{}, milliseconds(40));
    thread.polls = true;
    thread.most_polls = 300;  // whoever starves is seen long before
    PlannedCall call;
    call.think = random.between(microseconds(10), milliseconds(1));
    call.monitor = monitor;
    call.hold = random.between(milliseconds(1), milliseconds(12));
    thread.calls.push_back(call);
    plan.threads.push_back(std::move(thread));
  }
}

// Callers that do not wait behind many, or in vain. From numbers of its own, in a few of the schedules.
void add_limits(Plan& plan) {
  if (plan.seed % 15 != 7) return;
  Random random(plan.seed * 0x9e3779b97f4a7c15ULL + 0x2545f491);
  const double limited = random.chance(0.5) ? 0.3 : 1;
  for (PlannedThread& thread : plan.threads) {
    for (PlannedCall& call : thread.calls) {
      if (!random.chance(limited)) continue;
      call.queue_max = random.chance(0.7) ? random.below(3) : 0;
      call.refuse_in_vain = random.chance(0.5);
    }
  }
}

// So many watches that they have to be spared, and room for those that are needed. In a few of the schedules.
void spare_watches(Plan& plan) {
  if (plan.seed % 18 != 4) return;
  Random random(plan.seed * 0x9e3779b97f4a7c15ULL + 0x5851f42d);
  plan.engine.watched_bytes = 80 + random.below(400);
  plan.engine.safety_poll = milliseconds(random.between(20, 400));
}

// Somebody of the foreground waits for what a background contender holds, which waits for what another one holds.
void add_inversion(Random& random, Plan& plan) {
  const auto add = [&plan](std::size_t process, Span start, PlannedCall call) {
    PlannedThread thread;
    thread.process = process;
    thread.start = start;
    thread.calls.push_back(std::move(call));
    plan.threads.push_back(std::move(thread));
  };
  PlannedCall in_the_way;
  in_the_way.monitor = 1;
  in_the_way.hold = random.between(milliseconds(300), milliseconds(900));
  add(0, Span{}, in_the_way);
  PlannedCall nested;
  nested.monitor = 0;
  nested.priority = Priority::background;
  nested.hold = milliseconds(1200);
  nested.inner = 1;
  nested.inner_patience = milliseconds(1200);
  nested.inner_hold = milliseconds(1);
  nested.wants_contention = random.chance(0.3);
  add(plan.processes - 1, random.between(Span{}, milliseconds(30)), nested);
  PlannedCall waits;
  waits.monitor = 0;
  waits.hold = milliseconds(1);
  add(random.chance(0.7) ? 0 : plan.processes - 1, random.between(milliseconds(10), milliseconds(80)), waits);
}

// Callers that lock a second monitor while they hold the first one, in the order of the monitors. In a few of the
// schedules, from numbers of its own.
void add_nesting(Plan& plan) {
  if (plan.seed % 7 != 3 || plan.monitors < 2) return;
  Random random(plan.seed * 0x9e3779b97f4a7c15ULL + 0x14057b7e);
  if (random.chance(0.4)) return add_inversion(random, plan);
  const double nested = random.chance(0.5) ? 0.15 : 0.6;
  for (PlannedThread& thread : plan.threads) {
    if (thread.polls) continue;
    for (PlannedCall& call : thread.calls) {
      // Somebody waits behind it, long enough to move.
      if (random.chance(0.5)) call.hold = random.between(milliseconds(2), milliseconds(150));
      if (random.chance(0.5)) call.patience = Span{};
      const bool single = call.set.empty() && !call.operation;
      if (!single || call.monitor + 1 >= plan.monitors || !random.chance(nested)) continue;
      call.inner = call.monitor + 1 + random.below(plan.monitors - call.monitor - 1);
      call.hold = random.between(milliseconds(5), milliseconds(700));
      call.wants_contention = random.chance(0.5);
      call.inner_after = random.chance(0.3) ? Span{} : random.between(Span{}, call.hold / 2);
      call.inner_patience = random.between(milliseconds(5), milliseconds(900));
      call.inner_hold = random.between(Span{}, milliseconds(20));
      if (random.chance(0.8)) call.priority = Priority::background;
    }
  }
}

// Operators who wish waiting contenders to be of another class, where some wait for long enough. From numbers of its
// own, in a few of the schedules.
void add_wishes(Plan& plan) {
  if (plan.seed % 15 != 11) return;
  Random random(plan.seed * 0xa0761d6478bd642fULL + 0x2545f491);
  plan.engine.node_watch_delay = random.between(milliseconds(1), milliseconds(40));
  for (PlannedThread& thread : plan.threads) {
    for (PlannedCall& call : thread.calls) {
      if (random.chance(0.15)) call.hold = random.between(milliseconds(30), milliseconds(300));
    }
  }
  for (int count = random.between(2, 8); count > 0; --count) {
    PlannedFault fault;
    fault.kind = FaultKind::wished;
    fault.at = random.between(milliseconds(1), milliseconds(400));
    fault.monitor = random.below(plan.monitors);
    plan.faults.push_back(fault);
  }
}

}  // namespace

void add_from_own_numbers(Plan& plan) {
  add_moves(plan);
  add_limits(plan);
  spare_watches(plan);
  add_nesting(plan);
  add_wishes(plan);
}

}  // namespace forelock::simulation
