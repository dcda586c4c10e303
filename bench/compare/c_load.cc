#include "bench/compare/c_load.h"

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <vector>

#include "bench/bench_server.h"
#include "workload/thread_load.h"

namespace forelock::bench {
namespace {

using workload::Clock;
using workload::Job;
using workload::JobResult;

constexpr std::int64_t connect_patience_ms = 30'000;
constexpr std::size_t events_at_once = 256;

void require(std::int32_t code) {
  if (code != FL_OK) throw std::runtime_error(fl_last_message());
}

fl_lock new_lock(fl_client client, const std::string& monitor, const Job& job) {
  fl_lock lock = 0;
  require(
      fl_lock_new(client, "bench", monitor.c_str(), job.background ? FL_BACKGROUND : FL_FOREGROUND, nullptr, &lock));
  return lock;
}

class BlockingLock final : public workload::Lockable {
 public:
  BlockingLock(fl_client client, const std::string& monitor, const Job& job)
      : lock_(new_lock(client, monitor, job)), release_detached_(job.release_async) {}
  ~BlockingLock() override { fl_lock_free(lock_); }
  BlockingLock(const BlockingLock&) = delete;
  BlockingLock& operator=(const BlockingLock&) = delete;

  void lock() override { require(fl_lock_acquire(lock_, FL_CONFIGURED)); }
  void unlock() override { require(release_detached_ ? fl_lock_release_detached(lock_) : fl_lock_release(lock_)); }

 private:
  const fl_lock lock_;
  const bool release_detached_;
};

// Monitors that are taken again and again, each event's tag being the number of its line.
class PollingLoad {
 public:
  PollingLoad(fl_client client, const Job& job) : client_(client), job_(job), lines_(job.monitors.size()) {
    left_ = job.sections > 0 ? job.sections : std::numeric_limits<std::size_t>::max();
    for (std::size_t i = 0; !job.fresh && i < lines_.size(); ++i) {
      lines_[i].lock = new_lock(client_, job.monitors[i], job);
    }
  }
  ~PollingLoad() {
    for (const Line& line : lines_) {
      if (line.lock != 0) fl_lock_free(line.lock);
    }
  }
  PollingLoad(const PollingLoad&) = delete;
  PollingLoad& operator=(const PollingLoad&) = delete;

  JobResult run() {
    const auto begin = Clock::now();
    end_ = end_of(job_, begin);
    running_ = lines_.size();
    for (std::size_t i = 0; i < lines_.size(); ++i) next(i);
    std::array<fl_event, events_at_once> events{};
    while (running_ > 0) {
      const std::int64_t count = fl_poll(client_, -1, events.data(), events.size());
      if (count < 0) throw std::runtime_error(fl_last_message());
      for (std::int64_t i = 0; i < count; ++i) take(events[static_cast<std::size_t>(i)]);
    }
    result_.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    return std::move(result_);
  }

 private:
  struct Line {
    fl_lock lock = 0;
    std::size_t section = 0;
    Clock::time_point asked{};
    Clock::time_point held{};
  };

  void next(std::size_t number) {
    if (left_ == 0 || Clock::now() >= end_) {
      --running_;
      return;
    }
    --left_;
    Line& line = lines_[number];
    if (job_.fresh) {
      if (line.lock != 0) require(fl_lock_free(line.lock));
      line.lock = new_lock(client_, job_.monitors[number] + "-" + std::to_string(line.section++), job_);
    }
    line.asked = Clock::now();
    require(fl_lock_acquire_async(line.lock, FL_CONFIGURED, number));
  }

  void take(const fl_event& event) {
    if (event.kind != FL_EVENT_ACQUIRED && event.kind != FL_EVENT_RELEASED) return;
    if (event.code != FL_OK) throw std::runtime_error(event.message);
    Line& line = lines_.at(event.tag);
    if (event.kind == FL_EVENT_ACQUIRED) {
      line.held = Clock::now();
      return require(fl_lock_release_async(line.lock, event.tag));
    }
    result_.sections.push_back({line.held - line.asked, Clock::now() - line.asked});
    next(event.tag);
  }

  const fl_client client_;
  const Job& job_;
  std::vector<Line> lines_;
  std::size_t left_ = 0;
  std::size_t running_ = 0;
  Clock::time_point end_{};
  JobResult result_;
};

}  // namespace

CLoad::CLoad(const std::string& servers) {
  fl_config config = 0;
  require(fl_config_new(&config));
  for (const Settings::Override& each : client_options(servers)) {
    require(fl_config_set(config, each.key.c_str(), each.value.c_str()));
  }
  require(fl_client_open(config, 0, &client_));
  fl_config_free(config);
  require(fl_client_wait_connected(client_, connect_patience_ms));
}

CLoad::~CLoad() {
  fl_client_free(client_);
}

JobResult CLoad::run(const Job& job) {
  if (job.async) return PollingLoad(client_, job).run();
  return run_threads(
      job, [&](const std::string& monitor) { return std::make_unique<BlockingLock>(client_, monitor, job); });
}

}  // namespace forelock::bench
