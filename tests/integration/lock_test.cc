// The lock through its public API on one real server.
#include "forelock/forelock.h"
#include "support/shared_server.h"
#include "support/test.h"
#include "support/wait_until.h"

namespace forelock {
namespace {

class LockTest : public test::SharedServerTest<::testing::Test, test::lasting_containers> {
 protected:
  static Settings settings(std::string_view foreground_timeout = "5000") {
    Settings settings;
    settings.set({{"zookeeper.servers", server_->connect_string()},
                  {"zookeeper.session.timeout", "4000"},
                  {"zookeeper.foregound.task.timeout", std::string(foreground_timeout)},
                  {"zookeeper.backgound.task.timeout", "20000"}});
    return settings;
  }
};

TEST_F(LockTest, UnusedMonitorsAreRemoved) {
  Settings lingering = settings();
  lingering.set({{"zookeeper.monitor.linger", "300"}});
  Client client(lingering);
  Client watcher(settings());
  Inspector inspector(watcher);
  const auto there = [&] {
    std::size_t count = 0;
    for (const MonitorSummary& monitor : inspector.list(true)) {
      if (monitor.monitor.starts_with("unused-")) ++count;
    }
    return count;
  };
  constexpr int fresh = 100;
  BlockingWriteLock kept(client, "kept", "kept-1", Priority::foreground, {.keep_monitor = true});
  LockSet kept_too(client, "kept", {"kept-2", "kept-3"}, Priority::foreground, {.keep_monitor = true});
  kept.lock();
  kept.unlock();
  kept_too.lock();
  kept_too.unlock();
  const auto before = client.statistics().requests;
  for (int i = 0; i < fresh; ++i) {
    BlockingWriteLock lock(client, "once", "unused-" + std::to_string(i));
    lock.lock_with_timeout();
    lock.unlock();
  }
  EXPECT_TRUE(test::wait_until([&] { return there() == 0; }, 20s));
  for (const char* monitor : {"kept-1", "kept-2", "kept-3"}) EXPECT_TRUE(inspector.show(monitor)) << monitor;
  // Two each, and a few for the removal and the session.
  EXPECT_LT(client.statistics().requests - before, 2 * fresh + fresh / 2);
  // One that another client has removed is made again.
  BlockingWriteLock again(client, "again", "unused-7");
  again.lock_with_timeout();
  EXPECT_EQ(there(), 1u);
  again.unlock();
  EXPECT_TRUE(test::wait_until([&] { return there() == 0; }, 20s));
}

TEST_F(LockTest, ManyThreadsExcludeEachOther) {
  Client client(settings("30000"));
  int inside = 0;
  std::int64_t last_token = 0;
  std::atomic<int> sections{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      BlockingWriteLock lock(client, "contend", "contended");
      for (int i = 0; i < 100; ++i) {
        lock.lock_with_timeout();
        ASSERT_EQ(++inside, 1);
        ASSERT_GT(lock.fencing_token(), last_token);
        last_token = lock.fencing_token();
        --inside;
        ++sections;
        lock.unlock();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(sections, 800);
}

TEST_F(LockTest, TwoClientsExcludeEachOther) {
  Client first(settings("30000"));
  Client second(settings("30000"));
  std::mutex resource;
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      BlockingWriteLock lock(t % 2 ? first : second, "contend", "two",
                             t % 3 ? Priority::background : Priority::foreground);
      for (int i = 0; i < 50; ++i) {
        lock.lock_with_timeout();
        ASSERT_TRUE(resource.try_lock());
        resource.unlock();
        lock.unlock();
      }
    });
  }
  for (auto& thread : threads) thread.join();
}

TEST_F(LockTest, TimeoutNamesTheHolder) {
  Client holder_client(settings());
  Client client(settings("300"));
  BlockingWriteLock holder(holder_client, "Bulk propagation", "busy", Priority::background);
  holder.lock_with_timeout();
  BlockingWriteLock waiter(client, "Save Content", "busy");
  try {
    waiter.lock_with_timeout();
    FAIL() << "obtained a lock that is held";
  } catch (const InstanceLockException& refused) {
    EXPECT_NE(std::string(refused.what()).find("Bulk propagation"), std::string::npos) << refused.what();
    EXPECT_NE(std::string(refused.what()).find("first in the queue, behind the holder"), std::string::npos)
        << refused.what();
  }
  EXPECT_FALSE(waiter.try_lock());
  EXPECT_FALSE(waiter.try_lock_for(50ms));
  std::promise<void> queued;
  AsyncWriteLock before(client, "Save Content", "busy");
  before.on_queued([&](const QueuePosition&) { queued.set_value(); });
  before.acquire(10s, [](const std::exception_ptr&) {});
  queued.get_future().get();
  std::promise<std::exception_ptr> told;
  AsyncWriteLock later(client, "Bulk propagation", "busy", Priority::background);
  later.on_queued([](const QueuePosition&) {});
  later.acquire(300ms, [&](const std::exception_ptr& error) { told.set_value(error); });
  try {
    std::rethrow_exception(told.get_future().get());
  } catch (const InstanceLockException& refused) {
    EXPECT_NE(std::string(refused.what()).find("(before us: 1 foreground, 1 background)"), std::string::npos)
        << refused.what();
  }
  before.cancel();
  holder.unlock();
  EXPECT_TRUE(waiter.try_lock());
}

TEST_F(LockTest, AsyncAcquireAndCancel) {
  Client client(settings());
  AsyncWriteLock first(client, "one", "async");
  AsyncWriteLock second(client, "two", "async");
  std::promise<std::exception_ptr> granted;
  first.acquire([&](std::exception_ptr error) { granted.set_value(error); });
  EXPECT_EQ(granted.get_future().get(), nullptr);
  std::promise<std::exception_ptr> refused;
  second.acquire([&](std::exception_ptr error) { refused.set_value(error); });
  EXPECT_TRUE(second.cancel());
  EXPECT_THROW(std::rethrow_exception(refused.get_future().get()), InstanceLockException);
  std::promise<std::exception_ptr> released;
  first.release([&](std::exception_ptr error) { released.set_value(error); });
  EXPECT_EQ(released.get_future().get(), nullptr);
}

TEST_F(LockTest, AfterCloseAReleaseStillCallsBack) {
  Client client(settings());
  AsyncWriteLock lock(client, "one", "closed");
  std::promise<void> held;
  lock.acquire([&](std::exception_ptr error) { error ? held.set_exception(error) : held.set_value(); });
  held.get_future().get();
  client.close();
  std::exception_ptr answer;
  int calls = 0;
  lock.release([&](std::exception_ptr error) {
    answer = error;
    ++calls;
  });
  EXPECT_EQ(calls, 1);
  EXPECT_THROW(std::rethrow_exception(answer), NoNodeException);  // it was lost when the client was closed
}

TEST_F(LockTest, TwoClosesBothReturnWhenItIsDone) {
  Client client(settings());
  ASSERT_TRUE(client.wait_connected(10s));
  const std::int64_t session = client.session_id();
  const std::string alive = "0x" + [session] {
    std::ostringstream hex;
    hex << std::hex << session;
    return hex.str();
  }();
  std::atomic<int> too_early = 0;
  std::vector<std::thread> closers;
  for (int i = 0; i < 2; ++i) {
    closers.emplace_back([&] {
      client.close();
      if (server_->four_letter("dump").value_or("").find(alive) != std::string::npos) ++too_early;
    });
  }
  for (std::thread& closer : closers) closer.join();
  EXPECT_EQ(too_early, 0);
}

TEST_F(LockTest, SynchronizedAndGuards) {
  Client client(settings());
  const int result = synchronized(client, "sum", "sync", [](BlockingWriteLock& lock) {
    lock.check_health();
    return 42;
  });
  EXPECT_EQ(result, 42);
  BlockingWriteLock lock(client, "guard", "sync");
  {
    std::unique_lock guard(lock, 2s);
    EXPECT_TRUE(guard.owns_lock());
  }
  EXPECT_FALSE(lock.owns_lock());
}

TEST_F(LockTest, SynchronizedReturnsWhatCanOnlyBeMoved) {
  Client client(settings());
  EXPECT_EQ(*synchronized(client, "move", "moved", [] { return std::make_unique<int>(7); }), 7);
}

TEST_F(LockTest, NoTimeAtAllIsASingleAttempt) {
  Client client(settings());
  Client other(settings());
  BlockingWriteLock lock(client, "hasty", "hasty");
  for (const auto timeout : {0ms, -5ms}) {
    std::unique_lock guard(lock, timeout);
    EXPECT_TRUE(guard.owns_lock());
  }
  BlockingWriteLock holder(other, "hold", "hasty");
  holder.lock_with_timeout();
  EXPECT_FALSE(lock.try_lock_for(0ms));
  EXPECT_FALSE(LockSet(client, "hasty", {"free", "hasty"}).try_lock_for(0ms));
  holder.unlock();
  LockSet set(client, "hasty", {"free", "hasty"});
  EXPECT_TRUE(set.try_lock_for(0ms));
}

TEST_F(LockTest, LargestTimeoutsMeanNoLimit) {
  Client client(settings());
  BlockingWriteLock lock(client, "patient", "patient");
  EXPECT_TRUE(lock.try_lock_until(std::chrono::steady_clock::time_point::max()));
  lock.unlock();
  EXPECT_TRUE(lock.try_lock_for(std::chrono::hours::max()));
  lock.unlock();
}

TEST_F(LockTest, UnlockAsyncLeavesAWaitingLockAlone) {
  Client client(settings());
  Client other(settings());
  BlockingWriteLock holder(other, "hold", "waiting");
  holder.lock_with_timeout();
  BlockingWriteLock waiter(client, "wait", "waiting");
  std::atomic<bool> granted{false};
  std::thread thread([&] {
    waiter.lock_with_timeout();
    granted = true;
  });
  EXPECT_TRUE(test::wait_until([&] { return waiter.state() == LockState::waiting; }, 5s));
  waiter.unlock_async();
  EXPECT_EQ(waiter.state(), LockState::waiting);
  EXPECT_FALSE(granted);
  holder.unlock();
  thread.join();
  EXPECT_TRUE(waiter.owns_lock());
  waiter.unlock();
}

TEST_F(LockTest, StopTokenBelongsToItsGrant) {
  Client client(settings());
  Client admin(settings());
  BlockingWriteLock lock(client, "token", "tokens");
  lock.lock_with_timeout();
  const std::stop_token first = lock.stop_token();
  Inspector inspector(admin);
  const auto view = inspector.show("tokens");
  ASSERT_TRUE(view && view->holder && view->holder->node);
  inspector.force_release("tokens", *view->holder->node);
  ASSERT_TRUE(test::wait_until([&] { return !lock.healthy(); }, 5s));
  lock.lock_with_timeout();
  const std::stop_token second = lock.stop_token();
  EXPECT_TRUE(test::wait_until([&] { return first.stop_requested(); }, 5s));
  EXPECT_FALSE(second.stop_requested());
  EXPECT_TRUE(lock.healthy());
  lock.unlock();
}

TEST_F(LockTest, AGuardOfALockThatWasRemovedEndsQuietly) {
  Client client(settings());
  Client admin(settings());
  BlockingWriteLock lock(client, "victim", "removed");
  Inspector inspector(admin);
  {
    std::unique_lock guard(lock);
    const auto view = inspector.show("removed");
    ASSERT_TRUE(view && view->holder && view->holder->node);
    EXPECT_EQ(inspector.force_release("removed", *view->holder->node), ForceReleaseResult::released);
    EXPECT_TRUE(test::wait_until([&] { return !lock.healthy(); }, 2s));
  }  // the guard's destructor must not end the process
  EXPECT_EQ(lock.state(), LockState::free);
  lock.unlock();  // nor must what a caller does wrong, in whatever guard
  EXPECT_THROW(lock.unlock_or_throw(), NoNodeException);
}

TEST_F(LockTest, StepAsideLetsForegroundPass) {
  Client client(settings());
  Client other(settings());
  BlockingWriteLock bulk(client, "bulk", "aside", Priority::background);
  std::promise<Priority> contended;
  std::atomic<bool> told{false};
  bulk.on_contended([&](Priority waiting) {
    if (!told.exchange(true)) contended.set_value(waiting);
  });
  bulk.lock_with_timeout();
  const auto first = bulk.fencing_token();
  std::int64_t foreground = 0;
  std::thread save([&] {
    BlockingWriteLock lock(other, "save", "aside");
    lock.lock_with_timeout();
    foreground = lock.fencing_token();
    lock.unlock();
  });
  EXPECT_EQ(contended.get_future().get(), Priority::foreground);
  EXPECT_TRUE(bulk.step_aside(5s));
  save.join();
  EXPECT_GT(foreground, first);
  EXPECT_GT(bulk.fencing_token(), foreground);
  bulk.unlock();
}

TEST_F(LockTest, BackgroundWorkThatHasWaitedLongEnoughGoesBeforeLaterForegroundWork) {
  Settings ageing = settings();
  ageing.set({{"zookeeper.background.max.wait", "200"}});
  Client client(settings("30000"));
  Client others(ageing);
  BlockingWriteLock holder(client, "save", "aged");
  holder.lock_with_timeout();
  std::mutex mutex;
  std::vector<std::string> order;
  std::vector<std::future<void>> sections;
  Inspector inspector(client);
  // One that comes after those that wait already.
  const auto comes = [&](Client& with, const std::string& name, Priority priority, std::size_t waiting) {
    sections.push_back(std::async(std::launch::async, [&, name, priority] {
      BlockingWriteLock lock(with, name, "aged", priority);
      lock.lock_with_timeout();
      const std::lock_guard guard(mutex);
      order.push_back(name);
    }));
    EXPECT_TRUE(test::wait_until([&] { return inspector.show("aged")->queue.size() == waiting; }, 10s));
  };
  comes(others, "bulk", Priority::background, 1);
  comes(client, "literal bulk", Priority::background, 2);
  const auto aged = [&]() -> std::optional<OwnerRecord> {
    const auto view = inspector.show("aged");
    return view->queue.front().owner;
  };
  EXPECT_TRUE(test::wait_until([&] { return aged() && aged()->rank == Priority::foreground; }, 10s));
  EXPECT_EQ(aged()->lock_info, "bulk");
  EXPECT_EQ(aged()->priority, Priority::background);
  EXPECT_EQ(aged()->max_wait, 200ms);
  comes(client, "later save", Priority::foreground, 3);
  EXPECT_EQ(inspector.list().front().waiting_background, 2u) << "its class is what it was";
  holder.unlock();
  for (auto& section : sections) section.get();
  EXPECT_EQ(order, (std::vector<std::string>{"bulk", "later save", "literal bulk"}));
}

TEST_F(LockTest, WhoeverWouldWaitBehindTooManyIsRefusedAtOnce) {
  Client holding(settings());
  Client others(settings());
  Settings limited = settings("20000");
  limited.set({{"zookeeper.queue.max", "2"}});
  Client client(limited);
  BlockingWriteLock holder(holding, "save", "full");
  holder.lock_with_timeout();
  AsyncWriteLock first(others, "save", "full");
  AsyncWriteLock second(client, "save", "full");
  std::atomic<int> granted = 0;
  std::promise<void> queued;
  first.on_queued([&](const QueuePosition&) { queued.set_value(); });
  const auto done = [&](const std::exception_ptr& error) { granted += error ? 0 : 1; };
  first.acquire(20s, done);
  queued.get_future().get();
  second.acquire(20s, done);
  EXPECT_TRUE(test::wait_until([&] { return Inspector(others).show("full")->queue.size() == 2; }, 10s));
  BlockingWriteLock third(client, "save", "full");
  try {
    third.lock_with_timeout();
    FAIL() << "waited behind two";
  } catch (const InstanceLockException& refused) {
    EXPECT_EQ(refused.code(), ErrorCode::lock_refused);
    EXPECT_TRUE(refused.retryable());
    EXPECT_NE(std::string(refused.what()).find("2 wait before us"), std::string::npos) << refused.what();
  }
  EXPECT_FALSE(third.try_lock_for(20s));
  LockSet set(client, "bulk", {"full", "full+"});
  EXPECT_THROW(set.lock_with_timeout(), InstanceLockException);
  BlockingWriteLock any(client, "urgent", "full", Priority::foreground, {.queue_max = 3});
  std::promise<std::exception_ptr> told;
  std::thread waiter([&] {
    try {
      any.lock_with_timeout();
      told.set_value(nullptr);
    } catch (const Error&) {
      told.set_value(std::current_exception());
    }
  });
  EXPECT_TRUE(test::wait_until([&] { return Inspector(others).show("full")->queue.size() == 3; }, 10s));
  holder.unlock();
  EXPECT_TRUE(test::wait_until([&] { return granted == 1; }, 10s));
  first.release();
  EXPECT_TRUE(test::wait_until([&] { return granted == 2; }, 10s));
  second.release();
  EXPECT_EQ(told.get_future().get(), nullptr);
  waiter.join();
}

TEST_F(LockTest, GuardedWrites) {
  Client client(settings());
  BlockingWriteLock lock(client, "write", "guarded");
  lock.lock_with_timeout();
  EXPECT_NO_THROW(lock.write_guarded({CreateNode{"/document", "1"}}));
  EXPECT_EQ(Inspector(client).show("guarded")->holder->token, lock.fencing_token());
  lock.alive(5000ms);
  EXPECT_NO_THROW(lock.write_guarded({SetNode{"/document", "3"}}));
  EXPECT_EQ(Inspector(client).show("guarded")->holder->token, lock.fencing_token()) << "not that of alive()";
  Inspector inspector(client);
  const auto view = inspector.show("guarded");
  ASSERT_TRUE(view && view->holder && view->holder->node);
  inspector.force_release("guarded", *view->holder->node);
  EXPECT_THROW(lock.write_guarded({SetNode{"/document", "4"}}), LockUnhealthyException);
}

// An unlocker judges what it has read: a holder that says meanwhile that it is alive stays.
TEST_F(LockTest, ForceReleaseTakesAwayWhatItsConditionHasSeen) {
  Client client(settings());
  LockOptions options;
  options.auto_unlock_after = 1ms;
  BlockingWriteLock lock(client, "slow", "conditional", Priority::foreground, options);
  lock.lock_with_timeout();
  Inspector inspector(client);
  const auto view = inspector.show("conditional");
  ASSERT_TRUE(view && view->holder && view->holder->node && view->holder->owner->auto_unlock_at);
  const std::string node = *view->holder->node;
  EXPECT_EQ(inspector.force_release("conditional", node, [](const HolderView&) { return false; }),
            ForceReleaseResult::holder_changed);
  const auto alive_meanwhile = [&](const HolderView& holder) {
    lock.alive(5000ms);
    return test::wait_until([&] { return Inspector(client).show("conditional")->holder->version > holder.version; },
                            5s);
  };
  EXPECT_EQ(inspector.force_release("conditional", node, alive_meanwhile), ForceReleaseResult::holder_changed);
  EXPECT_TRUE(lock.healthy());
  EXPECT_EQ(inspector.force_release("conditional", node, [](const HolderView&) { return true; }),
            ForceReleaseResult::released);
}

}  // namespace
}  // namespace forelock
