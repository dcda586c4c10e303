// Replays and locks: drainers exclude each other, monitors that are held are left alone, and what loses its lock ends.
#include "drain/drainer_lock.h"
#include "forelock/blocking_write_lock.h"
#include "forelock/error.h"
#include "forelock/inspector.h"
#include "integration/dead_letters.h"
#include "integration/drain_replays.h"
#include "support/wait_until.h"

namespace forelock::test {
namespace {

using drain::ReplayOptions;
using drain::TryOutcome;
using drain::TryResult;
using Event = drain::ReplayObserver::Event;

class DrainLocksTest : public DrainReplayTest {
 protected:
  // Frees a lock as an administrator does.
  void take_away(const std::string& monitor) {
    Client client(settings());
    Inspector inspector(client);
    const auto view = inspector.show(monitor);
    ASSERT_TRUE(view && view->holder && view->holder->node) << monitor << " is not held";
    EXPECT_EQ(inspector.force_release(monitor, *view->holder->node), ForceReleaseResult::released);
  }

  // A target that tells that it has begun, and ends when it is stopped.
  TryResult until_stopped(std::stop_token stop, TryResult result) {
    begun_ = true;
    if (!wait_until([&] { return stop.stop_requested(); })) return {TryOutcome::failed, "never stopped"};
    return result;
  }

