#include "lock/ageing.h"

#include <algorithm>

#include "lock/limits.h"
#include "lock/mutation.h"

namespace forelock::lock {

void Ageing::first(ContenderId contender, TimePoint now) {
  if (contender == first_) return;
  first_ = contender;
  since_ = never;
  asked_ = now;  // a newcomer is listed for other reasons, as a rule
}

void Ageing::seen(std::size_t before, TimePoint sent, TimePoint now) {
  if (since_ == never || before < before_) {
    before_ = before;
    since_ = now;
  }
  // One that shows more is older than what is known: nobody comes before a contender in its own class.
  if (before == before_) seen_ = sent;
}

bool Ageing::due(TimePoint now) const {
  const TimePoint known = mutated(Mutation::aged_by_old_listing) ? now : seen_;
  return since_ != never && known >= due_at();
}

TimePoint Ageing::due_at() const {
  if (since_ == never) return never;
  const bool alone = mutated(Mutation::all_age_at_once);
  return since_ + period_ * static_cast<Duration::rep>(alone ? 1 : before_ + 1);
}

// Once in a period at least, as otherwise nobody may see that those before it have gone; but not at once again where
// the servers show what is older than its node, or there is nobody before whom it could move.
TimePoint Ageing::next_look() const {
  const TimePoint wanted = since_ == never ? asked_ : std::min(due_at(), asked_ + period_);
  return std::max(wanted, asked_ + std::max<Duration>(look_again_after, period_ / 8));
}

}  // namespace forelock::lock
