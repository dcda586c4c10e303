// A Ticker calls a function at the times that the function requests, on a separate thread.
//
// The engine's timers, heartbeats among them, run here, and no code of the host application.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

#include "lock/engine_types.h"

namespace forelock::client {

class Ticker {
 public:
  // `on_time` does what is due and says when it wants to be called next (`never` for not at all).
  explicit Ticker(std::function<lock::TimePoint()> on_time);
  // Stops as by stop().
  ~Ticker();
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;

  void start();
  // Makes sure that the function is called at this time at the latest. Cheap when that is so already. Thread-safe.
  void wake_by(lock::TimePoint time);
  // Ends the thread. Not from the function.
  void stop();

 private:
  void run();

  const std::function<lock::TimePoint()> on_time_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // When the thread will wake by itself, in nanoseconds.
  std::atomic<std::int64_t> wake_at_{0};
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace forelock::client
