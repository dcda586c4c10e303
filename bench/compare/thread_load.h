// Threads that lock and unlock as a job says, whatever the lock is.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "bench/compare/job.h"

namespace forelock::bench {

// A lock of one monitor for one thread.
class Lockable {
 public:
  virtual ~Lockable() = default;
  virtual void lock() = 0;
  virtual void unlock() = 0;
};

// Makes the lock of a monitor; called from the thread that uses it.
using LockMaker = std::function<std::unique_ptr<Lockable>(const std::string& monitor)>;

// \throws what a lock throws, the first of it.
JobResult run_threads(const Job& job, const LockMaker& make_lock);

}  // namespace forelock::bench
