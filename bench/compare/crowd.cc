#include "bench/compare/crowd.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "bench/usage.h"

namespace forelock::bench {
namespace {

// A number of /proc/self/status.
long of_process(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind(name + ":", 0) == 0) return std::stol(line.substr(name.size() + 1));
  }
  return 0;
}

}  // namespace

nlohmann::json Crowd::run(const nlohmann::json& job) {
  const auto begin = Clock::now();
  const std::string& what = job.at("crowd").get_ref<const std::string&>();
  double late_ms = 0;
  if (what == "wait") {
    wait(job.at("monitor"), job.at("waiters"), job.value("hold", true),
         std::chrono::milliseconds(job.value("timeout_ms", 0)));
  } else if (what == "free") {
    free();
  } else if (what == "cancel") {
    cancel();
  } else if (what == "expire") {
    late_ms = expire();
  }
  const Usage usage = Usage::now();
  return {{"seconds", std::chrono::duration<double>(Clock::now() - begin).count()},
          {"late_ms", late_ms},
          {"rss_kb", of_process("VmRSS")},
          {"threads", of_process("Threads")},
          {"cpu_seconds", (usage.user_us + usage.system_us) / 1e6}};
}

void Crowd::wait(const std::string& monitor, std::size_t count, bool hold, std::chrono::milliseconds timeout) {
  if (timeout.count() == 0) timeout = std::chrono::minutes(10);
  deadline_ = Clock::now() + timeout;
  {
    const std::lock_guard guard(mutex_);
    waiting_ += count;
  }
  for (std::size_t i = 0; i < count; ++i) {
    locks_.push_back(std::make_unique<AsyncWriteLock>(client_, "crowd", monitor));
    AsyncWriteLock& lock = *locks_.back();
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - Clock::now());
    lock.acquire(left, [this, &lock, hold](std::exception_ptr error) {
      if (!error && !hold) lock.release();
      const std::lock_guard guard(mutex_);
      --waiting_;
      changed_.notify_one();
    });
  }
}

void Crowd::free() {
  for (const auto& lock : locks_) {
    if (lock->owns_lock()) lock->release();
  }
}

void Crowd::cancel() {
  for (const auto& lock : locks_) lock->cancel();
  wait_until_nobody_waits();
}

double Crowd::expire() {
  wait_until_nobody_waits();
  return std::chrono::duration<double, std::milli>(Clock::now() - deadline_).count();
}

void Crowd::wait_until_nobody_waits() {
  std::unique_lock guard(mutex_);
  changed_.wait(guard, [this] { return waiting_ == 0; });
}

}  // namespace forelock::bench
