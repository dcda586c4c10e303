// What a lock costs, counted on the wire and at the server.
#include "integration/fixture.h"
#include "integration/wire_tap.h"
#include "support/shared_server.h"
#include "support/test.h"
#include "support/wait_until.h"

namespace forelock::test {
namespace {

class RequestsTest : public SharedServerTest<::testing::TestWithParam<std::string>, lasting_containers> {
 protected:
  // So long a time-out that nothing is sent for the session's sake.
  static Settings settings(const std::string& servers) {
    return settings_for(servers, {{"zookeeper.session.timeout", "60000"}, {"zookeeper.lock.watch", GetParam()}});
  }
  RequestsTest() : tap_(proxy_), client_(settings(proxy_.connect_string())) {
    EXPECT_TRUE(client_.wait_connected(10s));
    // The client has a heartbeat of its own to begin with.
    EXPECT_TRUE(wait_until([this] { return client_.statistics().requests > 0; }));
    take();
  }

  // Since the last call, when everything that the client has sent has been answered.
  WireTap::Traffic take() {
    return tap_.take([this] { return client_.statistics().requests; });
  }

  // A section that the machine interrupts for 50 ms costs a watch: such a batch is tried again.
  static constexpr unsigned attempts = 5;
  static constexpr unsigned cycles = 250;
  WireTap::Traffic cycles_of(BlockingWriteLock& lock) {
    take();
    for (unsigned i = 0; i < cycles; ++i) {
      lock.lock_with_timeout();
      lock.unlock();
    }
    return take();
  }

  TcpProxy proxy_{server_->port()};
  WireTap tap_;
  Client client_;
};

TEST_P(RequestsTest, KnownMonitorTwoRequestsTwoRoundTrips) {
  BlockingWriteLock lock(client_, "count", "known-" + GetParam());
  lock.lock_with_timeout();
  lock.unlock();
  take();
  // Another process that is busy with other monitors changes nothing.
  Client other(settings(server_->connect_string()));
  std::atomic<bool> stop{false};
  std::thread neighbour([&] {
    BlockingWriteLock elsewhere(other, "other", "elsewhere-" + GetParam());
    while (!stop) {
      elsewhere.lock_with_timeout();
      elsewhere.unlock();
    }
  });
  WireTap::Traffic least = cycles_of(lock);
  for (unsigned attempt = 1; attempt < attempts && least.requests != 2 * cycles; ++attempt) least = cycles_of(lock);
  stop = true;
  neighbour.join();
  EXPECT_EQ(least.requests, 2 * cycles) << least;
  EXPECT_EQ(least.round_trips, 2 * cycles) << least;
}

TEST_P(RequestsTest, ServerCountsTwoPacketsForACycle) {
  BlockingWriteLock lock(client_, "count", "packets-" + GetParam());
  lock.lock_with_timeout();
  lock.unlock();
  take();
  // What the counting itself adds, if anything.
  const auto first = server_->packets_received();
  const auto second = server_->packets_received();
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (unsigned attempt = 0; attempt < attempts && least != 2 * cycles; ++attempt) {
    const auto before = server_->packets_received();
    cycles_of(lock);
    least = std::min(least, server_->packets_received() - before - (second - first));
  }
  EXPECT_EQ(least, 2 * cycles);
}

TEST_P(RequestsTest, ColdMonitorOneRoundTrip) {
  proxy_.set_delay(20ms);  // so that what is sent in one breath is seen in one breath
  for (int i = 0; i < 5; ++i) {
    BlockingWriteLock lock(client_, "cold", "cold-" + GetParam() + std::to_string(i));
    lock.lock_with_timeout();
    lock.unlock();
    const auto traffic = take();
    EXPECT_EQ(traffic.round_trips, 2u) << traffic;
    EXPECT_EQ(traffic.requests, 2u) << traffic;
    // From the second time on a watch on the monitor pays: it is set with the second claim.
    for (const std::size_t requests : {3u, 2u, 2u}) {
      lock.lock_with_timeout();
      lock.unlock();
      const auto again = take();
      EXPECT_EQ(again.round_trips, 2u) << again;
      EXPECT_EQ(again.requests, requests) << again;
    }
  }
}

// What others have made is found to be there, and then claimed.
TEST_P(RequestsTest, AMonitorThatOthersHaveMadeCostsARoundTripMore) {
  const std::string monitor = "others-" + GetParam();
  Client other(client_.settings());
  BlockingWriteLock first(other, "first", monitor);
  first.lock_with_timeout();
  first.unlock();
  take();
  proxy_.set_delay(20ms);
  BlockingWriteLock lock(client_, "second", monitor);
  lock.lock_with_timeout();
  lock.unlock();
  const auto traffic = take();
  EXPECT_EQ(traffic.round_trips, 3u) << traffic;
  EXPECT_EQ(traffic.requests, 4u) << traffic;
}

TEST_P(RequestsTest, HandOverInOneProcess) {
  const std::string monitor = "threads-" + GetParam();
  constexpr int threads = 8;
  constexpr int rounds = 100;
  std::atomic<int> ready{0};
  std::vector<std::thread> running;
  const auto begun = client_.statistics().requests;
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&] {
      BlockingWriteLock lock(client_, "thread", monitor);
      ++ready;
      while (ready < threads) std::this_thread::yield();
      for (int round = 0; round < rounds; ++round) {
        lock.lock_with_timeout();
        lock.unlock();
      }
    });
  }
  for (auto& thread : running) thread.join();
  const auto traffic = take();
  const double sections = threads * rounds;
  std::cout << GetParam() << ": " << static_cast<double>(traffic.requests) / sections << " requests a section, "
            << static_cast<double>(traffic.round_trips) / sections << " round trips a section\n";
  // A create and a hand-over each; the beginning and the end cost a little more.
  EXPECT_LE(traffic.requests, 2 * sections + 40) << traffic;
  EXPECT_LE(traffic.round_trips, sections * 3 / 2) << traffic;
  EXPECT_EQ(client_.statistics().requests - begun, traffic.requests);
}

// The round trips of one hand-over, seen alone: the first in the queue is granted by the reply to what the leaver
// sends.
TEST_P(RequestsTest, HandOverTakesOneRequest) {
  proxy_.set_delay(5ms);
  const std::string monitor = "pair-" + GetParam();
  for (int i = 0; i < 5; ++i) {
    BlockingWriteLock first(client_, "first", monitor);
    AsyncWriteLock second(client_, "second", monitor);
    first.lock_with_timeout();
    std::atomic<bool> granted{false};
    second.acquire([&](std::exception_ptr error) { granted = !error; });
    Inspector(client_).show(monitor);  // its reply comes after those before it: `second` is in the queue now
    take();
    first.unlock_async();
    EXPECT_TRUE(wait_until([&] { return granted.load(); }));
    const auto traffic = take();
    EXPECT_EQ(traffic.round_trips, 1u) << traffic;
    EXPECT_LE(traffic.requests, 2u) << traffic;  // the hand-over, and a listing where the rank is not yet proved
    second.release();
    EXPECT_TRUE(wait_until([&] { return client_.statistics().contenders == 0; }));
    take();
  }
}

INSTANTIATE_TEST_SUITE_P(Watch, RequestsTest, ::testing::Values("parent", "predecessor"),
                         [](const auto& mode) { return mode.param; });

}  // namespace
}  // namespace forelock::test
