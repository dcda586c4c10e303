#include "lock/headcount.h"

#include <utility>

#include "lock/limits.h"
#include "lock/mutation.h"

namespace forelock::lock {

void Headcount::watch_answered(bool set) {
  watch_in_flight_ = false;
  if (set) {
    watch_trusted_ = watch_registered_ = true;
  } else {
    next_.reset();
  }
}

void Headcount::watch_fired() {
  watch_trusted_ = watch_registered_ = false;
  next_.reset();
}

void Headcount::monitor_gone() {
  if (!mutated(Mutation::number_proof_across_recreation)) next_.reset();
  watch_trusted_ = watch_registered_ = false;
  end_told_ = false;
}

void Headcount::disconnected() {
  if (mutated(Mutation::number_proof_across_reconnect)) return;
  next_.reset();
  watch_trusted_ = false;
}

void Headcount::was_alone(std::int64_t created) {
  bool told_of_its_end = watch_trusted_;
  if (mutated(Mutation::number_proof_across_recreation)) told_of_its_end = true;
  if (told_of_its_end && created < counter_alarm) next_ = created;
}

bool Headcount::node_and_lock_created(std::int64_t number) {
  bool counted = next_ == number;
  if (mutated(Mutation::number_off_by_one)) counted = next_ && number - *next_ <= 1;
  // Number 0: nothing was ever created here before. Otherwise: nothing but what we created ourselves.
  const bool alone = number == 0 || counted;
  if (next_) shared_ = !alone;
  next_.reset();
  // Counting goes on only in a monitor whose end we would be told: this may be another one than it was when we sent.
  if (alone && watched() && number + 2 < counter_alarm) next_ = number + 2;
  return alone;
}

bool Headcount::node_created(std::int64_t number) {
  const bool alone = next_ == number;
  if (alone) {
    ++*next_;
  } else {
    next_.reset();
  }
  return alone;
}

void Headcount::lock_created() {
  if (next_) ++*next_;
}

void Headcount::saw(const coordination::Stat& monitor) {
  const std::int64_t created = monitor.created_children();
  if (at_least_.czxid != monitor.czxid || at_least_.created < created) at_least_ = {monitor.czxid, created};
}

bool Headcount::nears_end(std::int64_t number) {
  if (number < counter_alarm && number >= 0) return false;
  next_.reset();
  return !std::exchange(end_told_, true);
}

}  // namespace forelock::lock
