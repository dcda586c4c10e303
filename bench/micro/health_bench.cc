// healthy() and its like on a lock that is really held: a server without fsync runs beside it.
#include <benchmark/benchmark.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "bench/bench_server.h"
#include "forelock/forelock.h"

namespace forelock::bench {
namespace {

// Made at the first use, kept to the end of the program.
struct HeldLock {
  HeldLock() { lock.lock_with_timeout(); }

  test::TestServer server{server_options(false)};
  Client client{client_settings(server.connect_string())};
  BlockingWriteLock lock{client, "measure", "held"};
};

HeldLock& held() {
  static HeldLock held;
  return held;
}

void healthy(benchmark::State& state) {
  const BlockingWriteLock& lock = held().lock;
  bool all = true;
  for (auto _ : state) {
    const bool now = lock.healthy();
    benchmark::DoNotOptimize(now);
    all = all && now;
  }
  if (!all) state.SkipWithError("the lock was not healthy all the time");
}
BENCHMARK(healthy)->Threads(1)->Threads(2);

// While other threads of the process lock and unlock other monitors over the same client.
void healthy_beside_locking(benchmark::State& state) {
  HeldLock& held_lock = held();
  std::atomic<bool> stop{false};
  std::vector<std::thread> others;
  for (int i = 0; i < 2; ++i) {
    others.emplace_back([&held_lock, &stop, i] {
      BlockingWriteLock lock(held_lock.client, "disturb", "other-" + std::to_string(i));
      while (!stop) {
        lock.lock_with_timeout();
        lock.unlock();
      }
    });
  }
  for (auto _ : state) benchmark::DoNotOptimize(held_lock.lock.healthy());
  stop = true;
  for (std::thread& other : others) other.join();
}
BENCHMARK(healthy_beside_locking);

void check_health(benchmark::State& state) {
  const BlockingWriteLock& lock = held().lock;
  for (auto _ : state) lock.check_health();
}
BENCHMARK(check_health);

void steady_clock_for_comparison(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(std::chrono::steady_clock::now());
}
BENCHMARK(steady_clock_for_comparison);

}  // namespace
}  // namespace forelock::bench
