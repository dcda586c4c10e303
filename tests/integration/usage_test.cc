// Lock objects in the hands of callers who do all that the interface permits, and some of what it does not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "integration/fixture.h"
#include "support/tcp_proxy.h"
#include "support/wait_until.h"

namespace forelock::test {
namespace {

using namespace std::chrono_literals;

class UsageTest : public ::testing::TestWithParam<std::string> {
 protected:
  static void SetUpTestSuite() { server_ = new TestServer(quick_server()); }
  static void TearDownTestSuite() {
    delete server_;
    server_ = nullptr;
  }
  static Settings settings() {
    return settings_for(server_->connect_string() + "/usage-" + GetParam(), {{"zookeeper.lock.watch", GetParam()}});
  }
  void wait_until_queued(const std::string& monitor, std::size_t count) {
    EXPECT_TRUE(wait_until([&] {
      const auto view = Inspector(other_).show(monitor);
      return view && view->queue.size() == count;
    }));
  }
  // The code of what the call throws.
  template <typename Call>
  static std::string thrown_by(Call&& call) {
    try {
      call();
    } catch (const Error& error) {
      return std::string(name_of(error.code()));
    }
    return "nothing";
  }

  static TestServer* server_;
  std::unique_ptr<Client> client_ = std::make_unique<Client>(settings());
  Client other_{settings()};
};

TestServer* UsageTest::server_ = nullptr;

TEST_P(UsageTest, CloseWhileOthersHoldAndWait) {
  BlockingWriteLock elsewhere(other_, "hold", "waited-for");
  elsewhere.lock_with_timeout();
  BlockingWriteLock held(*client_, "hold", "held");
  std::promise<LossReason> told;
  held.on_lost([&](LossReason reason) { told.set_value(reason); });
  held.lock_with_timeout();
  std::vector<std::unique_ptr<BlockingWriteLock>> locks;
  std::vector<std::future<std::string>> waiters;
  for (int i = 0; i < 4; ++i) {
    locks.push_back(std::make_unique<BlockingWriteLock>(*client_, "wait", "waited-for"));
    waiters.push_back(
        std::async(std::launch::async, [lock = locks.back().get()] { return thrown_by([&] { lock->lock(); }); }));
  }
  wait_until_queued("waited-for", 4);
  client_->close();
  for (auto& waiter : waiters) {
    ASSERT_EQ(waiter.wait_for(5s), std::future_status::ready);
    EXPECT_EQ(waiter.get(), "closed");
  }
  auto loss = told.get_future();
  ASSERT_EQ(loss.wait_for(5s), std::future_status::ready);
  EXPECT_EQ(loss.get(), LossReason::closed);
  EXPECT_FALSE(held.healthy());
  EXPECT_EQ(thrown_by([&] { held.lock(); }), "closed");
  client_->close();
  EXPECT_TRUE(wait_until_unused(*server_, "held", 2s)) << "the server has not been told";
  EXPECT_TRUE(elsewhere.healthy());
}

// What a closed client leaves behind is in others' way until its session ends: nothing, also of what is under way.
TEST_P(UsageTest, CloseWithRequestsUnderWayLeavesNothing) {
  constexpr int count = 500;
  for (int round = 0; round < 3; ++round) {
    const auto monitor = [round](int i) { return "under-way-" + std::to_string(round) + "-" + std::to_string(i); };
    Client client(settings());
    ASSERT_TRUE(client.wait_connected(10s));
    std::vector<std::unique_ptr<AsyncWriteLock>> locks;
    for (int i = 0; i < count; ++i) {
      locks.push_back(std::make_unique<AsyncWriteLock>(client, "close", monitor(i)));
      locks.back()->acquire([](std::exception_ptr) {});
    }
    // Some have their answers, most of them have not.
    EXPECT_TRUE(wait_until([&] { return client.statistics().granted >= 20; }));
    client.close();
    int left = 0;
    for (int i = 0; i < count; ++i) {
      BlockingWriteLock next(other_, "next", monitor(i));
      if (!next.try_lock()) ++left;
    }
    EXPECT_EQ(left, 0) << "monitors that are still locked after close(), of " << count;
  }
}

TEST_P(UsageTest, CloseWithAThousandHeldAndWaiting) {
  constexpr int count = 1000;
  Client client(settings());
  std::vector<std::unique_ptr<AsyncWriteLock>> locks;
  for (int i = 0; i < 2 * count; ++i) {
    locks.push_back(std::make_unique<AsyncWriteLock>(client, "close", "many-" + std::to_string(i % count)));
    locks.back()->acquire([](std::exception_ptr) {});
  }
  EXPECT_TRUE(wait_until([&] { return client.statistics().granted == count; }, 60s));
  client.close();
  for (int i = 0; i < count; ++i) {
    BlockingWriteLock next(other_, "next", "many-" + std::to_string(i));
    ASSERT_TRUE(next.try_lock()) << i;
  }
}

TEST_P(UsageTest, CloseDoesNotWaitLongForASilentServer) {
  TcpProxy proxy(server_->port());
  Client client(settings_for(proxy.connect_string()));
  BlockingWriteLock lock(client, "close", "silent-server");
  lock.lock_with_timeout();
  proxy.stall(true);
  AsyncWriteLock waiting(client, "close", "silent-server");
  std::promise<std::exception_ptr> answered;
  waiting.acquire([&](std::exception_ptr error) { answered.set_value(std::move(error)); });
  auto closed = std::async(std::launch::async, [&] { client.close(); });
  EXPECT_EQ(closed.wait_for(10s), std::future_status::ready);
  EXPECT_EQ(thrown_by([&] { std::rethrow_exception(answered.get_future().get()); }), "closed");
}

TEST_P(UsageTest, DestroyedWhileHeldOrWaiting) {
  auto held = std::make_unique<BlockingWriteLock>(*client_, "hold", "destroyed");
  held->lock_with_timeout();
  auto waiting = std::make_unique<AsyncWriteLock>(*client_, "wait", "destroyed");
  std::vector<std::string> answers;
  waiting->acquire(
      [&](std::exception_ptr error) { answers.push_back(thrown_by([&] { std::rethrow_exception(error); })); });
  wait_until_queued("destroyed", 1);
  waiting.reset();
  EXPECT_EQ(answers, std::vector<std::string>{"cancelled"}) << "before the destructor returns";
  wait_until_queued("destroyed", 0);
  held.reset();
  BlockingWriteLock next(other_, "next", "destroyed");
  EXPECT_TRUE(next.try_lock_for(5s));
}

TEST_P(UsageTest, AnyThreadMayUnlock) {
  BlockingWriteLock lock(*client_, "hold", "handed");
  lock.lock_with_timeout();
  std::thread([&] { lock.unlock(); }).join();
  EXPECT_EQ(lock.state(), LockState::free);
  std::thread([&] { lock.lock_with_timeout(); }).join();
  EXPECT_TRUE(lock.healthy());
  EXPECT_EQ(thrown_by([&] { lock.lock(); }), "already_held");
  lock.unlock();
}

TEST_P(UsageTest, TwoLocksAtOnceWithoutDeadlock) {
  std::vector<std::thread> threads;
  std::mutex inside;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      Client& client = t ? *client_ : other_;
      BlockingWriteLock first(client, "both", t ? "X" : "Y");
      BlockingWriteLock second(client, "both", t ? "Y" : "X");
      for (int i = 0; i < 30; ++i) {
        std::scoped_lock both(first, second);
        ASSERT_TRUE(inside.try_lock());
        inside.unlock();
      }
    });
  }
  for (auto& thread : threads) thread.join();
}

