// The load of serve_cost.py: a server with very many monitors that are held, contenders that wait for some of them, and
// sections beside them at a rate that stdin says.
//
// Prints {"zookeeper","server_pid"} when the server is there, and {"ready_s"} when all are held and wait. Then a line
// of stdin is a number of sections a second, and its answer the number of those done so far. Ends with its stdin.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <exception>
#include <iostream>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "bench/bench_server.h"
#include "bench/options.h"
#include "forelock/async_write_lock.h"
#include "forelock/client.h"
#include "forelock/lock_set.h"

namespace forelock::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t set_size = 20;  // their records name the members
constexpr std::size_t holding_threads = 4;
constexpr std::size_t busy_monitors = 64;
constexpr std::chrono::hours longest_wait{1};

class Crowd {
 public:
  Crowd(Client& client, std::size_t monitors, std::size_t waiters) {
    for (std::size_t begin = 0; begin < monitors; begin += set_size) {
      std::vector<std::string> names;
      for (std::size_t i = begin; i < std::min(begin + set_size, monitors); ++i)
        names.push_back("monitor-" + std::to_string(i));
      sets_.push_back(std::make_unique<LockSet>(client, "serve_cost", names));
    }
    {
      std::atomic<std::size_t> next = 0;
      std::vector<std::jthread> threads;
      for (std::size_t i = 0; i < holding_threads; ++i) {
        threads.emplace_back([&] {
          for (std::size_t one = next++; one < sets_.size(); one = next++) sets_[one]->lock();
        });
      }
    }
    std::atomic<std::size_t> queued = 0;
    for (std::size_t i = 0; i < waiters; ++i) {
      const std::string& monitor = sets_[i % sets_.size()]->monitors().front();
      waiters_.push_back(std::make_unique<AsyncWriteLock>(client, "serve_cost", monitor, Priority::background));
      waiters_.back()->on_queued([&queued](const QueuePosition& place) {
        if (place.place == 0) return;
        ++queued;
        queued.notify_one();
      });
      waiters_.back()->acquire(longest_wait, [](const std::exception_ptr&) {});
    }
    for (std::size_t now = queued; now < waiters; now = queued) queued.wait(now);
    for (const auto& waiter : waiters_) waiter->on_queued({});
  }

 private:
  std::vector<std::unique_ptr<LockSet>> sets_;
  std::vector<std::unique_ptr<AsyncWriteLock>> waiters_;
};

// So many in a second, as far as they can be had.
class Sections {
 public:
  explicit Sections(Client& client) {
    for (std::size_t i = 0; i < busy_monitors; ++i) {
      locks_.push_back(std::make_unique<AsyncWriteLock>(client, "serve_cost", "busy-" + std::to_string(i)));
      idle_.push_back(i);
    }
    pacer_ = std::jthread([this](const std::stop_token& stop) { pace(stop); });
  }
  ~Sections() {
    pacer_.request_stop();
    pacer_.join();
    locks_.clear();
  }
  Sections(const Sections&) = delete;
  Sections& operator=(const Sections&) = delete;

  void set_rate(double rate) { rate_ = rate; }
  std::size_t done() const { return done_; }

 private:
  void pace(const std::stop_token& stop) {
    constexpr std::chrono::milliseconds step{1};
    double due = 0;
    for (auto next = Clock::now(); !stop.stop_requested(); next += step) {
      {
        std::unique_lock guard(mutex_);
        ticks_.wait_until(guard, stop, next, [] { return false; });
      }
      due = std::min(due + rate_ / 1000, static_cast<double>(busy_monitors));
      for (; due >= 1; due -= 1) {
        const std::unique_lock guard(mutex_);
        if (idle_.empty()) break;
        const std::size_t one = idle_.back();
        idle_.pop_back();
        begin(one);
      }
    }
  }

  void begin(std::size_t one) {
    locks_[one]->acquire(longest_wait, [this, one](const std::exception_ptr& problem) {
      if (problem) return rest(one);
      locks_[one]->release([this, one](const std::exception_ptr&) {
        ++done_;
        rest(one);
      });
    });
  }

  void rest(std::size_t one) {
    const std::lock_guard guard(mutex_);
    idle_.push_back(one);
  }

  std::vector<std::unique_ptr<AsyncWriteLock>> locks_;
  std::mutex mutex_;
  std::condition_variable_any ticks_;
  std::vector<std::size_t> idle_;
  std::atomic<double> rate_ = 0;
  std::atomic<std::size_t> done_ = 0;
  std::jthread pacer_;
};

int run(const Options& options) {
  std::optional<test::TestServer> server(server_options(false));
  std::cout << R"({"zookeeper":")" << server->connect_string() << R"(","server_pid":)" << server->process_id() << "}"
            << std::endl;
  Settings settings = client_settings(server->connect_string());
  settings.set("zookeeper.backgound.task.timeout", "3600000", "serve_load");
  Client client(settings);
  const auto begun = Clock::now();
  const Crowd crowd(client, static_cast<std::size_t>(options.number("monitors")),
                    static_cast<std::size_t>(options.number("waiters")));
  std::cout << R"({"ready_s":)" << std::chrono::duration<double>(Clock::now() - begun).count() << "}" << std::endl;
  Sections sections(client);
  for (double rate = 0; std::cin >> rate;) {
    sections.set_rate(rate);
    std::cout << sections.done() << std::endl;
  }
  server.reset();
  std::_Exit(0);  // a hundred thousand locks went with the server
}

}  // namespace
}  // namespace forelock::bench

int main(int argc, char** argv) {
  try {
    return forelock::bench::run(forelock::bench::Options(argc, argv, {{"monitors", "100000"}, {"waiters", "10000"}}));
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "bench_serve_load: %s\n", problem.what());
    return 1;
  }
}
