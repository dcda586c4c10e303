#include "lock/contender_queue.h"

#include <algorithm>

namespace forelock::lock {

ContenderQueue::Iterator ContenderQueue::place_of(const Contender* contender) const {
  return std::lower_bound(contenders_.begin(), contenders_.end(), contender, before_);
}

void ContenderQueue::insert(Contender* contender) {
  const auto place = place_of(contender);
  if (place != contenders_.end() && *place == contender) return;
  contenders_.insert(place, contender);
}

void ContenderQueue::erase(const Contender* contender) {
  const auto place = place_of(contender);
  if (place != contenders_.end() && *place == contender) contenders_.erase(place);
}

std::optional<std::size_t> ContenderQueue::index_of(const Contender* contender) const {
  const auto place = place_of(contender);
  if (place == contenders_.end() || *place != contender) return std::nullopt;
  return static_cast<std::size_t>(place - contenders_.begin());
}

}  // namespace forelock::lock