TEST_P(UsageTest, TimedGuardsAndCancel) {
  BlockingWriteLock held(other_, "hold", "timed");
  held.lock_with_timeout();
  BlockingWriteLock lock(*client_, "wait", "timed");
  const auto begun = std::chrono::steady_clock::now();
  {
    std::unique_lock guard(lock, 200ms);
    EXPECT_FALSE(guard.owns_lock());
    EXPECT_FALSE(guard.try_lock());
    EXPECT_FALSE(guard.try_lock_until(std::chrono::system_clock::now() + 100ms));
  }
  const auto waited = std::chrono::steady_clock::now() - begun;
  EXPECT_GE(waited, 300ms);
  EXPECT_LE(waited, 3s);
  EXPECT_FALSE(lock.cancel());
  auto waiter = std::async(std::launch::async, [&] { return thrown_by([&] { lock.lock(); }); });
  wait_until_queued("timed", 1);
  EXPECT_TRUE(lock.cancel());
  EXPECT_EQ(waiter.get(), "cancelled");
  wait_until_queued("timed", 0);
  held.unlock();
  lock.lock();
  lock.unlock();
}

TEST_P(UsageTest, OddNames) {
  const std::vector<std::string> names = {"\xF0\x9F\x94\x92 \xC3\xBC",
                                          "a/b//c",
                                          ".",
                                          "..",
                                          "zookeeper",
                                          "100%",
                                          "%2F",
                                          " ",
                                          "A-0000000001",
                                          "privateLock",
                                          std::string("nul\0nul", 7),
                                          std::string(255, 'x')};
  std::vector<std::unique_ptr<BlockingWriteLock>> locks;
  for (const std::string& name : names) {
    locks.push_back(std::make_unique<BlockingWriteLock>(*client_, "odd", name));
    locks.back()->lock_with_timeout();
    BlockingWriteLock rival(other_, "odd", name);
    EXPECT_FALSE(rival.try_lock()) << name;
  }
  std::vector<std::string> seen;
  for (const auto& monitor : Inspector(other_).list()) seen.push_back(monitor.monitor);
  EXPECT_THAT(seen, ::testing::UnorderedElementsAreArray(names));
  for (const auto& lock : locks) lock->unlock();
  for (const std::string& name :
       {std::string(), std::string(256, 'x'), std::string("\xFF\xFE"), std::string(100, '/')}) {
    EXPECT_EQ(thrown_by([&] { BlockingWriteLock lock(*client_, "odd", name); }), "invalid_argument") << name.size();
  }
}

