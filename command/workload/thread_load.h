// Threads that lock and unlock as a job says, whatever the lock is.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "workload/job.h"

namespace forelock::workload {

// A lock of one monitor for one thread.
class Lockable {
 public:
  virtual ~Lockable() = default;
  virtual void lock() = 0;
  virtual void unlock() = 0;
};

// Makes the lock of a monitor; called from the thread that uses it.
using LockMaker = std::function<std::unique_ptr<Lockable>(const std::string& monitor)>;

// Ends early when asked to stop. \throws what a lock throws, the first of it.
JobResult run_threads(const Job& job, const LockMaker& make_lock, const std::stop_token& stop = {});

}  // namespace forelock::workload
