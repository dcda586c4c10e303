// The outer locks of a lock or a lock set: those that its caller holds while it waits.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

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

}  // namespace forelock::client
