// Many monitors at once over one client, by callbacks: each is taken again as soon as it is free. Not thread-safe.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <stop_token>
#include <vector>

#include "forelock/async_write_lock.h"
#include "forelock/client.h"
#include "workload/job.h"

namespace forelock::workload {

class AsyncLoad {
 public:
  AsyncLoad(Client& client, const Job& job);

  // Ends early when asked to stop. \throws what an acquisition failed with, the first of it.
  JobResult run(const Job& job, std::stop_token stop = {});

 private:
  void next(AsyncWriteLock& lock);
  void fail(std::exception_ptr error);

  std::vector<std::unique_ptr<AsyncWriteLock>> locks_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t left_ = 0;
  Clock::time_point end_{};
  std::stop_token stop_;
  std::size_t running_ = 0;
  std::exception_ptr failure_;
  std::vector<Section> sections_;
};

}  // namespace forelock::workload
