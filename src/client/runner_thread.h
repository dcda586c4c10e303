// The one thread of a runner: timers of operations that wait, sinks that block, completions.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "lock/engine_types.h"

namespace forelock::client {

// Thread-safe. Tasks run one after the other and do not throw.
class RunnerThread {
 public:
  using Task = std::function<void()>;
  using TimerId = std::pair<lock::TimePoint, std::uint64_t>;

  RunnerThread() = default;
  // Stops as by stop().
  ~RunnerThread();
  RunnerThread(const RunnerThread&) = delete;
  RunnerThread& operator=(const RunnerThread&) = delete;

  // Starts the thread if it does not run yet. \throws std::system_error.
  void start();
  // Runs the task after those posted before. Ignored after stop().
  void post(Task task);
  // Runs the task at this time, or soon after it. Ignored after stop().
  TimerId post_at(lock::TimePoint time, Task task);
  // The task does not run any more, unless it is running or has run.
  void cancel(const TimerId& timer);
  // Runs what was posted, forgets the timers, ends the thread. Not from a task.
  void stop();

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  std::map<TimerId, Task> timers_;
  std::uint64_t next_timer_ = 1;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace forelock::client
