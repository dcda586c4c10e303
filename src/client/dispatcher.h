// The one thread that runs user callbacks and timers. It does no I/O of its own.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "lock/engine_types.h"

namespace forelock::client {

class Dispatcher {
 public:
  // `on_timer` does what is due and says when it wants to be called next (`never` for not at all).
  explicit Dispatcher(std::function<lock::TimePoint()> on_timer);
  // Stops as by stop().
  ~Dispatcher();
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  void start();
  // Runs `callback` on the dispatcher's thread, in the order of the calls. Thread-safe. \returns false, and has not
  // taken it, after stop().
  bool post(std::function<void()> callback);
  // As post(), but leaves it to a later wake() to wake the thread: for callers that hold a mutex which the callback is
  // about to want.
  bool enqueue(std::function<void()> callback);
  void wake() { changed_.notify_one(); }
  // Makes sure that on_timer is called at this time at the latest. Cheap when that is so already. Thread-safe.
  void wake_by(lock::TimePoint time);
  // Runs what was posted, then ends the thread. Not from a callback.
  void stop();
  bool on_this_thread() const { return std::this_thread::get_id() == thread_.get_id(); }

 private:
  void run();

  const std::function<lock::TimePoint()> on_timer_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> callbacks_;
  // When the thread will wake by itself, in steady nanoseconds.
  std::atomic<std::int64_t> wake_at_{0};
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace forelock::client
