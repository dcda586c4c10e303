#include "agent/danger_watch.h"

#include <iterator>

namespace forelock::agent {

void DangerWatch::add(lock::ContenderId contender, lock::Duration margin) {
  remove(contender);
  margins_.emplace(contender, margin);
  calm_.emplace(margin, contender);
}

void DangerWatch::remove(lock::ContenderId contender) {
  if (margins_.empty()) return;
  const auto found = margins_.find(contender);
  if (found == margins_.end()) return;
  calm_.erase({found->second, contender});
  told_.erase({found->second, contender});
  margins_.erase(found);
}

void DangerWatch::recover(lock::TimePoint time, lock::TimePoint valid_until) {
  while (!told_.empty() && time < valid_until - told_.begin()->first) calm_.insert(told_.extract(told_.begin()));
}

std::vector<lock::ContenderId> DangerWatch::due(lock::TimePoint time, lock::TimePoint valid_until) {
  recover(time, valid_until);
  std::vector<lock::ContenderId> due;
  while (!calm_.empty() && time >= valid_until - calm_.rbegin()->first) {
    due.push_back(calm_.rbegin()->second);
    told_.insert(calm_.extract(std::prev(calm_.end())));
  }
  return due;
}

lock::TimePoint DangerWatch::next(lock::TimePoint time, lock::TimePoint valid_until) {
  recover(time, valid_until);
  return calm_.empty() ? lock::never : valid_until - calm_.rbegin()->first;
}

}  // namespace forelock::agent
