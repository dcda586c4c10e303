// Many monitors at once over one client, by callbacks: each is taken again as soon as it is free.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "bench/compare/job.h"
#include "forelock/async_write_lock.h"
#include "forelock/client.h"

namespace forelock::bench {

class AsyncLoad {
 public:
  AsyncLoad(Client& client, const Job& job);

  // \throws what an acquisition failed with, the first of it.
  JobResult run(const Job& job);

 private:
  void next(AsyncWriteLock& lock);

  std::vector<std::unique_ptr<AsyncWriteLock>> locks_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t left_ = 0;
  Clock::time_point end_{};
  std::size_t running_ = 0;
  std::exception_ptr failure_;
  std::vector<Section> sections_;
};

}  // namespace forelock::bench
