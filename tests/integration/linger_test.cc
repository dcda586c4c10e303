// Unlocked locks that stay with their process, on a real server.
#include <signal.h>

#include "integration/fenced_resource.h"
#include "integration/fixture.h"
#include "integration/wire_tap.h"
#include "support/child_process.h"
#include "support/shared_server.h"
#include "support/temporary_directory.h"
#include "support/test.h"
#include "support/wait_until.h"

namespace forelock::test {
namespace {

class LingerTest : public SharedServerTest<::testing::TestWithParam<std::string>, lasting_containers> {
 protected:
  // So long a time-out that nothing is sent for the session's sake.
  static Settings settings(const std::string& servers, const std::string& linger = "0") {
    return settings_for(servers, {{"zookeeper.session.timeout", "60000"},
                                  {"zookeeper.lock.watch", GetParam()},
                                  {"zookeeper.lock.linger", linger}});
  }
  std::string monitor(const std::string& name) const { return name + "-" + GetParam(); }
  // A lock that has been unlocked and lingers.
  void keep(const std::string& name, Priority priority = Priority::foreground) {
    BlockingWriteLock lock(keeper_, "keep", name, priority);
    lock.lock_with_timeout();
    lock.unlock();
    EXPECT_EQ(keeper_.statistics().lingering, 1u);
  }

