// Locks that stay with the process when their callers have finished, and callers that get them.
#include <utility>

#include "client/client_core.h"
#include "client/clock.h"
#include "client/lock_slot.h"

namespace forelock::client {

std::optional<std::chrono::milliseconds> ClientCore::linger_of(const LockOptions& options) const {
  if (settings_.linger() <= std::chrono::milliseconds(0) || !options.may_linger) return std::nullopt;
  if (options.expected_runtime || options.auto_unlock_after) return std::nullopt;
  return settings_.linger();
}

bool ClientCore::acquire_lingering(const std::shared_ptr<LockSlot>& slot) {
  const Step step(*this);
  const linger::Wish wish{slot->node_name(), slot->priority(), true, slot->wants_place()};
  return ensemble_->hand_out(slot, wish) != 0;
}

bool EnsembleLink::certain(lock::TimePoint time) const {
  return connected_ && nanoseconds(time) < suspect_from_.load(std::memory_order_relaxed);
}

lock::ContenderId EnsembleLink::hand_out(const std::shared_ptr<ContenderListener>& listener, const linger::Wish& wish) {
  const lock::TimePoint time = now();
  const linger::Lock* const lock = linger_.take(wish, certain(time), time);
  if (lock == nullptr) {
    release_given_up();  // before the claim that follows, so that it finds the lock free
    return 0;
  }
  const lock::ContenderId contender = lock->contender;
  const auto margin = listener->taken(*lock);
  if (!margin) {
    end_section(contender);
    return contender;
  }
  ++core_.statistics_.taken_again;
  if (core_.course_) core_.course_->note(contender, "is taken again");
  core_.listeners_.emplace(contender, listener);
  if (*margin > lock::Duration::zero()) danger_.add(contender, *margin);
  return contender;
}

bool EnsembleLink::end_section(lock::ContenderId contender, bool may_wait) {
  const lock::TimePoint time = now();
  // A write that is guarded by it belongs to this section: only a release sent behind it keeps it out of the next one.
  const bool writes = guarded_writes_.contains(contender);
  // A lock that nothing would tell of newcomers does not stay; nor does one that takes the room of other watches.
  const bool may_stay = !writes && certain(time) && !engine_.short_of_watches();
  const bool may_be_delayed = !writes && may_wait && !engine_.others_known(contender);
  if (!linger_.end_section(contender, may_stay, may_be_delayed, time)) return engine_.release(contender, time);
  if (core_.course_) core_.course_->note(contender, "stays with the process: its caller has finished");
  // For the caller it is released; its waiting ends with this call.
  if (auto listener = core_.take_listener(contender)) {
    listener->released(contender, lock::ReleaseOutcome::released);
    core_.let_go_after_step(std::move(listener));
  }
  return true;
}

void EnsembleLink::release_given_up() {
  for (const lock::ContenderId contender : linger_.take_given_up()) engine_.release(contender, now());
}

}  // namespace forelock::client
