// Locks over two ensembles: two real servers that know nothing of each other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <functional>
#include <future>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "client/client_core.h"
#include "integration/fixture.h"
#include "support/child_process.h"
#include "support/tcp_proxy.h"
#include "support/temporary_directory.h"
#include "support/wait_until.h"

namespace forelock::test {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* map_node = "/%forelock-ensembles";

class IntegrationEnsemblesTest : public ::testing::Test {
 protected:
  std::string servers() const { return a_.connect_string() + "|" + b_.connect_string(); }
  Settings settings() const {
    return settings_for(servers(), {{"zookeeper.session.timeout", "2000"}, {"zookeeper.connection.delay", "200"}});
  }
  // So many monitors that live at this server.
  std::vector<std::string> monitors_at(const TestServer& server, std::size_t count) const {
    const client::ClientCore core(settings(), {});
    std::vector<std::string> monitors;
    for (int i = 0; monitors.size() < count; ++i) {
      std::string name = "m" + std::to_string(i);
      if (core.home_of(name).servers().front().port == server.port()) monitors.push_back(std::move(name));
    }
    return monitors;
  }
  static std::string problem_of(const std::function<void()>& call) {
    try {
      call();
    } catch (const Error& error) {
      return std::string(name_of(error.code())) + ": " + error.what();
    }
    return "no problem";
  }
  // As an operator does it.
  static void remove_map(const TestServer& server) {
    client::ClientCore core(settings_for(server.connect_string()), {});
    core.start(client::ClientUse::looks_at_any_map);
    auto answer = core.link(0).request(coordination::Delete{map_node});
    EXPECT_EQ(answer.get().code, coordination::ReplyCode::ok);
  }

