#include "client/outer_locks.h"

#include <utility>

namespace forelock::client {

namespace {

// Of locks that are inside of each other.
constexpr int most_levels = 8;

}  // namespace

void OuterLocks::add(std::weak_ptr<const OuterLock> outer) {
  const std::lock_guard guard(mutex_);
  const auto goes = [&outer](const std::weak_ptr<const OuterLock>& one) {
    return one.expired() || (!one.owner_before(outer) && !outer.owner_before(one));
  };
  std::erase_if(locks_, goes);
  locks_.push_back(std::move(outer));
}

std::vector<lock::ContenderId> OuterLocks::held() const {
  std::vector<lock::ContenderId> found;
  add_held(found, 0);
  return found;
}

void OuterLocks::add_held(std::vector<lock::ContenderId>& found, int depth) const {
  if (depth == most_levels) return;
  std::vector<std::weak_ptr<const OuterLock>> locks;
  {
    const std::lock_guard guard(mutex_);
    locks = locks_;
  }
  for (const auto& lock : locks) {
    if (const auto outer = lock.lock()) outer->add_held(found, depth + 1);
  }
}

}  // namespace forelock::client
