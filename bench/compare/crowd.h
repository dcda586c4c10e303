// Many waiters on one monitor, without a thread each; a driver takes them through the stages of a measurement.
//
// Jobs: {"crowd": "wait", "monitor": M, "waiters": N, "hold": B, "timeout_ms": T} adds N waiters whose time-outs end
// together, T ms from now (0: the client's); a granted one holds, or (hold: false) releases at once. "free" releases
// what is held. "cancel" cancels all waiters; "expire" waits until their time-outs have ended them. "state"
// does nothing.
//
// Answers: {"seconds", "late_ms", "rss_kb", "threads", "cpu_seconds"}: how long the job took; of "expire", how long
// after the time-out the last one was told; and of the whole process its memory, threads and processor time.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "bench/samples.h"
#include "forelock/async_write_lock.h"
#include "forelock/client.h"

namespace forelock::bench {

// Not thread-safe; its callbacks come on the client's thread.
class Crowd {
 public:
  explicit Crowd(Client& client) : client_(client) {}

  // \throws nlohmann::json::exception for what is no such job.
  nlohmann::json run(const nlohmann::json& job);

 private:
  void wait(const std::string& monitor, std::size_t count, bool hold, std::chrono::milliseconds timeout);
  void free();
  void cancel();
  double expire();
  void wait_until_nobody_waits();

  Client& client_;
  std::vector<std::unique_ptr<AsyncWriteLock>> locks_;
  Clock::time_point deadline_{};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t waiting_ = 0;
};

}  // namespace forelock::bench