  TestServer a_{quick_server()};
  TestServer b_{quick_server()};
};

TEST_F(IntegrationEnsemblesTest, EachMonitorLivesInOneOfThem) {
  Client client(settings());
  ASSERT_TRUE(client.wait_connected(10s));
  std::vector<std::unique_ptr<BlockingWriteLock>> locks;
  for (int i = 0; i < 40; ++i) {
    locks.push_back(std::make_unique<BlockingWriteLock>(client, "test", "m" + std::to_string(i)));
    locks.back()->lock_with_timeout();
    EXPECT_TRUE(locks.back()->healthy());
  }
  const std::size_t at_a = ephemeral_nodes(a_).size();
  const std::size_t at_b = ephemeral_nodes(b_).size();
  EXPECT_EQ(at_a + at_b, 80u);
  EXPECT_EQ(at_a, 2 * std::count_if(locks.begin(), locks.end(), [&](const auto& lock) {
                    return client.core()->home_of(lock->monitor()).servers().front().port == a_.port();
                  }));
  EXPECT_GT(at_a, 20u);
  EXPECT_GT(at_b, 20u);
  Client other(settings());
  Inspector inspector(other);
  EXPECT_THAT(inspector.list(), SizeIs(40));
  for (const auto& lock : locks) {
    EXPECT_EQ(inspector.show(lock->monitor())->holder->token, lock->fencing_token());
    EXPECT_FALSE(BlockingWriteLock(other, "test", lock->monitor()).try_lock());
  }
  for (const auto& lock : locks) lock->unlock_or_throw();
  EXPECT_THAT(ephemeral_nodes(a_), IsEmpty());
  EXPECT_THAT(ephemeral_nodes(b_), IsEmpty());
  EXPECT_THAT(inspector.list(), IsEmpty());
  EXPECT_THAT(inspector.list(true), SizeIs(40)) << "the node with the map is no monitor";
}

TEST_F(IntegrationEnsemblesTest, RequestsAreSplitEvenly) {
  Client client(settings());
  ASSERT_TRUE(client.wait_connected(10s));
  const std::int64_t before_a = a_.packets_received();
  const std::int64_t before_b = b_.packets_received();
  constexpr int locks = 2000;
  for (int i = 0; i < locks; ++i) {
    BlockingWriteLock lock(client, "test", "document-" + std::to_string(i));
    lock.lock_with_timeout();
    lock.unlock_or_throw();
  }
  const auto to_a = static_cast<double>(a_.packets_received() - before_a);
  const auto to_b = static_cast<double>(b_.packets_received() - before_b);
  std::cout << to_a << " and " << to_b << " requests for " << locks << " locks\n";
  EXPECT_GE(to_a + to_b, 2 * locks);
  EXPECT_NEAR(to_a / (to_a + to_b), 0.5, 0.05);
}

TEST_F(IntegrationEnsemblesTest, AClientWithAnotherMapServesNoLock) {
  {
    Client client(settings());
    BlockingWriteLock lock(client, "test", "m");
    lock.lock_with_timeout();
  }
  const TcpProxy proxy(b_.port());
  const std::vector<std::string> others = {a_.connect_string() + "|" + proxy.connect_string(), a_.connect_string(),
                                           b_.connect_string() + "," + a_.connect_string()};
  for (const std::string& other : others) {
    Client client(settings_for(other, {{"zookeeper.connection.delay", "100"}}));
    for (int i = 0; i < 20; ++i) {
      BlockingWriteLock lock(client, "test", "m" + std::to_string(i));
      EXPECT_THAT(problem_of([&] { lock.lock_with_timeout(); }), HasSubstr("ensembles_differ: ")) << other;
    }
    EXPECT_THAT(problem_of([&] { client.wait_connected(10s); }), HasSubstr("zookeeper.servers of this client"));
    EXPECT_THAT(problem_of([&] { Inspector(client).list(); }), HasSubstr("ensembles_differ: "));
    EXPECT_THAT(client.last_problem(), HasSubstr(a_.connect_string()));
  }
  EXPECT_THAT(ephemeral_nodes(a_), IsEmpty());

  // The map is changed on purpose: a client that was refused goes on by itself.
  Client client(settings_for(a_.connect_string(), {{"zookeeper.connection.delay", "100"}}));
  EXPECT_THAT(problem_of([&] { client.wait_connected(10s); }), HasSubstr("ensembles_differ: "));
  remove_map(a_);
  const auto is_served = [&] {
    try {
      return client.wait_connected(1s);
    } catch (const RequestRejectedException&) {
      return false;
    }
  };
  EXPECT_TRUE(wait_until(is_served));
  BlockingWriteLock lock(client, "test", "m");
  lock.lock_with_timeout();
}

TEST_F(IntegrationEnsemblesTest, OneIsAwayAndTheOtherGoesOn) {
  const std::string here = monitors_at(a_, 1).front();
  const std::string away = monitors_at(b_, 1).front();
  Client client(settings());
  BlockingWriteLock held(client, "test", here);
  held.lock_with_timeout();
  BlockingWriteLock lost(client, "test", away);
  lost.lock_with_timeout();
  b_.kill();
  EXPECT_TRUE(wait_until([&] { return lost.state() == LockState::lost; }));
  EXPECT_TRUE(held.healthy());
  held.unlock_or_throw();
  held.lock_with_timeout();
  BlockingWriteLock unavailable(client, "test", away);
  const std::string problem = problem_of([&] { unavailable.lock_with_timeout(); });
  EXPECT_THAT(problem, HasSubstr("connection_loss: no connection to ZooKeeper (" + b_.connect_string() + ")"));
  EXPECT_FALSE(client.connected());
  held.unlock_or_throw();

  Client later(settings());  // it knows from the one that all have agreed
  BlockingWriteLock again(later, "test", here);
  again.lock_with_timeout();
  again.unlock_or_throw();

  b_.restart();
  for (Client* one : {&client, &later}) {
    ASSERT_TRUE(one->wait_connected(20s));
    BlockingWriteLock back(*one, "test", away);
    back.lock_with_timeout();
    back.unlock_or_throw();
  }
}

TEST_F(IntegrationEnsemblesTest, TheFirstClientWaitsForAll) {
  b_.kill();
  Client client(settings());
  BlockingWriteLock lock(client, "test", monitors_at(a_, 1).front());
  EXPECT_THAT(problem_of([&] { lock.lock_with_timeout(); }), HasSubstr("connection_loss: "));
  EXPECT_TRUE(wait_until([&] { return client.last_problem().find("have not agreed") != std::string::npos; }))
      << client.last_problem();
  b_.restart();
  ASSERT_TRUE(client.wait_connected(20s));
  lock.lock_with_timeout();
}

TEST_F(IntegrationEnsemblesTest, ASetHasMembersInBoth) {
  Client client(settings());
  Client other(settings());
  ASSERT_TRUE(client.wait_connected(20s) && other.wait_connected(20s));
  const std::string x = monitors_at(a_, 1).front();
  const std::string y = monitors_at(b_, 1).front();
  LockSet set(client, "both", {x, y});
  std::atomic<int> contended = 0;
  set.on_contended([&](Priority, const std::string&) { ++contended; });
  set.lock_with_timeout();
  EXPECT_TRUE(set.healthy());
  EXPECT_GT(set.fencing_token(x), 0);
  EXPECT_GT(set.fencing_token(y), 0);
  for (const std::string& monitor : {x, y}) {
    EXPECT_FALSE(BlockingWriteLock(other, "single", monitor).try_lock());
    const auto holder = Inspector(other).show(monitor)->holder;
    EXPECT_EQ(holder->token, set.fencing_token(monitor));
    EXPECT_THAT(Inspector(other).lock_set(*holder->owner)->held, SizeIs(2));
  }
  EXPECT_THAT(problem_of([&] { set.write_guarded({SetNode{"/x", ""}}); }), HasSubstr("several ensembles"));
  set.alive(1min);
  AsyncWriteLock waiting_x(other, "single", x);
  AsyncWriteLock waiting_y(other, "single", y);
  waiting_x.acquire(20s, [](const std::exception_ptr&) {});
  waiting_y.acquire(20s, [](const std::exception_ptr&) {});
  EXPECT_TRUE(wait_until([&] { return contended == 2; }));
  waiting_x.cancel();
  waiting_y.cancel();
  EXPECT_TRUE(set.step_aside(20s));
  EXPECT_TRUE(set.healthy());
  set.unlock_or_throw();
  EXPECT_TRUE(wait_until([&] { return ephemeral_nodes(a_).empty() && ephemeral_nodes(b_).empty(); }));
}

TEST_F(IntegrationEnsemblesTest, AServerThatDiesTakesTheSetWithItAndTheRestIsGivenBack) {
  Client client(settings());
  Client other(settings());
  ASSERT_TRUE(client.wait_connected(20s) && other.wait_connected(20s));
  const std::string x = monitors_at(a_, 1).front();
  const std::string y = monitors_at(b_, 1).front();
  LockSet set(client, "both", {x, y});
  std::promise<std::string> lost;
  set.on_lost([&](LossReason, const std::string& monitor) { lost.set_value(monitor); });
  set.lock_with_timeout();
  b_.kill();
  auto member = lost.get_future();
  ASSERT_EQ(member.wait_for(20s), std::future_status::ready);
  EXPECT_EQ(member.get(), y);
  EXPECT_FALSE(set.healthy());
  EXPECT_THROW(set.check_health(), LockUnhealthyException);
  EXPECT_FALSE(BlockingWriteLock(other, "single", x).try_lock()) << "until it is released";
  set.unlock();
  BlockingWriteLock next(other, "single", x);
  EXPECT_TRUE(next.try_lock_for(10s));

  EXPECT_THAT(problem_of([&] { set.lock_with_timeout(); }), HasSubstr("connection_loss: ")) << "all or nothing";
  next.unlock_or_throw();
  EXPECT_TRUE(wait_until([&] { return ephemeral_nodes(a_).empty(); }));
  b_.restart();
  ASSERT_TRUE(client.wait_connected(20s));
  set.lock_with_timeout();
  set.unlock_or_throw();
}

TEST_F(IntegrationEnsemblesTest, ProcessesWithOverlappingSetsNeitherMeetNorWaitForEver) {
  TemporaryDirectory directory;
  TemporaryDirectory outputs;
  std::vector<std::string> monitors = monitors_at(a_, 3);
  for (std::string& monitor : monitors_at(b_, 3)) monitors.push_back(std::move(monitor));
  std::vector<std::unique_ptr<ChildProcess>> workers;
  for (int i = 0; i < 3; ++i) {
    std::vector<std::string> command = {FORELOCK_SET_WORKER, servers(), directory.path().string(), std::to_string(i),
                                        std::to_string(60 * length())};
    command.insert(command.end(), monitors.begin(), monitors.end());
    std::reverse(monitors.begin(), monitors.end());
    workers.push_back(std::make_unique<ChildProcess>(command, outputs.path() / std::to_string(i)));
  }
  for (int i = 0; i < 3; ++i) {
    const int status = workers[static_cast<std::size_t>(i)]->wait();
    std::ifstream file(outputs.path() / std::to_string(i));
    std::stringstream output;
    output << file.rdbuf();
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << output.str();
  }
  EXPECT_TRUE(wait_until([&] { return ephemeral_nodes(a_).empty() && ephemeral_nodes(b_).empty(); }));
}

}  // namespace
}  // namespace forelock::test
