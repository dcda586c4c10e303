#include "zookeeper/call_pool.h"

namespace forelock::zookeeper {

Call* CallPool::acquire(SessionCore* owner, ReplyQueue::Serial serial) {
  if (unused_.empty()) unused_.push_back(&all_.emplace_back());
  Call* call = unused_.back();
  unused_.pop_back();
  call->owner = owner;
  call->serial = serial;
  return call;
}

void CallPool::release(Call* call) {
  call->container.reset();
  unused_.push_back(call);
}

}  // namespace forelock::zookeeper