  std::atomic<bool> begun_ = false;
};

TEST_P(DrainLocksTest, AMonitorThatSomebodyHoldsIsLeftAlone) {
  given_->add({example_letter("a1", "A"), example_letter("a2", "A"), example_letter("b1", "B")});
  Client somebody(settings());
  BlockingWriteLock lock(somebody, "Save Content", "A");
  lock.lock_with_timeout();
  ReplayOptions options;
  options.lock_timeout = 200ms;
  const auto report = replay(target_, options);
  EXPECT_EQ(report.replayed, 1u);
  EXPECT_EQ(report.later, 1u);
  EXPECT_EQ(report.skipped, 1u);
  EXPECT_THAT(target_.ids(), ElementsAre("b1"));
  EXPECT_THAT(record_.ids(Event::locked_out), ElementsAre("a1"));
  EXPECT_THAT(record_.message("a1"), HasSubstr("Save Content"));
  EXPECT_EQ(contents().letter("a1").tries, 0u) << "it has not been tried";
  lock.unlock();
  EXPECT_EQ(replay(target_, options).replayed, 2u);
}

TEST_P(DrainLocksTest, WhoIsLockedOutDoesNotUseUpMax) {
  given_->add({example_letter("a1", "A"), example_letter("b1", "B"), example_letter("c1", "C")});
  Client somebody(settings());
  BlockingWriteLock lock(somebody, "Save Content", "A");
  lock.lock_with_timeout();
  ReplayOptions options;
  options.lock_timeout = 200ms;
  options.max = 2;
  EXPECT_EQ(replay(target_, options).replayed, 2u);
  EXPECT_THAT(contents().ids(), ElementsAre("a1"));
}

TEST_P(DrainLocksTest, ALostLockStopsTheTargetAndIsNoFailure) {
  given_->add({example_letter("a1", "A"), example_letter("a2", "A")});
  // Even one that says it was done: it cannot know under whose lock.
  for (const auto& said : {TryResult{TryOutcome::done, ""}, TryResult{TryOutcome::failed, "broken off"}}) {
    begun_ = false;
    auto running = std::async(std::launch::async, [&] {
      return replay(
          [&](const drain::StoredLetter&, WriteLock&, std::stop_token stop) { return until_stopped(stop, said); });
    });
    ASSERT_TRUE(wait_until([&] { return begun_.load(); }));
    take_away("A");
    const auto report = running.get();
    EXPECT_EQ(report.later, 1u);
    EXPECT_EQ(report.replayed + report.failed, 0u);
    EXPECT_EQ(report.skipped, 1u);
    EXPECT_THAT(record_.message("a1"), HasSubstr("lost"));
    EXPECT_EQ(contents().letter("a1").tries, 0u);
  }
}

TEST_P(DrainLocksTest, WithoutTheDrainersLockEverythingEnds) {
  given_->add({example_letter("a1", "A"), example_letter("a2", "A"), example_letter("b1", "B")});
  ReplayOptions options;
  options.concurrency = 1;
  auto running = std::async(std::launch::async, [&] {
    return replay(
        [&](const drain::StoredLetter&, WriteLock&, std::stop_token stop) {
          return until_stopped(stop, {TryOutcome::failed, "broken off"});
        },
        options);
  });
  ASSERT_TRUE(wait_until([&] { return begun_.load(); }));
  take_away(drain::drainer_monitor(settings()));
  const auto report = running.get();
  EXPECT_TRUE(report.stopped);
  EXPECT_EQ(report.later, 1u);
  EXPECT_EQ(report.replayed + report.failed, 0u);
  EXPECT_THAT(contents().letters, SizeIs(3));
  EXPECT_EQ(contents().letter("a1").tries, 1u) << "not taken back: another drainer may be at work";
  for (const char* id : {"a2", "b1"}) EXPECT_EQ(contents().letter(id).tries, 0u);
}

TEST_P(DrainLocksTest, WhatWasDoneUnderItsOwnLockCountsWithoutTheDrainers) {
  given_->add({example_letter("a1", "A"), example_letter("a2", "A")});
  auto running = std::async(std::launch::async, [&] {
    return replay([&](const drain::StoredLetter&, WriteLock&, std::stop_token stop) {
      return until_stopped(stop, {TryOutcome::done, ""});
    });
  });
  ASSERT_TRUE(wait_until([&] { return begun_.load(); }));
  take_away(drain::drainer_monitor(settings()));
  const auto report = running.get();
  EXPECT_TRUE(report.stopped);
  EXPECT_EQ(report.replayed, 1u);
  EXPECT_THAT(contents().ids(), ElementsAre("a2"));
}

TEST_P(DrainLocksTest, TheCallerCanStopIt) {
  given_->add({example_letter("a1", "A"), example_letter("a2", "A"), example_letter("b1", "B")});
  std::stop_source stop;
  Client client(settings());
  const auto store = given_->open();
  drain::Replayer replayer(
      client, *store,
      [&](const drain::StoredLetter&, WriteLock&, std::stop_token token) {
        return until_stopped(token, {TryOutcome::later, "told to end"});
      },
      record_);
  auto running = std::async(std::launch::async, [&] { return replayer.run({}, stop.get_token()); });
  ASSERT_TRUE(wait_until([&] { return begun_.load(); }));
  stop.request_stop();
  const auto report = running.get();
  EXPECT_TRUE(report.stopped);
  EXPECT_EQ(report.replayed, 0u);
  EXPECT_THAT(contents().letters, SizeIs(3));
  EXPECT_EQ(replay(target_).replayed, 3u) << "and it can be taken up again at once";
}

TEST_P(DrainLocksTest, OnlyOneDrainsAtATime) {
  given_->add({example_letter("a1", "A"), example_letter("b1", "B")});
  std::promise<void> go_on;
  auto first = std::async(std::launch::async, [&] {
    return replay([&, released = go_on.get_future().share()](const drain::StoredLetter&, WriteLock&, std::stop_token) {
      begun_ = true;
      released.wait();
      return TryResult{TryOutcome::done, ""};
    });
  });
  ASSERT_TRUE(wait_until([&] { return begun_.load(); }));
  try {
    replay(target_);
    ADD_FAILURE() << "a second one was let in";
  } catch (const InstanceLockException& problem) {
    EXPECT_EQ(problem.code(), ErrorCode::lock_timeout);
    EXPECT_THAT(problem.what(), HasSubstr("dead letters: replay of"));
    EXPECT_THAT(problem.hint(), HasSubstr("forelock show"));
  }
  {
    Client client(settings());
    const auto store = given_->open();
    EXPECT_THROW(drain::DrainerLock(client, *store, "purge"), InstanceLockException);
  }
  EXPECT_THAT(target_.ids(), IsEmpty());
  go_on.set_value();
  EXPECT_EQ(first.get().replayed, 2u);
  Client client(settings());
  const auto store = given_->open();
  const drain::DrainerLock free_again(client, *store, "purge");
  EXPECT_TRUE(free_again.healthy());
}

TEST_P(DrainLocksTest, WaitingForAnotherDrainCanBeStopped) {
  Client client(settings());
  const auto store = given_->open();
  const drain::DrainerLock held(client, *store, "purge");
  Client other(settings());
  const auto other_store = given_->open();
  std::stop_source stop;
  auto waiting = std::async(std::launch::async,
                            [&] { drain::Replayer(other, *other_store, target_, record_).run({}, stop.get_token()); });
  ASSERT_TRUE(wait_until([&] { return Inspector(client).show(store->drainer_monitor())->queue.size() == 1; }));
  stop.request_stop();
  try {
    waiting.get();
    ADD_FAILURE() << "it went on";
  } catch (const InstanceLockException& problem) {
    EXPECT_EQ(problem.code(), ErrorCode::cancelled);
  }
}

// Several that begin at once, one after the other: whatever one has done is not done again.
TEST_P(DrainLocksTest, DrainersAtOnceDoNothingTwice) {
  given_->add(example_letters(40, 5));
  std::vector<std::future<std::uint64_t>> drainers;
  for (int i = 0; i < 3; ++i) {
    drainers.push_back(std::async(std::launch::async, [&]() -> std::uint64_t {
      ReplayOptions options;
      options.max = 15;
      try {
        return replay(target_, options).replayed;
      } catch (const InstanceLockException&) {
        return 0;
      }
    }));
  }
  std::uint64_t replayed = 0;
  for (auto& drainer : drainers) replayed += drainer.get();
  const auto ids = target_.ids();
  EXPECT_EQ(ids.size(), replayed);
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), ids.size());
  EXPECT_THAT(contents().letters, SizeIs(40 - replayed));
}

TEST_P(DrainLocksTest, DrainersOfDifferentStoresDoNotMeet) {
  const auto other = DrainStore::make(GetParam());
  Client client(settings());
  const auto store = given_->open();
  const auto other_store = other->open();
  const drain::DrainerLock one(client, *store, "purge");
  const drain::DrainerLock two(client, *other_store, "purge");
  EXPECT_TRUE(one.healthy() && two.healthy());
}

INSTANTIATE_TEST_SUITE_P(Stores, DrainLocksTest, ::testing::Values("outbox", "kafka"),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace forelock::test
