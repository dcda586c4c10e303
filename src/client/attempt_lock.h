// The lock of one attempt at an operation: its handler sees the WriteLock, the runner the slot behind it.
#pragma once

#include <memory>
#include <utility>

#include "client/lock_slot.h"
#include "forelock/operation.h"
#include "forelock/write_lock.h"

namespace forelock::client {

// One for each attempt, so that no callback that a handler has set outlives its attempt. Its destructor waits for the
// callback that runs.
class AttemptLock final : public WriteLock {
 public:
  // \throws RequestRejectedException(invalid_argument) for an impossible monitor id.
  AttemptLock(std::shared_ptr<ClientCore> core, const Operation& operation)
      : WriteLock(std::make_shared<LockSlot>(std::move(core), operation.lock_info, operation.monitor,
                                             operation.priority, LockOptions{.traceparent = operation.traceparent})) {}

  LockSlot& slot() { return *slot_; }
};

}  // namespace forelock::client
