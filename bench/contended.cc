// Throughput: many threads of one process at one monitor, and one process over many monitors without waiting.
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "bench/bench_server.h"
#include "bench/options.h"
#include "bench/samples.h"
#include "forelock/forelock.h"
#include "workload/raw_client.h"

namespace forelock::bench {
namespace {

using workload::RawClient;

double per_second(int count, Clock::duration time) {
  return count / std::chrono::duration<double>(time).count();
}

// Every thread takes its share of the sections and excludes the others with `section`.
double sections_per_second(int threads, int sections, const std::function<void(int thread)>& section) {
  std::atomic<int> left{sections};
  std::vector<std::thread> workers;
  const auto begin = Clock::now();
  for (int thread = 0; thread < threads; ++thread) {
    workers.emplace_back([&, thread] {
      while (left.fetch_sub(1) > 0) section(thread);
    });
  }
  for (std::thread& worker : workers) worker.join();
  return per_second(sections, Clock::now() - begin);
}

// Locks of different monitors over one client, each taken again as soon as it is free.
class AsyncLoad {
 public:
  AsyncLoad(Client& client, int monitors) {
    for (int i = 0; i < monitors; ++i) {
      locks_.push_back(std::make_unique<AsyncWriteLock>(client, "many", "many-" + std::to_string(i)));
    }
  }

  double run(int sections) {
    left_ = sections;
    running_ = static_cast<int>(locks_.size());
    failures_ = 0;
    const auto begin = Clock::now();
    for (const auto& lock : locks_) next(*lock);
    std::unique_lock guard(mutex_);
    changed_.wait(guard, [this] { return running_ == 0; });
    if (failures_ != 0) throw std::runtime_error("an acquisition failed");
    return per_second(sections, Clock::now() - begin);
  }

 private:
  void next(AsyncWriteLock& lock) {
    if (left_.fetch_sub(1) <= 0) {
      const std::lock_guard guard(mutex_);
      --running_;
      changed_.notify_one();
      return;
    }
    lock.acquire([this, &lock](std::exception_ptr error) {
      if (error) ++failures_;
      lock.release([this, &lock](std::exception_ptr) { next(lock); });
    });
  }

  std::vector<std::unique_ptr<AsyncWriteLock>> locks_;
  std::atomic<int> left_{0};
  std::atomic<int> failures_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  int running_ = 0;
};

int run(const Options& options) {
  test::TestServer server(server_options(options.flag("sync")));
  const std::string servers = server.connect_string();
  const int threads = options.number("threads");
  const int monitors = options.number("monitors");
  const int sections = options.number("sections");

  RawClient raw(servers);
  raw.ensure("/raw");
  Client client(client_settings(servers));
  std::vector<std::unique_ptr<BlockingWriteLock>> locks;
  for (int i = 0; i < threads; ++i) locks.push_back(std::make_unique<BlockingWriteLock>(client, "shared", "shared"));
  AsyncLoad load(client, monitors);

  Samples floor;
  Samples shared;
  Samples many;
  Samples requests_shared;
  Samples requests_many;
  for (int round = 0; round < options.number("rounds"); ++round) {
    floor.add(sections_per_second(1, sections, [&](int) {
      raw.claim("/raw");
      raw.release();
    }));
    auto before = client.statistics().requests;
    shared.add(sections_per_second(threads, sections, [&](int thread) {
      BlockingWriteLock& lock = *locks[static_cast<std::size_t>(thread)];
      lock.lock();
      lock.unlock();
    }));
    requests_shared.add(static_cast<double>(client.statistics().requests - before) / sections);
    before = client.statistics().requests;
    many.add(load.run(10 * sections));
    requests_many.add(static_cast<double>(client.statistics().requests - before) / (10 * sections));
  }

  const auto row = [](const std::string& name, const Samples& rates, const Samples& requests, double against) {
    std::fprintf(stderr, "%-34s %8.0f [%.0f, %.0f] sections/s  %5.2f x raw  %.2f requests a section\n", name.c_str(),
                 rates.median(), rates.lowest(), rates.highest(), rates.median() / against, requests.median());
    return nlohmann::json{{"name", name},
                          {"sections_per_second", rates.median()},
                          {"lowest", rates.lowest()},
                          {"highest", rates.highest()},
                          {"ratio_to_raw", rates.median() / against},
                          {"requests_per_section", requests.median()}};
  };
  Samples two;
  two.add(2.0);
  nlohmann::json result = {{"benchmark", "contended"}, {"sync", options.flag("sync")}};
  result["variants"].push_back(row("raw, one thread", floor, two, floor.median()));
  result["variants"].push_back(
      row(std::to_string(threads) + " threads, one monitor", shared, requests_shared, floor.median()));
  result["variants"].push_back(
      row(std::to_string(monitors) + " monitors, asynchronous", many, requests_many, floor.median()));
  std::printf("%s\n", result.dump(2).c_str());
  return 0;
}

}  // namespace
}  // namespace forelock::bench

int main(int argc, char** argv) {
  return forelock::bench::run(forelock::bench::Options(
      argc, argv, {{"rounds", "5"}, {"threads", "8"}, {"monitors", "64"}, {"sections", "400"}, {"sync", "on"}}));
}
