// What a hand-over between processes costs the server, however many wait, requests as well as replies and watch events:
// counted by the server.
#include "integration/fixture.h"
#include "support/test.h"
#include "support/wait_until.h"

namespace forelock::test {
namespace {

struct Packets {
  std::int64_t received = 0;
  std::int64_t sent = 0;  // replies and watch events
};

// Of one hand-over.
struct Cost {
  double requests = std::numeric_limits<double>::max();
  double packets = std::numeric_limits<double>::max();  // in both directions
};

// Two tenths are allowed: how many events there are, and looks that follow them, depends on the moment a little.
void expect_at_most(double times, const Cost& other, const Cost& cost) {
  EXPECT_LE(cost.requests, other.requests * times * 1.2);
  EXPECT_LE(cost.packets, other.packets * times * 1.2);
}

class WaitersTest : public ::testing::Test {
 protected:
  static ServerOptions options() {
    ServerOptions options = quick_server();
    options.container_check = 1h;
    return options;
  }

  std::int64_t ephemerals() { return server_.counter("zk_ephemerals_count"); }

  // What the server has received and sent so far. A question of ours is one packet and its answer two, of which the
  // server may count the last a moment later.
  Packets packets() {
    const std::int64_t received = server_.packets_received() - ++asked_;
    const std::int64_t sent = server_.counter("zk_packets_sent") - 2 * asked_++;
    return {received, sent};
  }

  // Waits until so many lock nodes exist and nobody sends anything any more. \returns the packets so far.
  Packets packets_at(std::int64_t nodes) {
    Packets last;
    auto since = std::chrono::steady_clock::now();
    EXPECT_TRUE(wait_until(
        [&] {
          const bool there = ephemerals() == nodes;
          ++asked_;
          const Packets now = packets();
          if (!there || now.received != last.received) since = std::chrono::steady_clock::now();
          last = now;
          return there && std::chrono::steady_clock::now() - since > 100ms;
        },
        60s));
    return last;
  }

  // Some take their turns, alternating between the processes, while `waiters` wait behind them.
  Cost cost_of_hand_over(const std::string& mode, std::size_t processes, int waiters) {
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
    const Packets before = packets_at(holder + turns + waiters);
    locks.front()->release();
    const Packets after = packets_at(waiters + 1);
    for (const auto& client : clients) client->close();
    packets_at(0);
    const auto requests = static_cast<double>(after.received - before.received);
    const auto replies_and_events = static_cast<double>(after.sent - before.sent);
    return {requests / (turns + 1), (requests + replies_and_events) / (turns + 1)};
  }

  // A holder that the machine interrupts for 50 ms costs a watch: the least of some attempts counts.
  Cost least(const std::string& mode, std::size_t processes, int waiters) {
    Cost least;
    for (int attempt = 0; attempt < 3; ++attempt) {
      const Cost cost = cost_of_hand_over(mode, processes, waiters);
      least = {std::min(least.requests, cost.requests), std::min(least.packets, cost.packets)};
    }
    std::cout << mode << ", " << processes << " processes, " << waiters << " waiters: " << least.requests
              << " requests, " << least.packets << " packets a hand-over\n";
    return least;
  }

  TestServer server_{options()};
  std::int64_t asked_ = 0;
  int lines_ = 0;
};

// A watch that stays behind with each section is no use to anybody, and once they pass 1 MiB no reconnect succeeds.
class WatchesTest : public WaitersTest, public ::testing::WithParamInterface<std::string> {};

INSTANTIATE_TEST_SUITE_P(Watch, WatchesTest, ::testing::Values("parent", "predecessor"),
                         [](const auto& mode) { return mode.param; });

TEST_P(WatchesTest, ThousandSectionsAmongThreeProcessesLeaveNone) {
  constexpr int processes = 3;
  constexpr int sections = 1000;
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < processes; ++i) {
    clients.push_back(
        std::make_unique<Client>(settings_for(server_.connect_string(), {{"zookeeper.lock.watch", GetParam()}})));
    ASSERT_TRUE(clients.back()->wait_connected(10s));
  }
  std::atomic<int> done{0};
  {
    std::vector<std::jthread> threads;
    for (const auto& client : clients) {
      threads.emplace_back([&client, &done] {
        BlockingWriteLock lock(*client, "short section", "hot monitor");
        while (done < sections) {
          ASSERT_TRUE(lock.try_lock_for(30s));
          lock.unlock();
          ++done;
        }
      });
    }
  }
  // The monitor itself and its children, for each process: no more, however many sections there were.
  EXPECT_TRUE(wait_until([&] { return server_.counter("zk_watch_count") <= 2 * processes; }, 5s))
      << server_.counter("zk_watch_count") << " watches after " << done << " sections";
}

TEST_F(WaitersTest, PredecessorCostsTheSameHoweverManyWait) {
  const Cost few = least("predecessor", 4, 10);
  EXPECT_LE(few.requests, 4.5);
  EXPECT_LE(few.packets, 14);  // 11.6 to 12.1: four requests and replies, three or four events
  expect_at_most(1, few, least("predecessor", 4, 100));
  expect_at_most(1, few, least("predecessor", 4, 1000));
  expect_at_most(1, few, least("predecessor", 8, 100));
}

TEST_F(WaitersTest, ParentCostsTheSameWhereProcessesHaveSeveralWaiters) {
  const Cost few = least("parent", 4, 10);
  EXPECT_LE(few.requests, 4.6);
  expect_at_most(1, few, least("parent", 4, 1000));
  // With two processes a listing serves until its last contender has had its turn.
  const Cost two = least("parent", 2, 10);
  EXPECT_LE(two.requests, 3.6);
  expect_at_most(1.4, two, least("parent", 8, 10));
}

}  // namespace
}  // namespace forelock::test
