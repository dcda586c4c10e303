#include "client/ticker.h"

#include <utility>

#include "client/clock.h"
#include "records/start_thread.h"

namespace forelock::client {

Ticker::Ticker(std::function<lock::TimePoint()> on_time) : on_time_(std::move(on_time)) {}

Ticker::~Ticker() {
  stop();
}

void Ticker::start() {
  thread_ = records::start_thread("forelock-tick", [this] { run(); });
}

void Ticker::wake_by(lock::TimePoint time) {
  const std::int64_t at = nanoseconds(time);
  if (wake_at_.load(std::memory_order_acquire) <= at) return;
  {
    const std::lock_guard guard(mutex_);
    if (wake_at_.load(std::memory_order_relaxed) <= at) return;
    wake_at_.store(at, std::memory_order_release);
  }
  changed_.notify_one();
}

void Ticker::stop() {
  {
    const std::lock_guard guard(mutex_);
    stopping_ = true;
    changed_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

void Ticker::run() {
  std::unique_lock guard(mutex_);
  while (!stopping_) {
    const std::int64_t wake_at = wake_at_.load(std::memory_order_relaxed);
    if (wake_at <= nanoseconds(now())) {
      // What wants to be called earlier while the function runs lowers this value.
      wake_at_.store(nanoseconds(lock::never), std::memory_order_release);
      guard.unlock();
      const std::int64_t next = nanoseconds(on_time_());
      guard.lock();
      if (next < wake_at_.load(std::memory_order_relaxed)) wake_at_.store(next, std::memory_order_release);
    } else if (wake_at == nanoseconds(lock::never)) {
      changed_.wait(guard);
    } else {
      changed_.wait_until(guard, to_steady(lock::TimePoint(std::chrono::nanoseconds(wake_at))));
    }
  }
}

}  // namespace forelock::client
