#include "bench/compare/many_locks.h"

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <mutex>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

#include "forelock/async_write_lock.h"
#include "forelock/blocking_write_lock.h"
#include "forelock/lock_set.h"

namespace forelock::bench {
namespace {

using workload::Clock;
using workload::Job;
using workload::JobResult;
using workload::Section;

using Names = std::vector<std::string>;

Names names_of(const Job& job, std::size_t section) {
  if (!job.fresh) return job.monitors;
  Names names;
  for (const std::string& monitor : job.monitors) names.push_back(monitor + "-" + std::to_string(section));
  return names;
}

// Waits for as many callbacks as it is told of.
class Gathering {
 public:
  explicit Gathering(std::size_t count) : left_(count) {}

  void one(std::exception_ptr error) {
    const std::lock_guard guard(mutex_);
    if (error) error_ = std::move(error);
    if (--left_ == 0) all_.notify_one();
  }
  void wait() {
    std::unique_lock guard(mutex_);
    all_.wait(guard, [this] { return left_ == 0; });
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_;
  std::size_t left_;
  std::exception_ptr error_;
};

Section timed(const std::function<void()>& take, const std::function<void()>& give_back) {
  const auto asked = Clock::now();
  take();
  const auto held = Clock::now();
  give_back();
  return {held - asked, Clock::now() - asked};
}

Section as_set(Client& client, const Names& names) {
  LockSet set(client, "bench", names);
  return timed([&] { set.lock_with_timeout(); }, [&] { set.unlock_or_throw(); });
}

Section as_set_of_a_tenth(Client& client, const Names& names) {
  static std::mt19937_64 random{std::random_device()()};
  Names some;
  std::sample(names.begin(), names.end(), std::back_inserter(some), names.size() / 10, random);
  return as_set(client, some);
}

Section pipelined(Client& client, const Names& names) {
  std::vector<std::unique_ptr<AsyncWriteLock>> locks;
  for (const std::string& name : names) locks.push_back(std::make_unique<AsyncWriteLock>(client, "bench", name));
  Gathering held(locks.size());
  Gathering released(locks.size());
  const auto take = [&] {
    for (const auto& lock : locks) lock->acquire([&](std::exception_ptr error) { held.one(std::move(error)); });
    held.wait();
  };
  const auto give_back = [&] {
    for (const auto& lock : locks) lock->release([&](std::exception_ptr error) { released.one(std::move(error)); });
    released.wait();
  };
  return timed(take, give_back);
}

Section one_by_one(Client& client, const Names& names) {
  std::vector<std::unique_ptr<BlockingWriteLock>> locks;
  for (const std::string& name : names) locks.push_back(std::make_unique<BlockingWriteLock>(client, "bench", name));
  const auto take = [&] {
    for (const auto& lock : locks) lock->lock_with_timeout();
  };
  const auto give_back = [&] {
    for (const auto& lock : locks) lock->unlock_or_throw();
  };
  return timed(take, give_back);
}

// The sections of run_fresh.
class FreshLoad {
 public:
  FreshLoad(Client& client, const Job& job) : client_(client), lines_(job.monitors.size()) {
    for (std::size_t i = 0; i < lines_.size(); ++i) lines_[i].prefix = job.monitors[i] + "-";
    left_ = job.sections > 0 ? job.sections : std::numeric_limits<std::size_t>::max();
  }

  JobResult run(const Job& job) {
    const auto begin = Clock::now();
    end_ = end_of(job, begin);
    running_ = lines_.size();
    for (Line& line : lines_) next(line);
    std::unique_lock guard(mutex_);
    changed_.wait(guard, [this] { return running_ == 0; });
    if (failure_) std::rethrow_exception(failure_);
    return {std::chrono::duration<double>(Clock::now() - begin).count(), std::move(sections_)};
  }

 private:
  struct Line {
    std::string prefix;
    std::size_t section = 0;
    std::unique_ptr<AsyncWriteLock> lock;
    std::unique_ptr<AsyncWriteLock> former;  // whose last callback may be running
  };

  void next(Line& line) {
    {
      const std::lock_guard guard(mutex_);
      if (left_ == 0 || failure_ || Clock::now() >= end_) return end_line();
      --left_;
    }
    line.former = std::move(line.lock);
    line.lock = std::make_unique<AsyncWriteLock>(client_, "fresh", line.prefix + std::to_string(line.section++));
    const auto asked = Clock::now();
    line.lock->acquire([this, &line, asked](std::exception_ptr error) {
      if (error) return fail(std::move(error));
      const auto held = Clock::now();
      line.lock->release([this, &line, asked, held](std::exception_ptr) {
        {
          const std::lock_guard guard(mutex_);
          sections_.push_back({held - asked, Clock::now() - asked});
        }
        next(line);
      });
    });
  }

  void fail(std::exception_ptr error) {
    const std::lock_guard guard(mutex_);
    failure_ = std::move(error);
    end_line();
  }
  // Requires mutex_.
  void end_line() {
    --running_;
    changed_.notify_one();
  }

  Client& client_;
  std::vector<Line> lines_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t left_ = 0;
  Clock::time_point end_{};
  std::size_t running_ = 0;
  std::exception_ptr failure_;
  std::vector<Section> sections_;
};

}  // namespace

JobResult run_together(Client& client, const Job& job, const std::string& way) {
  const auto run_one = way == "set"          ? as_set
                       : way == "pipelined"  ? pipelined
                       : way == "one by one" ? one_by_one
                       : way == "tenth"      ? as_set_of_a_tenth
                                             : nullptr;
  if (run_one == nullptr) throw std::invalid_argument("there is no way '" + way + "' to take locks together");
  JobResult result;
  const auto begin = Clock::now();
  const auto end = end_of(job, begin);
  for (std::size_t i = 0; i < job.sections || (job.sections == 0 && Clock::now() < end); ++i) {
    result.sections.push_back(run_one(client, names_of(job, i)));
  }
  result.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return result;
}

JobResult run_fresh(Client& client, const Job& job) {
  return FreshLoad(client, job).run(job);
}

}  // namespace forelock::bench
