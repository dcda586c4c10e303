// What a process does with locks that it keeps without a caller.
#include "checker.h"

namespace forelock::simulation {

void Checker::lingers(std::uint64_t id) {
  Contender& one = at(id);
  if (one.phase != Phase::held) return fail(Invariant::lingering, name(id) + " lingers, but it was not held");
  ++statistics_.lingered;
  one.phase = Phase::lingering;
  one.lingers_since = now();
  std::erase(held_, id);
  lingering_.push_back(id);
  progress();
  timeline_.at(now() + std::max(plan_.linger.time, plan_.linger.delay), *this, linger_due, id);
}

void Checker::taken_again(std::uint64_t id, Priority priority) {
  Contender& one = at(id);
  if (one.phase != Phase::lingering)
    return fail(Invariant::lingering, name(id) + " is handed out, but does not linger");
  if (one.priority != priority) return fail(Invariant::lingering, name(id) + " is handed out to another class");
  // With less than a third of the time-out left a lock is suspect.
  const Instant suspect_from = one.process->valid_until() - Span(plan_.session_timeout) / 3;
  if (one.process->connected_since() > one.lingers_since || now() >= suspect_from) {
    return fail(Invariant::lingering, name(id) + " is handed out although it is not certain");
  }
  if (one.open_writes > 0) {
    return fail(Invariant::guard, name(id) + " is handed out while a guarded write of an earlier section is under way");
  }
  for (std::size_t i = 0; i < contenders_.size(); ++i) {
    const Contender& other = contenders_[i];
    if (other.monitor != one.monitor || other.phase != Phase::waiting) continue;
    // One of another process whose coming has not been told yet may be passed: docs/protocol.md, "Locks that linger".
    const bool known = other.process == one.process || (one.told_of_change && !other.node.empty());
    if (!known) continue;
    return fail(other.priority == one.priority ? Invariant::fifo : Invariant::foreground_first,
                name(id) + " is handed out while " + name(i + 1) + " is known to wait");
  }
  ++statistics_.taken_again;
  one.phase = Phase::held;
  one.granted_at = now();
  std::erase(lingering_, id);
  held_.push_back(id);
  progress();
  timeline_.at(now() + plan_.latest_tick, *this, loss_due, id);
  if (undone_by_hand(one)) expect_news_of_removal(id);
}

void Checker::given_up(std::uint64_t id, bool begun) {
  Contender& one = at(id);
  if (one.phase == Phase::held) return fail(Invariant::lingering, name(id) + " is given up, but a caller holds it");
  if (begun != (one.phase == Phase::lingering)) {
    return fail(Invariant::one_ending, "a release of a kept " + name(id) + (begun ? " begun, not kept" : " refused"));
  }
  if (!begun) return;
  one.phase = Phase::releasing;
  one.told_at_end = one.told;
  std::erase(lingering_, id);
}

// After everything that a process does.
void Checker::check_lingering(const Believer& process) {
  std::size_t number = 0;
  for (const std::uint64_t id : lingering_) {
    const Contender& one = at(id);
    if (one.process != &process) continue;
    ++number;
    if (one.told_of_change) {
      return fail(Invariant::lingering, name(id) + " still lingers although a change in its queue has been told");
    }
  }
  const std::size_t delayed = plan_.linger.delay > Span{} ? linger::LingerMachine::most_delayed : 0;
  const std::size_t most = (plan_.linger.time > Span{} ? plan_.linger.locks : 0) + delayed;
  if (number > most) {
    fail(Invariant::lingering, std::to_string(number) + " locks linger, " + std::to_string(most) + " may");
  }
}

}  // namespace forelock::simulation
