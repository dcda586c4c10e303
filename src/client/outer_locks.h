// The outer locks of a lock or a lock set: those that its caller holds while he waits for it.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "forelock/error.h"
#include "lock/engine_types.h"

namespace forelock::client {

class ClientCore;

// A slot as something that others may be inside of.
class OuterLock {
 public:
  // If it is held: appends its contenders, and those of what it is inside of, each once. In a step of the core.
  virtual void add_held(std::vector<lock::ContenderId>& found) const = 0;

 protected:
  ~OuterLock() = default;
};

// Thread-safe.
class OuterLocks {
 public:
  void add(std::weak_ptr<const OuterLock> outer);
  // In a step of the core, without the mutexes of slots.
  std::vector<lock::ContenderId> held(ClientCore& core) const;
  void add_held(ClientCore& core, std::vector<lock::ContenderId>& found) const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::weak_ptr<const OuterLock>> locks_;
};

// \throws RequestRejectedException(invalid_argument) if they are not of one client.
template <class InnerSlot, class OuterSlot>
void put_inside(InnerSlot& inner, const std::string& monitor, OuterSlot& outer) {
  if (&inner.core() != &outer.core()) {
    throw RequestRejectedException(ErrorCode::invalid_argument, monitor,
                                   "this lock cannot be inside of a lock of another Client",
                                   "make both with the same Client");
  }
  inner.outer_locks().add(outer.weak_from_this());
}

}  // namespace forelock::client
