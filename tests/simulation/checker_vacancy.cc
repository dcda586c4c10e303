// A lock that nobody holds goes to the first in its queue: also while faults go on elsewhere, and others poll.
#include "checker.h"

namespace forelock::simulation {
namespace {

// Looks at intervals for want of watches, a resolving, and the way there and back.
constexpr auto longest_vacancy = milliseconds(2000);
// Each process may claim once before it knows better, as may each thread that has not joined the queue.
constexpr std::size_t most_passed_over = 24;

// Whether an engine knows of a monitor that is not used how it was the last time. Without that each attempt of a poller
// claims before it knows better; and who has no room for watches may meet such a claim each time that it looks.
bool remembers(const lock::EngineOptions& engine) {
  return engine.remembered_monitors > max_monitors && engine.remembered_bytes > 6 && engine.watched_bytes > 80;
}

}  // namespace

// 0 where the first is none of ours, does not wait, or belongs to a session that is about to end.
std::uint64_t Checker::first_in_queue(std::size_t monitor) const {
  const auto& nodes = monitors_[monitor].nodes;
  const auto first = std::min_element(nodes.begin(), nodes.end(), [this](std::uint64_t a, std::uint64_t b) {
    return goes_before(contenders_[a - 1], contenders_[b - 1]);
  });
  if (first == nodes.end()) return 0;
  const Contender& one = contenders_[*first - 1];
  return waits(one) && one.process != nullptr && !one.stepping_aside ? *first : 0;
}

bool Checker::held_by_somebody(std::size_t monitor) const {
  const std::uint64_t owner = monitors_[monitor].owner;
  if (owner == 0) return false;
  const Contender& one = contenders_[owner - 1];
  const bool holds = one.phase == Phase::held || one.phase == Phase::lingering || one.phase == Phase::releasing;
  return holds || one.process == nullptr || one.closing || one.forgotten || one.process->calm_since() >= now();
}

void Checker::look_at_vacancy(std::size_t index) {
  Monitor& monitor = monitors_[index];
  // At its end the counter stands still, and newcomers wait until the monitor is made anew.
  const bool judged = plan_.first_counter[index] == 0 && !monitor.undecidable;
  const std::uint64_t first = judged ? first_in_queue(index) : 0;
  if (first == monitor.first && !held_by_somebody(index)) {
    if (first == 0 || monitor.passed_over <= most_passed_over || !remembers(plan_.engine)) return;
    return fail(Invariant::no_lost_wakeup,
                name(first) + " is first, and the lock was taken before it again and again by who may not have it");
  }
  const bool anew = first != monitor.first;
  monitor.first = first;
  monitor.vacant_since = now();
  monitor.passed_over = 0;
  if (first != 0 && anew) timeline_.at(now() + longest_vacancy, *this, vacancy_due, first * max_monitors + index);
}

void Checker::vacancy_lasts(std::size_t index, std::uint64_t first) {
  Monitor& monitor = monitors_[index];
  if (monitor.first != first || (plan_.polled && !remembers(plan_.engine))) return;
  if (held_by_somebody(index)) monitor.vacant_since = now();
  const Contender& one = at(first);
  const Instant since =
      std::max({monitor.vacant_since, one.process->awake_since(), one.process->calm_since(), one.called_at});
  const Instant due = since + longest_vacancy + 4 * plan_.latest_tick;
  if (now() < due) return timeline_.at(due, *this, vacancy_due, first * max_monitors + index);
  fail(Invariant::no_lost_wakeup, name(first) + " is first, and does not get a lock that nobody holds");
}

}  // namespace forelock::simulation