TEST_P(UsageTest, OddLockInfo) {
  for (const std::string& info :
       {std::string(2'000'000, 'i'), std::string("bad \xFF\xC0 text \0 \x01", 15), std::string()}) {
    BlockingWriteLock lock(*client_, info, "info");
    lock.lock_with_timeout();
    const auto view = Inspector(other_).show("info");
    ASSERT_TRUE(view && view->holder && view->holder->owner);
    EXPECT_EQ(view->holder->owner->lock_info.substr(0, 3), info.substr(0, 3));
    EXPECT_LE(view->holder->owner->to_json().size(), OwnerRecord::max_record_bytes);
    lock.unlock();
  }
}

TEST_P(UsageTest, OthersThingsInTheMonitorsNodeAreLeftAlone) {
  BlockingWriteLock admin(other_, "admin", "admin");
  admin.lock_with_timeout();
  admin.write_guarded(
      {CreateNode{"/mixed", "theirs"}, CreateNode{"/mixed/A-notes", ""}, CreateNode{"/mixed/readme", ""}});
  BlockingWriteLock lock(*client_, "mixed", "mixed");
  BlockingWriteLock rival(other_, "mixed", "mixed", Priority::background);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(lock.try_lock_for(5s));
    EXPECT_FALSE(rival.try_lock());
    lock.unlock();
    EXPECT_TRUE(rival.try_lock_for(5s));
    rival.unlock();
  }
  EXPECT_NO_THROW(
      admin.write_guarded({DeleteNode{"/mixed/A-notes"}, DeleteNode{"/mixed/readme"}, DeleteNode{"/mixed"}}));
}

INSTANTIATE_TEST_SUITE_P(Watch, UsageTest, ::testing::Values("parent", "predecessor"),
                         [](const auto& mode) { return mode.param; });

}  // namespace
}  // namespace forelock::test
