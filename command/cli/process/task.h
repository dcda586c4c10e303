// Does something that blocks in a thread of its own, because the main one reads signals.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <optional>
#include <thread>

#include "cli/process/wake_up.h"

namespace forelock::cli {

template <class Result>
class Task {
 public:
  explicit Task(std::function<Result()> work)
      : thread_([this, work = std::move(work)] {
          try {
            result_ = work();
          } catch (...) {
            error_ = std::current_exception();
          }
          done_ = true;
          wake_up_.notify();
        }) {}
  // Waits for the end of the work.
  ~Task() = default;
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  bool done() const { return done_; }
  // Notified when it is done.
  const WakeUp& wake_up() const { return wake_up_; }

  // Waits for it; once. \throws what the work threw.
  Result result() {
    thread_.join();
    if (error_) std::rethrow_exception(error_);
    return *std::move(result_);
  }

 private:
  WakeUp wake_up_;
  std::atomic<bool> done_ = false;
  std::optional<Result> result_;
  std::exception_ptr error_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace forelock::cli
