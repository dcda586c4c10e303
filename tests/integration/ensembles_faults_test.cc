// Lock sets over two ensembles while connections and servers of either fail: never two holders, and never a set that
// waits for ever. All clients of a map name the same addresses, so they share one proxy in front of each server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "client/client_core.h"
#include "integration/fixture.h"
#include "support/tcp_proxy.h"
#include "support/wait_until.h"

namespace forelock::test {
namespace {

using namespace std::chrono_literals;
using Random = std::mt19937;
using ::testing::IsEmpty;

constexpr auto session_timeout = 2s;
constexpr int clients_count = 4;
constexpr int threads_each = 2;

// What the locks protect: it knows the highest token that it has seen.
class Documents {
 public:
  // A higher token has been granted to somebody else since, so the writer must not be sure of its own any more.
  void write(const LockSet& set, const MemberToken& member) {
    const std::scoped_lock lock(mutex_);
    std::int64_t& highest = highest_[member.monitor];
    if (member.token < highest && set.healthy()) {
      overlaps_.push_back(member.monitor + ": " + std::to_string(member.token) + " behind " + std::to_string(highest));
    }
    highest = std::max(highest, member.token);
    ++writes_;
  }
  std::vector<std::string> overlaps() const {
    const std::scoped_lock lock(mutex_);
    return overlaps_;
  }
  std::size_t writes() const {
    const std::scoped_lock lock(mutex_);
    return writes_;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::int64_t> highest_;
  std::vector<std::string> overlaps_;
  std::size_t writes_ = 0;
};

struct Side {
  TestServer server{quick_server()};
  TcpProxy proxy{server.port()};
  std::atomic<bool> cut_one = false;  // the connection that says something next

  Side() {
    proxy.set_inspector([this](int, TcpProxy::Direction, std::string&) {
      TcpProxy::Verdict verdict;
      verdict.cut = cut_one.exchange(false);
      return verdict;
    });
  }
};

class IntegrationEnsemblesFaultsTest : public ::testing::Test {
 protected:
  IntegrationEnsemblesFaultsTest() {
    const client::ClientCore core(settings(false), {});
    std::array<int, 2> wanted = {3, 3};
    for (int i = 0; monitors_.size() < 6; ++i) {
      std::string name = "m" + std::to_string(i);
      const bool first = core.home_of(name).servers().front().port == sides_[0].proxy.port();
      if (wanted[first ? 0 : 1]-- > 0) monitors_.push_back(std::move(name));
    }
  }

  Settings settings(bool lingers) const {
    return settings_for(
        sides_[0].proxy.connect_string() + "|" + sides_[1].proxy.connect_string(),
        {{"zookeeper.session.timeout", std::to_string(std::chrono::milliseconds(session_timeout).count())},
         {"zookeeper.connection.delay", "200"},
         {"zookeeper.connection.retry", "100"},
         {"zookeeper.lock.linger", lingers ? "300" : "0"}});
  }

  void write_all(const LockSet& set, Random& random) {
    for (int i = 0; i < 3; ++i) {
      for (const MemberToken& member : set.fencing_tokens()) {
        if (!set.healthy()) return;
        documents_.write(set, member);
      }
      wait_until([&] { return !set.healthy(); }, std::chrono::milliseconds(random() % 3));
    }
  }

  std::vector<std::string> some(Random& random) const {
    std::vector<std::string> members = monitors_;
    std::shuffle(members.begin(), members.end(), random);
    members.resize(1 + random() % members.size());
    return members;
  }

  void take_some(Client& client, Random& random) {
    LockSet set(client, "some", some(random), random() % 2 == 0 ? Priority::foreground : Priority::background);
    try {
      if (!set.try_lock_for(std::chrono::milliseconds(random() % 3000))) return;
      write_all(set, random);
      if (random() % 4 == 0 && set.step_aside(1s)) write_all(set, random);
      set.unlock_or_throw();
    } catch (const Error& error) {  // as the faults will have it; the set's destructor gives back what is held
      const std::scoped_lock lock(mutex_);
      ++failures_[name_of(error.code())];
    }
  }

  std::size_t failures() {
    const std::scoped_lock lock(mutex_);
    return std::accumulate(failures_.begin(), failures_.end(), std::size_t{0},
                           [](std::size_t sum, const auto& one) { return sum + one.second; });
  }

  // Until so many calls more have failed, but not much longer than a session lives.
  void await_failures(Random& random) {
    const std::size_t enough = failures() + random() % 16;
    wait_until([&] { return failures() >= enough; }, session_timeout + 1s);
  }

  // Afterwards everything is as it was.
  void strike(Side& side, Random& random) {
    switch (random() % 6) {
      case 0:
      case 1:
        side.cut_one = true;
        break;
      case 2:
        side.proxy.cut_connections();
        break;
      case 3:
        side.server.kill();
        side.server.restart();
        break;
      case 4:
        side.server.pause();
        await_failures(random);
        side.server.resume();
        break;
      default:
        side.proxy.stall(true);
        await_failures(random);
        side.proxy.stall(false);
    }
    const std::size_t enough = documents_.writes() + random() % 100;
    wait_until([&] { return documents_.writes() >= enough; }, 1s);
  }

  std::array<Side, 2> sides_;
  std::vector<std::string> monitors_;  // as many of each side
  Documents documents_;
  std::mutex mutex_;
  std::map<std::string_view, std::size_t> failures_;
};

TEST_F(IntegrationEnsemblesFaultsTest, SetsOverBothNeitherMeetNorWaitForEver) {
  const auto end = std::chrono::steady_clock::now() + 20s * length();
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < clients_count; ++i) clients.push_back(std::make_unique<Client>(settings(i % 2 == 0)));
  for (const auto& client : clients) ASSERT_TRUE(client->wait_connected(20s));
  std::atomic<bool> calm = false;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < clients_count * threads_each; ++i) {
    threads.emplace_back([&, i] {
      Random random(i);
      Client& client = *clients[i % clients_count];
      while (!calm) take_some(client, random);
      EXPECT_TRUE(client.wait_connected(30s));
      for (int round = 0; round < 10; ++round) {
        LockSet set(client, "in peace", some(random));
        EXPECT_NO_THROW(set.lock_with_timeout()) << "nothing is in its way any more";
        write_all(set, random);
        EXPECT_NO_THROW(set.unlock_or_throw());
      }
    });
  }
  Random random(4711);
  while (std::chrono::steady_clock::now() < end) strike(sides_[random() % 2], random);
  calm = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(documents_.overlaps(), IsEmpty());
  EXPECT_GT(documents_.writes(), 100U);
  clients.clear();
  for (const Side& side : sides_) {
    EXPECT_TRUE(wait_until([&] { return ephemeral_nodes(side.server).empty(); })) << "nothing is left";
  }
  std::cout << documents_.writes() << " writes";
  for (const auto& [code, count] : failures_) std::cout << ", " << count << " times " << code;
  std::cout << "\n";
}

}  // namespace
}  // namespace forelock::test
