#include "client/runner_thread.h"

#include "client/clock.h"
#include "records/start_thread.h"

namespace forelock::client {

RunnerThread::~RunnerThread() {
  stop();
}

void RunnerThread::start() {
  const std::lock_guard guard(mutex_);
  if (!thread_.joinable() && !stopping_) thread_ = records::start_thread("forelock-ops", [this] { run(); });
}

void RunnerThread::post(Task task) {
  const std::lock_guard guard(mutex_);
  if (stopping_) return;
  tasks_.push_back(std::move(task));
  changed_.notify_one();
}

RunnerThread::TimerId RunnerThread::post_at(lock::TimePoint time, Task task) {
  const std::lock_guard guard(mutex_);
  const TimerId id{time, next_timer_++};
  if (stopping_) return id;
  const auto timer = timers_.emplace(id, std::move(task)).first;
  if (timer == timers_.begin()) changed_.notify_one();
  return id;
}

void RunnerThread::cancel(const TimerId& timer) {
  std::map<TimerId, Task>::node_type forgotten;  // what it owns may call us
  const std::lock_guard guard(mutex_);
  forgotten = timers_.extract(timer);
}

void RunnerThread::stop() {
  {
    const std::lock_guard guard(mutex_);
    stopping_ = true;
    changed_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

void RunnerThread::run() {
  std::unique_lock guard(mutex_);
  while (true) {
    Task task;
    // Timers first: a flood of tasks must not delay them.
    if (!timers_.empty() && timers_.begin()->first.first <= now()) {
      task = std::move(timers_.extract(timers_.begin()).mapped());
    } else if (!tasks_.empty()) {
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    if (task) {
      guard.unlock();
      task();
      task = nullptr;  // what it owned may call us
      guard.lock();
    } else if (stopping_) {
      return;
    } else if (timers_.empty()) {
      changed_.wait(guard);
    } else {
      changed_.wait_until(guard, to_steady(timers_.begin()->first.first));
    }
  }
}

}  // namespace forelock::client
