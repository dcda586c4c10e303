#include "workload/bench_lock.h"

#include <memory>

#include "forelock/blocking_write_lock.h"

namespace forelock::workload {
namespace {

class ForelockLock final : public Lockable {
 public:
  ForelockLock(Client& client, const std::string& monitor, const Job& job)
      : lock_(client, "Save Content", monitor, job.background ? Priority::background : Priority::foreground),
        release_async_(job.release_async) {}

  void lock() override { lock_.lock_with_timeout(); }
  void unlock() override {
    if (release_async_) {
      lock_.unlock_async();
    } else {
      lock_.unlock_or_throw();
    }
  }

 private:
  BlockingWriteLock lock_;
  const bool release_async_;
};

}  // namespace

LockMaker locks_of(Client& client, const Job& job) {
  return [&client, job](const std::string& monitor) { return std::make_unique<ForelockLock>(client, monitor, job); };
}

}  // namespace forelock::workload
