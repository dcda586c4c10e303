#include "client/dispatcher.h"

#include <utility>

#include "client/clock.h"
#include "client/thread_start.h"

namespace forelock::client {

Dispatcher::Dispatcher(std::function<lock::TimePoint()> on_timer) : on_timer_(std::move(on_timer)) {}

Dispatcher::~Dispatcher() {
  stop();
}

void Dispatcher::start() {
  thread_ = start_thread("forelock-disp", [this] { run(); });
}

bool Dispatcher::post(std::function<void()> callback) {
  if (!enqueue(std::move(callback))) return false;
  wake();
  return true;
}

bool Dispatcher::enqueue(std::function<void()> callback) {
  const std::lock_guard guard(mutex_);
  if (stopping_) return false;
  callbacks_.push_back(std::move(callback));
  return true;
}

void Dispatcher::wake_by(lock::TimePoint time) {
  const std::int64_t at = nanoseconds(time);
  if (wake_at_.load(std::memory_order_acquire) <= at) return;
  {
    const std::lock_guard guard(mutex_);
    if (wake_at_.load(std::memory_order_relaxed) <= at) return;
    wake_at_.store(at, std::memory_order_release);
  }
  wake();
}

void Dispatcher::stop() {
  {
    const std::lock_guard guard(mutex_);
    stopping_ = true;
    changed_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

void Dispatcher::run() {
  std::unique_lock guard(mutex_);
  while (true) {
    // One at a time: a flood of callbacks must not delay the timers.
    if (!callbacks_.empty()) {
      std::function<void()> callback = std::move(callbacks_.front());
      callbacks_.pop_front();
      guard.unlock();
      try {
        callback();
      } catch (...) {  // a host's log sink; those of locks are caught, and reported, where they are made
      }
      callback = nullptr;  // what it owned may call us
      guard.lock();
    }
    if (stopping_ && callbacks_.empty()) return;
    const std::int64_t wake_at = wake_at_.load(std::memory_order_relaxed);
    if (wake_at <= nanoseconds(now())) {
      // Whoever wants to be woken while on_timer_ runs lowers this value.
      wake_at_.store(nanoseconds(lock::never), std::memory_order_release);
      guard.unlock();
      const std::int64_t next = nanoseconds(on_timer_());
      guard.lock();
      if (next < wake_at_.load(std::memory_order_relaxed)) wake_at_.store(next, std::memory_order_release);
      continue;
    }
    if (!callbacks_.empty()) continue;
    if (wake_at == nanoseconds(lock::never)) {
      changed_.wait(guard);
    } else {
      changed_.wait_until(guard, lock::TimePoint(std::chrono::nanoseconds(wake_at)));
    }
  }
}

}  // namespace forelock::client
