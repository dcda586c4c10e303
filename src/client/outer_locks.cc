#include "client/outer_locks.h"

#include <utility>

#include "client/client_core.h"

namespace forelock::client {

void OuterLocks::add(std::weak_ptr<const OuterLock> outer) {
  const std::lock_guard guard(mutex_);
  const auto goes = [&outer](const std::weak_ptr<const OuterLock>& one) {
    return one.expired() || (!one.owner_before(outer) && !outer.owner_before(one));
  };
  std::erase_if(locks_, goes);
  locks_.push_back(std::move(outer));
}

std::vector<lock::ContenderId> OuterLocks::held(ClientCore& core) const {
  std::vector<lock::ContenderId> found;
  add_held(core, found);
  return found;
}

void OuterLocks::add_held(ClientCore& core, std::vector<lock::ContenderId>& found) const {
  std::vector<std::weak_ptr<const OuterLock>> locks;
  {
    const std::lock_guard guard(mutex_);
    locks = locks_;
  }
  for (const auto& lock : locks) {
    auto outer = lock.lock();
    if (!outer) continue;
    outer->add_held(found);
    core.let_go_after_step(std::move(outer));  // what its callbacks own may call the client when it dies
  }
}

}  // namespace forelock::client
