// What a hand-over between processes costs the server, however many wait: counted by the server.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "integration/fixture.h"
#include "support/wait_until.h"

namespace forelock::test {
namespace {

using namespace std::chrono_literals;

class WaitersTest : public ::testing::Test {
 protected:
  static ServerOptions options() {
    ServerOptions options = quick_server();
    options.container_check = 1h;
    return options;
  }

  std::int64_t ephemerals() { return server_.counter("zk_ephemerals_count"); }

  // Requests so far; the question itself is a packet too.
  std::int64_t received() { return server_.packets_received() - ++asked_; }

  // Waits until so many lock nodes exist and nobody sends anything any more. \returns the requests so far.
  std::int64_t received_at(std::int64_t nodes) {
    std::int64_t last = -1;
    auto since = std::chrono::steady_clock::now();
    EXPECT_TRUE(wait_until(
        [&] {
          const bool there = ephemerals() == nodes;
          ++asked_;
          const std::int64_t now = received();
          if (!there || now != last) since = std::chrono::steady_clock::now();
          last = now;
          return there && std::chrono::steady_clock::now() - since > 100ms;
        },
        60s));
    return last;
  }

  // Some take their turns, alternating between the processes, while `waiters` wait behind them. \returns the requests
  // of one hand-over.
  double requests_of_hand_over(const std::string& mode, std::size_t processes, int waiters) {
    constexpr int turns = 20;
    const std::string monitor = "line-" + std::to_string(++lines_);
    std::vector<std::unique_ptr<Client>> clients;
    for (std::size_t i = 0; i < processes; ++i) {
      // So long a time-out that nothing is sent for the session's sake.
      clients.push_back(std::make_unique<Client>(settings_for(
          server_.connect_string(), {{"zookeeper.session.timeout", "60000"}, {"zookeeper.lock.watch", mode}})));
      EXPECT_TRUE(clients.back()->wait_connected(10s));
    }
    std::vector<std::unique_ptr<AsyncWriteLock>> locks;
    const auto join = [&](std::size_t process, bool hold) {
      locks.push_back(std::make_unique<AsyncWriteLock>(*clients[process], "wait", monitor));
      AsyncWriteLock& lock = *locks.back();
      lock.acquire([&lock, hold](std::exception_ptr error) {
        if (!error && !hold) lock.release();
      });
    };
    join(processes - 1, true);
    EXPECT_TRUE(wait_until([&] { return locks.front()->owns_lock(); }));
    const std::int64_t holder = 2;  // its own node and privateLock
    for (int turn = 0; turn < turns; ++turn) {
      join(static_cast<std::size_t>(turn) % processes, false);
      EXPECT_TRUE(wait_until([&] { return ++asked_, ephemerals() == holder + turn + 1; }));
    }
    for (int i = 0; i < waiters; ++i) join(static_cast<std::size_t>(i) % processes, true);
    const std::int64_t before = received_at(holder + turns + waiters);
    locks.front()->release();
    const std::int64_t after = received_at(waiters + 1);
    for (const auto& client : clients) client->close();
    received_at(0);
    return static_cast<double>(after - before) / (turns + 1);
  }

  // A holder that the machine interrupts for 50 ms costs a watch: the least of some attempts counts.
  double least(const std::string& mode, std::size_t processes, int waiters) {
    double least = std::numeric_limits<double>::max();
    for (int attempt = 0; attempt < 3; ++attempt) {
      least = std::min(least, requests_of_hand_over(mode, processes, waiters));
    }
    std::cout << mode << ", " << processes << " processes, " << waiters << " waiters: " << least
              << " requests a hand-over\n";
    return least;
  }

  TestServer server_{options()};
  std::int64_t asked_ = 0;
  int lines_ = 0;
};

TEST_F(WaitersTest, PredecessorCostsTheSameHoweverManyWait) {
  const double few = least("predecessor", 4, 10);
  EXPECT_LE(few, 5.5);
  EXPECT_LE(least("predecessor", 4, 100), few * 1.1);
  EXPECT_LE(least("predecessor", 4, 1000), few * 1.1);
  EXPECT_LE(least("predecessor", 8, 100), few * 1.1);
}

TEST_F(WaitersTest, ParentGrowsWithProcessesNotWithWaiters) {
  const double few = least("parent", 4, 10);
  EXPECT_LE(least("parent", 4, 1000), few * 1.1);
  // Each process looks at the line once or twice for a hand-over.
  const double two = least("parent", 2, 10);
  EXPECT_LE(few, 2 * two * 1.1);
  EXPECT_LE(least("parent", 8, 10), 4 * two * 1.1);
}

}  // namespace
}  // namespace forelock::test
