#include "workload/async_load.h"

#include <limits>
#include <utility>

namespace forelock::workload {

AsyncLoad::AsyncLoad(Client& client, const Job& job) {
  const Priority priority = job.background ? Priority::background : Priority::foreground;
  for (const std::string& monitor : job.monitors) {
    locks_.push_back(std::make_unique<AsyncWriteLock>(client, "many", monitor, priority));
  }
}

JobResult AsyncLoad::run(const Job& job, std::stop_token stop) {
  const auto begin = Clock::now();
  {
    const std::lock_guard guard(mutex_);
    left_ = job.sections > 0 ? job.sections : std::numeric_limits<std::size_t>::max();
    end_ = end_of(job, begin);
    stop_ = std::move(stop);
    running_ = locks_.size();
    failure_ = nullptr;
    sections_.clear();
  }
  for (const auto& lock : locks_) next(*lock);
  std::unique_lock guard(mutex_);
  changed_.wait(guard, [this] { return running_ == 0; });
  if (failure_) std::rethrow_exception(failure_);
  return {std::chrono::duration<double>(Clock::now() - begin).count(), std::move(sections_)};
}

void AsyncLoad::next(AsyncWriteLock& lock) {
  {
    const std::lock_guard guard(mutex_);
    if (left_ == 0 || failure_ || Clock::now() >= end_ || stop_.stop_requested()) {
      --running_;
      changed_.notify_one();
      return;
    }
    --left_;
  }
  const auto asked = Clock::now();
  try {
    lock.acquire([this, &lock, asked](std::exception_ptr error) {
      if (error) return fail(error);
      const auto held = Clock::now();
      lock.release([this, &lock, asked, held](std::exception_ptr) {
        {
          const std::lock_guard guard(mutex_);
          sections_.push_back({held - asked, Clock::now() - asked});
        }
        next(lock);
      });
    });
  } catch (...) {  // the client has been closed
    fail(std::current_exception());
  }
}

void AsyncLoad::fail(std::exception_ptr error) {
  const std::lock_guard guard(mutex_);
  failure_ = std::move(error);
  --running_;
  changed_.notify_one();
}

}  // namespace forelock::workload
