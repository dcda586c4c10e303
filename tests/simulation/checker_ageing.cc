// The first contender of the background moves to the end of the foreground's queue when it has waited for its time, and
// no earlier (lock/ageing.h).
#include "checker.h"

namespace forelock::simulation {
namespace {

// Who moves has seen the queue as it was a moment ago: the way of what a follower shows.
constexpr auto fast_slack = milliseconds(20);
constexpr auto slow_slack = milliseconds(80);
// A move that is refused, looks at intervals for want of watches, a resolving, and the way there and back.
constexpr auto longest_delay = milliseconds(1000);

}  // namespace

// Where followers stand still, or a leader goes on that is none, nobody can know how old is what they show.
bool Checker::ageing_judged(std::size_t index) const {
  const bool out_of_date = std::any_of(plan_.faults.begin(), plan_.faults.end(), [](const PlannedFault& fault) {
    using enum FaultKind;
    return fault.lags || fault.kind == lag || fault.kind == cut_off || fault.kind == election ||
           fault.kind == deposed || fault.kind == divided;
  });
  const Monitor& monitor = monitors_[index];
  return !out_of_date && !monitor.undecidable && !monitor.foreign && plan_.first_counter[index] == 0;
}

void Checker::left_queue(const Contender& contender) {
  for (const std::uint64_t other : monitors_[contender.monitor].nodes) {
    Contender& behind = at(other);
    if (behind.rank == contender.rank && behind.number > contender.number) behind.left_before.push_back(now());
  }
}

// Whether there was an instant at which somebody could see that its time was over: so many were before it, and had been
// for one period more than that.
void Checker::moved(std::uint64_t id, const Contender& former) {
  const Contender& one = at(id);
  if (one.reclassified) {
    ++statistics_.changed_class;
    return;
  }
  if (one.outer != 0 && monitors_[at(one.outer).monitor].last_foreground >= at(one.outer).called_at) {
    ++statistics_.inherited;
    return;
  }
  ++statistics_.aged;
  if (!one.process->ages()) return fail(Invariant::ageing, name(id) + " moves, and does not age");
  if (!ageing_judged(one.monitor)) return;
  std::size_t before = 0;
  for (const std::uint64_t other : monitors_[one.monitor].nodes) {
    if (at(other).rank == former.rank && at(other).number < former.number) ++before;
  }
  Instant until = now() + (plan_.slow_network ? slow_slack : fast_slack);
  for (std::size_t left = former.left_before.size();; --left, ++before) {
    const Instant since = left == 0 ? former.queued_at : former.left_before[left - 1];
    if (until >= since + plan_.engine.background_max_wait * static_cast<Span::rep>(before + 1)) return;
    if (left == 0) break;
    until = since;
  }
  fail(Invariant::ageing, name(id) + " moves before its time");
}

// 0 where that is none that ages, or nobody of the foreground is before it.
std::uint64_t Checker::first_to_age(std::size_t index) const {
  std::uint64_t first = 0;
  bool foreground = false;
  for (const std::uint64_t id : monitors_[index].nodes) {
    const Contender& one = contenders_[id - 1];
    if (one.rank == Priority::foreground) {
      foreground = true;
    } else if (first == 0 || one.number < contenders_[first - 1].number) {
      first = id;
    }
  }
  if (first == 0 || !foreground) return 0;
  const Contender& one = contenders_[first - 1];
  return one.process && one.process->ages() && waits(one) && !one.reclassified ? first : 0;
}

void Checker::look_at_ageing(std::size_t index) {
  Monitor& monitor = monitors_[index];
  const std::uint64_t first = first_to_age(index);
  if (first == monitor.ageing) return;
  monitor.ageing = first;
  monitor.ageing_since = now();
  if (first != 0) timeline_.at(now() + longest_delay, *this, ageing_due, first * max_monitors + index);
}

void Checker::ageing_lasts(std::size_t index, std::uint64_t first) {
  const Monitor& monitor = monitors_[index];
  if (monitor.ageing != first || !ageing_judged(index)) return;
  const Contender& one = at(first);
  const Instant since = std::max({monitor.ageing_since, one.process->awake_since(), one.process->calm_since()});
  // One period until somebody looks, and one in which nothing changes; again after a refusal.
  const Instant due = since + 4 * plan_.engine.background_max_wait + longest_delay + 4 * plan_.latest_tick;
  if (now() < due) return timeline_.at(due, *this, ageing_due, first * max_monitors + index);
  fail(Invariant::ageing, name(first) + " is the first of the background, and does not move");
}

}  // namespace forelock::simulation
