// Lock objects in the hands of callers who do all that the interface permits, and some of what it does not.
#include "integration/fixture.h"
#include "support/shared_server.h"
#include "support/tcp_proxy.h"
#include "support/test.h"
#include "support/wait_until.h"

namespace forelock::test {
namespace {

class UsageTest : public SharedServerTest<::testing::TestWithParam<std::string>> {
 protected:
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

  std::unique_ptr<Client> client_ = std::make_unique<Client>(settings());
  Client other_{settings()};
};

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

TEST_P(UsageTest, LocksMoveWithWhatTheyHoldAndWaitFor) {
  static_assert(std::is_nothrow_move_constructible_v<LockSet> && std::is_nothrow_move_assignable_v<AsyncWriteLock>);
  static_assert(!std::is_copy_constructible_v<BlockingWriteLock> && !std::is_copy_assignable_v<LockSet>);
  std::vector<BlockingWriteLock> locks;
  for (int i = 0; i < 3; ++i) {
    locks.emplace_back(*client_, "move", "moved-" + std::to_string(i));
    locks.back().lock_with_timeout();
  }
  for (int i = 0; i < 3; ++i) EXPECT_EQ(locks[static_cast<std::size_t>(i)].monitor(), "moved-" + std::to_string(i));
  EXPECT_TRUE(std::all_of(locks.begin(), locks.end(), [](const auto& lock) { return lock.healthy(); }));
  locks[0] = std::move(locks[1]);  // gives up what it had
  EXPECT_TRUE(wait_until_unused(*server_, "usage-" + GetParam() + "/moved-0"));
  EXPECT_TRUE(locks[0].healthy());
  EXPECT_EQ(locks[0].monitor(), "moved-1");
  BlockingWriteLock other(other_, "move", "moved-1");
  EXPECT_FALSE(other.try_lock());
  auto& same = locks[0];
  locks[0] = std::move(same);
  EXPECT_TRUE(locks[0].healthy());
  locks.clear();
  other.lock_with_timeout();

  auto waiting = std::make_unique<AsyncWriteLock>(*client_, "move", "moved-1");
  std::promise<std::exception_ptr> answered;
  waiting->acquire([&](std::exception_ptr error) { answered.set_value(std::move(error)); });
  wait_until_queued("moved-1", 1);
  AsyncWriteLock moved = std::move(*waiting);
  waiting.reset();
  other.unlock();
  EXPECT_EQ(answered.get_future().get(), nullptr);
  EXPECT_TRUE(moved.healthy());

  LockSet set(other_, "move", {"moved-2", "moved-3"});
  set.lock_with_timeout();
  LockSet taken = std::move(set);
  EXPECT_TRUE(taken.healthy());
  taken = LockSet(other_, "move", {"moved-4"});
  EXPECT_TRUE(wait_until_unused(*server_, "usage-" + GetParam() + "/moved-2"));
  EXPECT_EQ(taken.monitors().size(), 1u);
}

TEST_P(UsageTest, OneThatHasBeenMovedFromHoldsNothingAndSaysSo) {
  const auto refused = [](auto&& call) { EXPECT_EQ(thrown_by(call), "invalid_argument"); };
  BlockingWriteLock lock(*client_, "move", "moved-from");
  lock.lock_with_timeout();
  const BlockingWriteLock elsewhere = std::move(lock);
  EXPECT_EQ(lock.monitor() + lock.lock_info(), "");
  EXPECT_EQ(lock.state(), LockState::free);
  EXPECT_FALSE(lock.owns_lock() || lock.healthy());
  EXPECT_EQ(lock.fencing_token(), 0);
  EXPECT_EQ(lock.expires_at(), std::chrono::steady_clock::time_point{});
  EXPECT_EQ(lock.priority(), Priority::foreground);
  lock.unlock();
  lock.unlock_async();
  EXPECT_TRUE(elsewhere.healthy());
  refused([&] { lock.lock(); });
  refused([&] { lock.lock_with_timeout(); });
  refused([&] { lock.try_lock(); });
  refused([&] { lock.try_lock_for(1s); });
  refused([&] { lock.unlock_or_throw(); });
  refused([&] { lock.cancel(); });
  refused([&] { lock.step_aside(1s); });
  refused([&] { lock.check_health(); });
  refused([&] { lock.alive(1s); });
  refused([&] { lock.owner(); });
  refused([&] { lock.stop_token(); });
  refused([&] { lock.write_guarded({}); });
  refused([&] { lock.on_lost({}); });
  refused([&] { lock.on_danger(1ms, {}); });
  refused([&] { lock.on_queued({}); });
  refused([&] { lock.on_contended({}); });
  AsyncWriteLock async(*client_, "move", "moved-from");
  const AsyncWriteLock async_elsewhere = std::move(async);
  refused([&] { async.acquire({}); });
  refused([&] { async.acquire(1s, {}); });
  refused([&] { async.cancel(); });
  refused([&] { async.release(); });

  LockSet set(*client_, "move", {"moved-from-set"});
  set.lock_with_timeout();
  const LockSet set_elsewhere = std::move(set);
  EXPECT_TRUE(set.monitors().empty() && set.lock_info().empty());
  EXPECT_EQ(set.state(), LockState::free);
  EXPECT_FALSE(set.owns_lock() || set.healthy());
  EXPECT_EQ(set.expires_at(), std::chrono::steady_clock::time_point{});
  EXPECT_EQ(set.priority(), Priority::foreground);
  set.unlock();
  set.unlock_async();
  EXPECT_TRUE(set_elsewhere.healthy());
  refused([&] { set.lock(); });
  refused([&] { set.lock_with_timeout(); });
  refused([&] { set.try_lock(); });
  refused([&] { set.try_lock_for(1s); });
  refused([&] { set.unlock_or_throw(); });
  refused([&] { set.step_aside(1s); });
  refused([&] { set.acquire({}); });
  refused([&] { set.acquire(1s, {}); });
  refused([&] { set.release(); });
  refused([&] { set.cancel(); });
  refused([&] { set.check_health(); });
  refused([&] { set.fencing_tokens(); });
  refused([&] { set.fencing_token("moved-from-set"); });
  refused([&] { set.waits_for(); });
  refused([&] { set.stop_token(); });
  refused([&] { set.alive(1s); });
  refused([&] { set.write_guarded({}); });
  refused([&] { set.on_danger(1ms, {}); });
  refused([&] { set.on_lost({}); });
  refused([&] { set.on_contended({}); });
}

TEST_P(UsageTest, OneThatIsRemovedWhileItsRequestToStepAsideIsUnderWayIsNotHeld) {
  TcpProxy proxy(server_->port());
  Client client(settings_for(proxy.connect_string() + "/usage-" + GetParam()));
  BlockingWriteLock lock(client, "aside", "aside", Priority::background);
  lock.lock_with_timeout();
  proxy.stall(true);
  auto stepping = std::async(std::launch::async, [&] { return thrown_by([&] { lock.step_aside(30s); }); });
  EXPECT_TRUE(wait_until([&] { return lock.state() == LockState::waiting; }));
  Inspector inspector(other_);
  EXPECT_EQ(inspector.force_release("aside", *inspector.show("aside")->holder->node), ForceReleaseResult::released);
  proxy.stall(false);
  EXPECT_EQ(stepping.get(), "lock_unhealthy");
  EXPECT_EQ(lock.state(), LockState::lost);
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
