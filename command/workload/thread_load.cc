#include "workload/thread_load.h"

#include <atomic>
#include <exception>
#include <limits>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

namespace forelock::workload {
namespace {

// Spins through the last part: a sleeping thread wakes up late, and that is not what is measured.
void pass_time(Clock::duration time) {
  constexpr auto spun = std::chrono::microseconds(200);
  const auto end = Clock::now() + time;
  if (time > spun) std::this_thread::sleep_until(end - spun);
  while (Clock::now() < end) {
  }
}

}  // namespace

JobResult run_threads(const Job& job, const LockMaker& make_lock, const std::stop_token& stop) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  JobResult result;
  const std::size_t sections = job.sections > 0 ? job.sections : std::numeric_limits<std::size_t>::max();
  const auto begin = Clock::now();
  const auto end = end_of(job, begin);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < job.threads; ++i) {
    threads.emplace_back([&, i] {
      std::vector<Section> own;
      std::minstd_rand random(static_cast<unsigned>(i + 1));
      std::exponential_distribution<double> pause(job.pause.count() > 0 ? 1.0 / double(job.pause.count()) : 1.0);
      try {
        const std::string& monitor = job.monitors[i % job.monitors.size()];
        std::unique_ptr<Lockable> lock = job.fresh ? nullptr : make_lock(monitor);
        for (std::size_t section = next++; section < sections && Clock::now() < end && !stop.stop_requested();
             section = next++) {
          if (job.pause.count() > 0) {
            pass_time(std::chrono::microseconds(static_cast<std::int64_t>(pause(random))));
          }
          if (job.fresh) lock = make_lock(monitor + "-" + std::to_string(section));
          const auto asked = Clock::now();
          lock->lock();
          const auto held = Clock::now();
          if (job.hold.count() > 0) pass_time(job.hold);
          const auto done = Clock::now();
          lock->unlock();
          own.push_back({held - asked, (held - asked) + (Clock::now() - done)});
        }
      } catch (...) {
        const std::lock_guard guard(mutex);
        if (!failure) failure = std::current_exception();
      }
      const std::lock_guard guard(mutex);
      result.sections.insert(result.sections.end(), own.begin(), own.end());
    });
  }
  for (std::thread& thread : threads) thread.join();
  result.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  if (failure) std::rethrow_exception(failure);
  return result;
}

}  // namespace forelock::workload
