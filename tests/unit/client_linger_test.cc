// Locks that stay with their client, against the answers of a session that the test gives by hand.
#include "slot_fixture.h"
#include "support/wait_until.h"
#include "unlock_points.h"

namespace forelock::client {
namespace {

Settings lingering(const std::string& time, const std::string& most = "1000") {
  Settings settings;
  settings.set("zookeeper.lock.linger", time, "test");
  settings.set("zookeeper.lock.linger.max", most, "test");
  return settings;
}

class ClientLingerTest : public SlotFixture {
 protected:
  ClientLingerTest() : SlotFixture(lingering("1h", "2")) {}

  // A lock that has been granted by the servers and unlocked.
  std::shared_ptr<LockSlot> keep(const std::string& monitor = "P") {
    auto slot = hold(monitor);
    slot->release_and_wait();
    EXPECT_EQ(slot->state(), LockState::free);
    EXPECT_EQ(session_.waiting(), 0u) << "nothing is released";
    return slot;
  }
  void children_change(const std::string& path) {
    core_->ensemble().on_watch({.kind = coordination::WatchEvent::Kind::children_changed, .path = path});
  }
  bool update_record(const LockSlot& caller, lock::ContenderId contender, const std::string& record) {
    return core_->in_step(
        [&](agent::Agent& agent) { return agent.is_of(caller, contender) && agent.update_record(contender, record); });
  }
  std::uint64_t lingering_now() const { return core_->ensemble().statistics().lingering; }
};

TEST_F(ClientLingerTest, TheNextAcquisitionSendsNoRequest) {
  const auto first = keep();
  const auto second = make_slot();
  const std::uint64_t requests = core_->ensemble().statistics().requests;
  second->acquire(lock::never, false);
  EXPECT_TRUE(second->holds());
  EXPECT_TRUE(second->healthy());
  EXPECT_EQ(second->token(), first->token()) << "it is the same grant";
  EXPECT_EQ(second->owner().lock_info, "test");
  EXPECT_TRUE(second->owner().acquired_at.has_value());
  EXPECT_EQ(second->owner().guid, first->owner().guid) << "by which the nodes are recognised";
  second->release_and_wait();
  EXPECT_EQ(core_->ensemble().statistics().requests, requests);
  EXPECT_EQ(core_->ensemble().statistics().taken_again, 1u);
  EXPECT_EQ(lingering_now(), 1u);
}

TEST_F(ClientLingerTest, CallbacksAreCalledForWhatNeedsNoRequest) {
  keep();
  core_->start_threads();
  const auto slot = make_slot();
  std::atomic<int> answers{0};
  const auto answer = [&](std::exception_ptr error) {
    EXPECT_FALSE(error);
    ++answers;
  };
  slot->acquire(lock::never, false, answer);
  EXPECT_TRUE(test::wait_until([&] { return answers == 1; }));
  slot->release(answer);
  EXPECT_TRUE(test::wait_until([&] { return answers == 2; }));
  EXPECT_EQ(slot->state(), LockState::free);
  EXPECT_EQ(lingering_now(), 1u);
  slot->retire();
  core_->close();
}

TEST_F(ClientLingerTest, ALockOfADestroyedObjectLingersToo) {
  const auto slot = make_slot();
  take(*slot);
  slot->retire();
  EXPECT_EQ(lingering_now(), 1u);
  EXPECT_EQ(session_.waiting(), 0u);
}

TEST_F(ClientLingerTest, ALateCallOfTheFormerCallerDoesNotReachIt) {
  const auto first = keep();
  const auto contender = core_->ensemble().statistics().contenders;
  ASSERT_EQ(contender, 1u);
  const auto second = make_slot();
  second->acquire(lock::never, false);
  ASSERT_TRUE(second->holds());
  // As from threads that have looked at the lock before it was unlocked.
  const lock::ContenderId id = 1;
  EXPECT_FALSE(update_record(*first, id, "{}"));
  EXPECT_FALSE(core_->ensemble().guarded_transaction(*first, {id}, {}, [](const coordination::Reply&) {}));
  EXPECT_EQ(session_.waiting(), 0u);
  EXPECT_TRUE(update_record(*second, id, "{}"));
  session_.answer_all();
  second->release({});  // now it does not stay: its record speaks of the section
  session_.answer_all();
  EXPECT_FALSE(update_record(*second, id, "{}"));
}

TEST_F(ClientLingerTest, LocksStayOnlyWhileThereIsRoomForTheirWatches) {
  Settings settings = lingering("1h", "10000");
  // Each path is watched with it.
  settings.set("zookeeper.servers", "127.0.0.1:2181/" + std::string(3000, 'c'), "test");
  use_other_core(settings);
  TreeSession session(*core_);
  session.connect(1h);
  constexpr std::uint64_t many = 2500;
  for (std::uint64_t i = 0; i < many; ++i) {
    const auto slot = make_slot(std::to_string(i) + std::string(240, 'm'));
    slot->acquire(lock::never, false);
    session.answer_all();
    ASSERT_TRUE(slot->holds()) << i;
    slot->release({});
    session.answer_all();
  }
  EXPECT_GT(lingering_now(), 100u);
  EXPECT_LT(lingering_now(), many);
}

TEST_F(ClientLingerTest, TheNewsOfANewcomerReleasesIt) {
  keep();
  children_change("/P");
  EXPECT_EQ(lingering_now(), 0u);
  ASSERT_GT(session_.waiting(), 0u) << "the release";
  session_.answer_all();
  EXPECT_EQ(core_->ensemble().statistics().contenders, 0u);
  EXPECT_EQ(core_->ensemble().statistics().released, 1u);
}

TEST_F(ClientLingerTest, ANewcomerIsSeenWhileTheLockIsInUse) {
  const auto slot = make_slot();
  take(*slot);
  children_change("/P");
  session_.answer_all();
  slot->release_detached();
  EXPECT_EQ(lingering_now(), 0u);
  session_.answer_all();
  EXPECT_EQ(core_->ensemble().statistics().contenders, 0u);
}

TEST_F(ClientLingerTest, AnotherClassGetsItFromTheServers) {
  keep();
  const auto background = make_slot("P", Priority::background);
  background->acquire(lock::never, false);
  EXPECT_FALSE(background->holds());
  session_.answer_all();
  EXPECT_TRUE(background->holds());
  EXPECT_EQ(core_->ensemble().statistics().contenders, 1u);
}

TEST_F(ClientLingerTest, WhatItsRecordPromisesEndsWithItsSection) {
  keep();
  const auto watched = make_slot("P", Priority::foreground, {.expected_runtime = 1s});
  watched->acquire(lock::never, false);
  EXPECT_FALSE(watched->holds());
  session_.answer_all();
  ASSERT_TRUE(watched->holds());
  watched->release_detached();
  EXPECT_EQ(lingering_now(), 0u);
  session_.answer_all();

  const auto slot = keep();
  slot->acquire(lock::never, false);
  ASSERT_TRUE(slot->holds());
  slot->alive(1s);
  slot->release_detached();
  EXPECT_EQ(lingering_now(), 0u);
  session_.answer_all();
  EXPECT_EQ(core_->ensemble().statistics().contenders, 0u);
}

TEST_F(ClientLingerTest, ARecordPromisesToLingerOnlyWhereTheLockMay) {
  const auto slot = make_slot();
  const auto promised = [&] {
    return OwnerRecord::from_json(session_.read(coordination::Get{"/P/privateLock"}).data)->linger.has_value();
  };
  take(*slot);
  EXPECT_TRUE(promised());
  EXPECT_TRUE(slot->owner().linger);
  slot->alive(1s);
  session_.answer_all();
  EXPECT_FALSE(promised());
  EXPECT_FALSE(slot->owner().linger);
  slot->begin_step_aside(lock::never);
  session_.answer_all();
  ASSERT_TRUE(slot->holds());
  EXPECT_TRUE(promised());
  EXPECT_TRUE(slot->owner().linger);
  slot->release_detached();
  EXPECT_EQ(lingering_now(), 1u) << "that was said of the grant before";
}

TEST_F(ClientLingerTest, AnAcquisitionMayAskForAGrantOfItsOwn) {
  const LockOptions own{.may_linger = false};
  const auto first = keep();
  const auto slot = make_slot("P", Priority::foreground, own);
  slot->acquire(lock::never, false);
  EXPECT_FALSE(slot->holds()) << "the one that lingers is not for it";
  session_.answer_all();
  ASSERT_TRUE(slot->holds());
  EXPECT_GT(slot->token(), first->token());
  EXPECT_FALSE(slot->owner().linger) << "readers are not told that it lingers";
  EXPECT_FALSE(slot->owner().alert_at) << "nor that they should be alarmed";
  slot->release_detached();
  EXPECT_EQ(lingering_now(), 0u);
  session_.answer_all();

  keep();
  const auto set =
      std::make_shared<SetSlot>(core_, "test", std::vector<std::string>{"P", "Q"}, Priority::foreground, own);
  set->acquire(lock::never, false);
  EXPECT_FALSE(set->holds());
  session_.answer_all();
  ASSERT_TRUE(set->holds());
  EXPECT_GT(set->tokens()[0].token, slot->token());
  set->release_detached();
  session_.answer_all();
  EXPECT_EQ(lingering_now(), 0u);
  EXPECT_EQ(core_->ensemble().statistics().taken_again, 0u);
  EXPECT_EQ(core_->ensemble().statistics().contenders, 0u);
}

TEST_F(ClientLingerTest, AnOutageReleasesIt) {
  keep();
  core_->ensemble().on_session({.kind = coordination::SessionEvent::Kind::disconnected});
  EXPECT_EQ(lingering_now(), 0u);
  const auto slot = make_slot();
  slot->acquire(lock::never, false);
  EXPECT_FALSE(slot->holds());
  session_.connect(1h);
  session_.answer_all();
  EXPECT_TRUE(slot->holds());
  EXPECT_EQ(core_->ensemble().statistics().contenders, 1u);
}

TEST_F(ClientLingerTest, TheEndOfTheSessionIsTheEndOfIt) {
  keep();
  core_->ensemble().on_session({.kind = coordination::SessionEvent::Kind::expired});
  EXPECT_EQ(lingering_now(), 0u);
  EXPECT_EQ(core_->ensemble().statistics().lost, 0u) << "no caller has lost anything";
  EXPECT_EQ(core_->ensemble().statistics().contenders, 0u);
}

TEST_F(ClientLingerTest, BeyondTheBoundTheOldestIsReleased) {
  keep("P");
  keep("Q");
  const auto third = make_slot("R");
  take(*third);
  third->release_and_wait();
  EXPECT_EQ(lingering_now(), 2u);
  session_.answer_all();
  EXPECT_EQ(core_->ensemble().statistics().contenders, 2u);
  EXPECT_EQ(core_->ensemble().statistics().released, 1u);
}

TEST_F(ClientLingerTest, ItsTimeEnds) {
  use_other_core(lingering("20"));
  core_->start_threads();
  TreeSession session(*core_);
  session.connect(1h);
  const auto slot = make_slot();
  slot->acquire(lock::never, false);
  session.answer_all();
  slot->release_detached();
  EXPECT_TRUE(test::wait_until([&] { return session.answer_one() && core_->ensemble().statistics().contenders == 0; }));
  EXPECT_EQ(core_->ensemble().statistics().released, 1u);
  core_->close();
}

// A release that nobody waits for.
class ClientDelayTest : public ClientLingerTest {
 protected:
  ClientDelayTest() { use_other_core(delaying()); }
  static Settings delaying() {
    Settings settings;
    settings.set("zookeeper.lock.release.delay", "1000", "test");
    return settings;
  }
  std::shared_ptr<LockSlot> lock_and_unlock(TreeSession& session, const std::string& monitor) {
    auto slot = make_slot(monitor);
    slot->acquire(lock::never, false);
    session.answer_all();
    EXPECT_TRUE(slot->holds());
    slot->release({});
    return slot;
  }
};

TEST_F(ClientDelayTest, AReleaseSharesTheRequestOfTheNextClaim) {
  TreeSession session(*core_);
  session.connect(1h);
  EXPECT_EQ(lock_and_unlock(session, "P")->state(), LockState::free);
  EXPECT_EQ(session.waiting(), 0u);
  EXPECT_EQ(lingering_now(), 0u);
  for (const char* monitor : {"Q", "R", "S"}) {
    const std::uint64_t requests = core_->ensemble().statistics().requests;
    lock_and_unlock(session, monitor);
    EXPECT_EQ(core_->ensemble().statistics().requests, requests + 1);
  }
  EXPECT_EQ(core_->ensemble().statistics().released, 3u);
  EXPECT_EQ(core_->ensemble().statistics().contenders, 1u);
}

TEST_F(ClientDelayTest, TheSameMonitorIsReleasedFirst) {
  TreeSession session(*core_);
  session.connect(1h);
  const auto first = lock_and_unlock(session, "P");
  const auto second = lock_and_unlock(session, "P");
  EXPECT_GT(second->token(), first->token()) << "each section has a grant of its own";
  session.answer_all();
  EXPECT_EQ(core_->ensemble().statistics().released, 2u)
      << "who uses a monitor again and again does not wait for its own release";
}

TEST_F(ClientDelayTest, WhenItsTimeEndsItGoesByItself) {
  core_->start_threads();
  TreeSession session(*core_);
  session.connect(1h);
  lock_and_unlock(session, "P");
  EXPECT_TRUE(test::wait_until([&] { return session.answer_one() && core_->ensemble().statistics().contenders == 0; }));
  core_->close();
}

TEST_F(ClientDelayTest, NobodyIsKnownToWait) {
  TreeSession session(*core_);
  session.connect(1h);
  const auto holder = make_slot("P");
  holder->acquire(lock::never, false);
  session.answer_all();
  const auto waiter = make_slot("P");
  waiter->acquire(lock::never, false);
  session.answer_all();
  ASSERT_FALSE(waiter->holds());
  holder->release({});
  session.answer_all();
  EXPECT_TRUE(waiter->holds());
}

// The members of a set are taken and given back like any lock.
TEST_F(ClientLingerTest, MembersOfSetsLinger) {
  const auto single = keep("P");
  const auto set =
      std::make_shared<SetSlot>(core_, "test", std::vector<std::string>{"P", "Q"}, Priority::foreground, LockOptions{});
  take(*set);
  ASSERT_TRUE(set->holds());
  EXPECT_EQ(set->tokens()[0].token, single->token());
  const std::uint64_t requests = core_->ensemble().statistics().requests;
  set->release_and_wait();
  EXPECT_EQ(lingering_now(), 2u);
  set->acquire(lock::never, false);
  EXPECT_TRUE(set->holds());
  set->release_and_wait();
  EXPECT_EQ(core_->ensemble().statistics().requests, requests);
  const auto other = make_slot("Q");
  other->acquire(lock::never, false);
  EXPECT_TRUE(other->holds());
}

// A holder that steps aside comes into the queue.
TEST_F(ClientLingerTest, WhoWantsToKnowItsPlaceGetsALockWhoseContenderTellsIt) {
  keep();
  const auto slot = make_slot();
  slot->on_queued([](const QueuePosition&, const std::string&) {});
  slot->acquire(lock::never, false);
  EXPECT_FALSE(slot->holds()) << "that contender was asked for without a place";
  session_.answer_all();
  ASSERT_TRUE(slot->holds());
  slot->release_and_wait();
  EXPECT_EQ(lingering_now(), 1u);
  slot->acquire(lock::never, false);
  EXPECT_TRUE(slot->holds());
}

// A write under way would be done in the next caller's section: only a release sent behind it keeps it out of that.
TEST_F(ClientLingerTest, ALockWithAGuardedWriteUnderWayDoesNotLinger) {
  const auto slot = make_slot();
  for (const bool answered : {true, false}) {
    take(*slot);
    ASSERT_TRUE(slot->holds());
    std::thread writing([&] { EXPECT_EQ(slot->write_guarded({SetNode{"/P", "x", -1}}).size(), 1u); });
    EXPECT_TRUE(test::wait_until([&] { return session_.waiting() == 1; }));
    if (answered) {
      session_.answer_all();
      writing.join();
    }
    slot->release({});
    EXPECT_EQ(lingering_now(), answered ? 1u : 0u);
    EXPECT_EQ(session_.waiting(), answered ? 0u : 2u) << "the write, and the release";
    session_.answer_all();
    if (!answered) writing.join();
  }
}

TEST_F(ClientLingerTest, TheLastOfSeveralGuardedWritesCounts) {
  const auto slot = make_slot();
  take(*slot);
  ASSERT_TRUE(slot->holds());
  const lock::ContenderId id = 1;
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(core_->ensemble().guarded_transaction(*slot, {id}, {coordination::SetData{"/P", "x", -1}},
                                                      [](const coordination::Reply&) {}));
  }
  ASSERT_TRUE(session_.answer_one());
  slot->release({});
  EXPECT_EQ(lingering_now(), 0u) << "one is still under way";
  session_.answer_all();
  EXPECT_EQ(slot->state(), LockState::free);
}

// Its class is not that of the wish that it was asked for with.
TEST_F(ClientLingerTest, ALockWhosePriorityWasChangedBeforeItHadANodeDoesNotLinger) {
  session_.disconnect();
  const auto slot = make_slot();
  slot->acquire(lock::never, false);
  ASSERT_TRUE(slot->set_priority(Priority::background));
  session_.reconnect(1h);
  session_.answer_all();
  ASSERT_TRUE(slot->holds());
  slot->release({});
  session_.answer_all();
  EXPECT_EQ(lingering_now(), 0u);
}

TEST_F(ClientLingerTest, ATakingThatHasJustBegunCanBeCancelled) {
  if (!test::unlock_points_work()) GTEST_SKIP() << "the thread sanitizer watches the mutexes";
  keep();
  int point = 1;
  for (bool reached = true; reached; ++point) {
    const auto slot = make_slot();
    bool waiting = false;
    bool cancelled = false;
    reached = test::run_at_unlock_point(
        point, [&] { slot->acquire(lock::never, false); },
        [&] {
          waiting = slot->state() == LockState::waiting;
          cancelled = slot->cancel();
        });
    EXPECT_EQ(cancelled, waiting) << "at point " << point;
    EXPECT_EQ(slot->state(), cancelled ? LockState::free : LockState::held) << "at point " << point;
    slot->retire();
    EXPECT_EQ(lingering_now(), 1u) << "at point " << point;
  }
  EXPECT_GT(point, 2);
  EXPECT_EQ(session_.waiting(), 0u);
}

}  // namespace
}  // namespace forelock::client
