// Who may wait: a contender that would wait in vain, or beyond the limit of a queue, is told so at once.
#include <algorithm>
#include <memory>
#include <optional>

#include "lock/engine.h"
#include "lock/monitor.h"

namespace forelock::lock {

namespace {

// Behind fewer than these nobody is refused for what is predicted: one long section would decide about it.
constexpr std::size_t least_before = 8;

// Whether so long a wait is in vain. It is an estimate: of those for whom it ends just before their deadlines, every
// other one would learn at its deadline that it does not. Those behind them take the places that they leave.
bool is_in_vain(Duration wait, Duration time_left) {
  return wait + wait / 16 > time_left;
}

}  // namespace

void Monitor::admit(TimePoint now) {
  bool refused = false;
  const auto applicants = applicants_;
  for (const auto& [arrival, contender] : applicants) {
    const auto index = queue_.index_of(contender);
    if (!index) continue;
    // Those of this process that wait before it are known in any case; the others by a look that it has been seen by.
    const bool seen = headcount_.likely_alone() || listing_.shows(child_of(*contender)) ||
                      (listing_.known() && listing_.children_watched());
    const std::size_t before = seen ? position_at(*index).place - 1 : *index;
    const std::optional<Duration> wait = predicted_wait(contender->spec.priority, before + 1);
    const AcquireSpec& spec = contender->spec;
    const bool full = spec.queue_max > 0 && before >= spec.queue_max;
    const bool in_vain =
        spec.refuse_in_vain && before >= least_before && wait && is_in_vain(*wait, spec.deadline - now);
    if (full || in_vain) {
      refused = true;
      if (!seen) contender->position = QueuePosition{before + 1, queue_.at(*index - 1).node};
      applicants_.erase({arrival, contender});
      engine_.refuse(*contender, {.reason = RefusalReason::not_admitted});
      queue_.erase(contender);
      remove_node(*contender, now);
    } else if (seen) {
      applicants_.erase({arrival, contender});
      contender->measured.place = before + 1;
      contender->measured.since = now;
    }
  }
  if (refused) settle(now);  // another one may be the first of this process now
}

std::optional<Duration> Monitor::predicted_wait(Priority priority, std::size_t place) const {
  return service_times_ ? (*service_times_)[priority].wait(place) : std::nullopt;
}

// It does not wait any more; `place`: the last one, 0 if it has been granted.
void Monitor::note_wait(Contender& contender, std::size_t place, TimePoint now) {
  if (contender.measured.since == never) return;
  if (!service_times_) service_times_ = std::make_unique<base::PerPriority<ServiceTimes>>();
  const std::size_t places = contender.measured.place - std::min(place, contender.measured.place);
  (*service_times_)[contender.spec.priority].add(now - contender.measured.since, places);
  contender.measured.since = never;
}

}  // namespace forelock::lock