  Client keeper_{settings(server_->connect_string(), "1h")};
};

TEST_P(LingerTest, TheNextSectionsSendNoRequest) {
  BlockingWriteLock lock(keeper_, "again", monitor("again"));
  lock.lock_with_timeout();
  const std::int64_t token = lock.fencing_token();
  lock.unlock();
  constexpr unsigned sections = 250;
  // The watches of a holder are set once, some time after the grant: one batch may see that.
  std::uint64_t least = sections;
  for (int batch = 0; batch < 3 && least > 0; ++batch) {
    const std::uint64_t before = keeper_.statistics().requests;
    for (unsigned i = 0; i < sections; ++i) {
      lock.lock_with_timeout();
      ASSERT_TRUE(lock.healthy());
      ASSERT_EQ(lock.fencing_token(), token);
      lock.unlock();
      ASSERT_TRUE(lock.try_lock());
      lock.unlock_or_throw();
    }
    least = std::min(least, keeper_.statistics().requests - before);
  }
  EXPECT_EQ(least, 0u);
  EXPECT_EQ(keeper_.statistics().granted, 1u);
}

TEST_P(LingerTest, ASectionThatSharesAGrantIsGuardedLikeAnyOther) {
  keep(monitor("guarded"));
  BlockingWriteLock lock(keeper_, "guarded", monitor("guarded"));
  lock.lock_with_timeout();
  ASSERT_EQ(keeper_.statistics().taken_again, 1u);
  const std::string path = "/" + monitor("guarded-data");
  EXPECT_EQ(lock.write_guarded({CreateNode{path, "x"}}).size(), 1u);
  EXPECT_THROW(lock.write_guarded({CreateNode{path, "x"}}), RequestRejectedException) << "and it is still ours";
  lock.unlock();
}

TEST_P(LingerTest, EveryKindOfLockTakesItAgain) {
  const std::string name = monitor("kinds");
  keep(name);
  const auto taken = [&] { return keeper_.statistics().taken_again; };
  {
    AsyncWriteLock lock(keeper_, "async", name);
    std::promise<void> held;
    lock.acquire([&](std::exception_ptr error) {
      EXPECT_FALSE(error);
      held.set_value();
    });
    held.get_future().wait();
    EXPECT_TRUE(lock.healthy());
    std::promise<void> released;
    lock.release([&](std::exception_ptr error) {
      EXPECT_FALSE(error);
      released.set_value();
    });
    released.get_future().wait();
  }
  EXPECT_EQ(taken(), 1u);
  {
    LockSet set(keeper_, "set", {name, name + "-other"});
    set.lock_with_timeout();
    EXPECT_EQ(taken(), 2u);
    set.unlock();
    set.lock_with_timeout();
    EXPECT_EQ(taken(), 4u);
  }
  EXPECT_EQ(keeper_.statistics().lingering, 2u);
  EXPECT_EQ(keeper_.statistics().granted, 2u);
}

TEST_P(LingerTest, OperationsTakeItAgain) {
  class NoLetters final : public DeadLetterSink {
    void accept(const DeadLetter& letter) override { ADD_FAILURE() << letter.reason; }
  } sink;
  OperationRunner runner(keeper_, sink);
  Operation operation;
  operation.type = "save";
  operation.monitor = monitor("operations");
  for (int attempt = 0; attempt < 3; ++attempt) {
    int calls = 0;
    const OperationResult result = runner.run(operation, [&](OperationAttempt& one) {
      EXPECT_TRUE(one.lock.healthy());
      if (++calls == 1) throw OperationFailure("busy", "try again", true);
    });
    EXPECT_EQ(result.status, OperationResult::Status::succeeded);
  }
  EXPECT_EQ(keeper_.statistics().granted, 1u);
  EXPECT_EQ(keeper_.statistics().taken_again, 5u);
}

// A free lock of a monitor that others use costs two round trips, the first of which would have made the monitor. Here
// the enqueueing and the claim come after that one, and the watch on the node before is asked for while the process
// that keeps the lock releases it.
TEST_P(LingerTest, AnotherProcessGetsItInTwoMoreRoundTrips) {
  Client before(settings(server_->connect_string()));
  const auto use = [&](const std::string& name) { BlockingWriteLock(before, "before", name).lock(); };
  const auto traffic_of = [&](const std::string& name, const std::string& linger) {
    TcpProxy proxy(server_->port());
    WireTap tap(proxy);
    Client other(settings(proxy.connect_string(), linger));
    EXPECT_TRUE(other.wait_connected(10s));
    EXPECT_TRUE(wait_until([&] { return other.statistics().requests > 0; }));
    const auto take = [&] { return tap.take([&] { return other.statistics().requests; }); };
    take();
    BlockingWriteLock lock(other, "other", name);
    lock.lock_with_timeout();
    return take();
  };
  // The least of three: on a slow machine what proves the session may come in between.
  const auto least_of = [&](const std::string& kind, const std::string& linger, const auto& prepare) {
    std::optional<WireTap::Traffic> least;
    for (int attempt = 0; attempt < 3; ++attempt) {
      const std::string name = monitor(kind + std::to_string(attempt));
      prepare(name);
      const WireTap::Traffic traffic = traffic_of(name, linger);
      if (!least || traffic.round_trips < least->round_trips) least = traffic;
    }
    return *least;
  };
  const auto keep_it = [&](const std::string& name) {
    keep(name);
    const auto kept = Inspector(before).show(name);
    ASSERT_TRUE(kept && kept->holder && kept->holder->owner);
    EXPECT_EQ(kept->holder->owner->linger, 1h) << "so others can know";
  };
  const WireTap::Traffic of_free = least_of("free", "0", use);
  const WireTap::Traffic of_free_in_vain = least_of("free too", "1h", use);
  const WireTap::Traffic of_lingering = least_of("wanted", "1h", keep_it);
  constexpr std::size_t behind_the_grant = 1;  // the look at the queue of a lock that will linger in its turn
  EXPECT_LE(of_lingering.round_trips - behind_the_grant, of_free.round_trips + 2) << of_free << "\n" << of_lingering;
  // Who expects that others keep their locks queues at once; where none does, that costs one more.
  EXPECT_LE(of_free_in_vain.round_trips - behind_the_grant, of_free.round_trips + 1) << of_free << "\n"
                                                                                     << of_free_in_vain;
  EXPECT_EQ(keeper_.statistics().lingering, 0u);
}

// A process that uses the lock all the time, never long enough for others to see it free.
TEST_P(LingerTest, UseAgainAndAgainDoesNotKeepOthersOut) {
  const std::string name = monitor("busy");
  std::atomic<bool> stop{false};
  std::atomic<int> sections{0};
  std::thread busy([&] {
    BlockingWriteLock lock(keeper_, "busy", name, Priority::background);
    while (!stop) {
      lock.lock_with_timeout();
      ++sections;
      lock.unlock();
    }
  });
  EXPECT_TRUE(wait_until([&] { return sections > 1000; }));
  Client other(settings(server_->connect_string()));
  for (const Priority priority : {Priority::foreground, Priority::background}) {
    BlockingWriteLock lock(other, "other", name, priority);
    lock.lock_with_timeout();
    const int before = sections;
    EXPECT_TRUE(lock.healthy());
    EXPECT_EQ(sections, before);
    lock.unlock();
  }
  stop = true;
  busy.join();
}

// The newcomer was there before the lock began to linger.
TEST_P(LingerTest, ALockThatIsWaitedForDoesNotLinger) {
  BlockingWriteLock lock(keeper_, "first", monitor("queue"));
  lock.lock_with_timeout();
  Client other(settings(server_->connect_string()));
  auto next =
      std::async(std::launch::async, [&] { BlockingWriteLock(other, "next", monitor("queue")).lock_with_timeout(); });
  ASSERT_TRUE(wait_until([&] { return Inspector(other).show(monitor("queue"))->queue.size() == 1; }));
  lock.unlock();
  EXPECT_EQ(next.wait_for(10s), std::future_status::ready);
}

TEST_P(LingerTest, ItIsFreeWhenItsTimeEnds) {
  Client brief(settings(server_->connect_string(), "50"));
  BlockingWriteLock lock(brief, "brief", monitor("brief"));
  lock.lock_with_timeout();
  lock.unlock();
  EXPECT_TRUE(wait_until([&] { return brief.statistics().contenders == 0; }));
  EXPECT_TRUE(wait_until_unused(*server_, monitor("brief")));
  EXPECT_EQ(brief.statistics().released, 1u);
}

TEST_P(LingerTest, ItIsFreeWhenItsClientClosesAndItsMonitorIsGone) {
  auto closing = std::make_unique<Client>(settings(server_->connect_string(), "1h"));
  constexpr std::uint64_t others = 99;
  for (std::uint64_t i = 0; i < others; ++i) {
    BlockingWriteLock(*closing, "closing", monitor("closing") + std::to_string(i)).lock_with_timeout();
  }
  BlockingWriteLock(*closing, "closing", monitor("closing")).lock_with_timeout();
  EXPECT_EQ(closing->statistics().lingering, others + 1);
  closing.reset();
  for (const MonitorSummary& one : Inspector(keeper_).list(true)) {
    EXPECT_FALSE(one.monitor.starts_with(monitor("closing"))) << one.monitor;
  }
  BlockingWriteLock lock(keeper_, "next", monitor("closing"));
  EXPECT_TRUE(lock.try_lock());
}

// It hears no answer to its last requests: what one of them is refused for must not keep the others.
TEST_P(LingerTest, AClosedClientLeavesNoMonitorBehindButThoseInUse) {
  auto closing = std::make_unique<Client>(settings(server_->connect_string(), "0"));
  constexpr int number = 1000;
  std::vector<std::unique_ptr<AsyncWriteLock>> used;
  std::atomic<int> released{0};
  for (int i = 0; i < number; ++i) {
    used.push_back(std::make_unique<AsyncWriteLock>(*closing, "closing", monitor("left") + std::to_string(i)));
    used.back()->acquire([&, lock = used.back().get()](const std::exception_ptr&) {
      lock->release([&](const std::exception_ptr&) { ++released; });
    });
  }
  ASSERT_TRUE(wait_until([&] { return released == number; }));
  std::vector<std::unique_ptr<BlockingWriteLock>> in_use;
  for (int i = 0; i < number; i += 40) {
    in_use.push_back(std::make_unique<BlockingWriteLock>(keeper_, "in use", monitor("left") + std::to_string(i)));
    in_use.back()->lock_with_timeout();
  }
  used.clear();
  closing.reset();
  std::size_t left = 0;
  for (const MonitorSummary& one : Inspector(keeper_).list(true)) left += one.monitor.starts_with(monitor("left"));
  EXPECT_EQ(left, in_use.size());
}

TEST_P(LingerTest, AnotherClassOfTheSameProcessGetsIt) {
  keep(monitor("classes"));
  BlockingWriteLock background(keeper_, "background", monitor("classes"), Priority::background);
  background.lock_with_timeout();
  EXPECT_EQ(keeper_.statistics().granted, 2u);
  background.unlock();
}

// It holds nothing, and others wait until its session ends: that is the price. What it kept is not handed out when it
// goes on.
TEST_P(LingerTest, AProcessThatStandsStillKeepsOthersWaitingUntilItsSessionEnds) {
  TemporaryDirectory directory;
  FencedResource resource;
  const std::string name = monitor("stopped");
  ChildProcess worker(
      {FORELOCK_LOCK_WORKER, server_->connect_string(), name, resource.socket(), "rounds=1", "again=1",
       "zookeeper.lock.linger=1h", "zookeeper.lock.watch=" + GetParam(), "zookeeper.session.timeout=2000"},
      directory.path() / "worker");
  ASSERT_TRUE(wait_until([&] { return resource.entered() == 1 && resource.visits().at(0).left.has_value(); }));
  worker.signal(SIGSTOP);
  BlockingWriteLock lock(keeper_, "next", name);
  lock.lock_with_timeout();
  ResourceVisitor visitor(resource.socket(), "next");
  EXPECT_TRUE(visitor.enter(lock.fencing_token()));
  worker.signal(SIGCONT);
  worker.signal(SIGUSR1);  // its next section
  Client watcher(settings(server_->connect_string()));
  EXPECT_TRUE(wait_until([&] { return Inspector(watcher).show(name)->queue.size() == 1; })) << "it asks the servers";
  visitor.leave();
  lock.unlock();
  EXPECT_EQ(worker.wait(), 0);
  EXPECT_EQ(resource.entered(), 3u);
  EXPECT_THAT(resource.overlaps(), ::testing::IsEmpty());
  EXPECT_EQ(resource.stale(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Watch, LingerTest, ::testing::Values("parent", "predecessor"),
                         [](const auto& mode) { return mode.param; });

}  // namespace
}  // namespace forelock::test
