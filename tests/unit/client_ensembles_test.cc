// A client of two ensembles, against the answers of two sessions that the test gives by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "client/lock_slot.h"
#include "client/set_slot.h"
#include "clock_jump.h"
#include "support/wait_until.h"
#include "tree_session.h"

namespace forelock::client {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class EnsemblesTest : public ::testing::Test {
 protected:
  static Settings settings(const std::string& servers) {
    Settings settings;
    settings.set("zookeeper.servers", servers);
    settings.set("zookeeper.session.timeout", "3600000");
    return settings;
  }
  LockOptions options() const {
    LockOptions options;
    options.capture_stack = false;
    return options;
  }
  // The number-th monitor that lives there.
  std::string monitor(std::size_t ensemble, int number = 0) const {
    for (int i = 0;; ++i) {
      std::string name = "m" + std::to_string(i);
      if (&core_->home_of(name) == &core_->link(ensemble) && number-- == 0) return name;
    }
  }
  std::shared_ptr<LockSlot> make_lock(const std::string& monitor) {
    return std::make_shared<LockSlot>(core_, "test", monitor, Priority::foreground, options());
  }
  std::shared_ptr<SetSlot> make_set(const std::vector<std::string>& monitors) {
    return std::make_shared<SetSlot>(core_, "test", monitors, Priority::foreground, options());
  }
  std::shared_ptr<LockSlot> hold(const std::string& monitor) {
    auto slot = make_lock(monitor);
    slot->acquire(lock::never, false);
    answer_all();
    EXPECT_TRUE(slot->holds());
    return slot;
  }
  void connect() {
    first_.connect(1h);
    second_.connect(1h);
    answer_all();
  }
  void answer_all() {
    while (first_.answer_one() || second_.answer_one()) continue;
  }

  // Its threads do not run: nothing happens but what a test does.
  std::shared_ptr<ClientCore> core_ = std::make_shared<ClientCore>(settings("zk1|zk2"), LogSink());
  TreeSession first_{*core_, 0};
  TreeSession second_{*core_, 1};
};

TEST_F(EnsemblesTest, NoLockIsServedBeforeAllEnsemblesHaveTheMap) {
  const auto lock = make_lock(monitor(0));
  first_.connect(1h);
  lock->acquire(lock::never, false);
  answer_all();
  EXPECT_FALSE(core_->link(0).connected());
  EXPECT_FALSE(lock->holds());
  second_.connect(1h);
  answer_all();
  EXPECT_TRUE(core_->connected());
  EXPECT_TRUE(lock->holds());
  for (const TreeSession* session : {&first_, &second_}) {
    EXPECT_THAT(session->read(coordination::Get{"/%forelock-ensembles", false}).data, HasSubstr("\"agreed\":true"));
  }
}

TEST_F(EnsemblesTest, WhatIsLostOfTheAgreementIsAskedForAgain) {
  first_.connect(1h);
  second_.connect(1h);
  const auto ask = [](TreeSession& session) {
    EXPECT_EQ(session.waiting(), 1u);
    session.disconnect();
    session.reconnect(1h);
    EXPECT_TRUE(session.answer_one());
  };
  ask(first_);
  ask(second_);  // both have been looked at
  for (TreeSession* session : {&first_, &second_}) {
    ask(*session);  // to make the node
  }
  first_.disconnect();  // what marks it is lost
  first_.reconnect(1h);
  answer_all();
  EXPECT_TRUE(core_->connected());
  EXPECT_THAT(first_.read(coordination::Get{"/%forelock-ensembles", false}).data, HasSubstr("\"agreed\":true"));
}

TEST_F(EnsemblesTest, WhoMayNotLookAtTheMapGivesTheSessionUp) {
  first_.connect(1h);
  first_.refuse_one(coordination::ReplyCode::no_auth);
  EXPECT_TRUE(core_->link(0).useless());
  EXPECT_FALSE(core_->link(0).connected());
  EXPECT_THAT(core_->link(0).last_problem(), HasSubstr("cannot read the map"));
}

// One that says nothing of the request, or that the server has too much to do: no reason to end what waits.
TEST_F(EnsemblesTest, AnAnswerOfNoUseToTheLookIsAskedForAgain) {
  core_->start_threads();
  const auto lock = make_lock(monitor(0));
  lock->acquire(lock::never, false);
  using coordination::ReplyCode;
  first_.connect(1h);
  for (const ReplyCode code : {ReplyCode::throttled, ReplyCode::session_expired, ReplyCode::server_error}) {
    ASSERT_EQ(first_.waiting(), 1u) << name_of(code);
    first_.refuse_one(code);
    EXPECT_FALSE(core_->link(0).useless()) << name_of(code);
    EXPECT_FALSE(core_->link(0).connected()) << name_of(code);
    EXPECT_TRUE(test::wait_until([this] { return first_.waiting() == 1; })) << name_of(code);
  }
  EXPECT_THAT(core_->link(0).last_problem(), HasSubstr("is not known yet"));
  second_.connect(1h);
  EXPECT_TRUE(test::wait_until([&] {
    answer_all();
    return lock->holds();
  }));
}

TEST_F(EnsemblesTest, WhatIsAnsweredWithNothingOfUseWhileTheMapIsMadeIsAskedForAgain) {
  core_->start_threads();
  first_.connect(1h);
  second_.connect(1h);
  first_.answer_one();
  second_.answer_one();                                   // both have been looked at
  first_.refuse_one(coordination::ReplyCode::throttled);  // to make the node
  EXPECT_TRUE(test::wait_until([this] {
    answer_all();
    return core_->connected();
  }));
}

// The news of a session that has been given up meanwhile.
TEST_F(EnsemblesTest, WithoutASessionNothingIsAskedFor) {
  first_.connect(1h);
  core_->link(0).use_session(nullptr);
  core_->link(0).on_session({.kind = coordination::SessionEvent::Kind::connected, .session = 9, .timeout = 1h});
  EXPECT_FALSE(core_->link(0).connected());
}

TEST_F(EnsemblesTest, WhoseEnsembleKnowsTheMapNeedNotWaitForTheOthers) {
  connect();
  first_.connect(1h);  // the same session again: nothing is looked at
  EXPECT_TRUE(core_->link(0).connected());
  core_->link(0).on_session({.kind = coordination::SessionEvent::Kind::expired});
  core_->link(1).on_session({.kind = coordination::SessionEvent::Kind::expired});
  first_.connect(1h, 8);
  EXPECT_FALSE(core_->link(0).connected()) << "in a new session the map is looked at";
  answer_all();
  EXPECT_TRUE(core_->link(0).connected());
  EXPECT_FALSE(core_->link(1).connected());
  EXPECT_TRUE(make_set({monitor(0)})->acquire(lock::never, false) != 0);
}

TEST_F(EnsemblesTest, AMonitorIsLockedWhereItLives) {
  connect();
  const auto lock = hold(monitor(1));
  EXPECT_TRUE(second_.read(coordination::Get{"/" + monitor(1) + "/privateLock", false}).ok());
  EXPECT_FALSE(first_.read(coordination::Get{"/" + monitor(1), false}).ok());
  lock->release({});
  answer_all();
  EXPECT_EQ(core_->statistics().contenders, 0u);
}

TEST_F(EnsemblesTest, TheOtherEnsembleGoesOnWhenOneIsSilent) {
  connect();
  const auto lock = hold(monitor(0));
  core_->link(1).on_session({.kind = coordination::SessionEvent::Kind::disconnected});
  EXPECT_FALSE(core_->connected());
  EXPECT_EQ(lock->state(), LockState::held);
  const auto other = hold(monitor(0, 1));
  EXPECT_EQ(other->state(), LockState::held);
  const auto away = make_lock(monitor(1));
  away->acquire(lock::never, false);
  answer_all();
  EXPECT_EQ(away->state(), LockState::waiting);
}

TEST_F(EnsemblesTest, ASetIsHeldInBothAndGivenBackInBoth) {
  connect();
  const auto set = make_set({monitor(0), monitor(1), monitor(0, 1), monitor(1, 1)});
  set->acquire(lock::never, false);
  answer_all();
  ASSERT_TRUE(set->holds());
  EXPECT_TRUE(set->healthy());
  EXPECT_EQ(set->state(), LockState::held);
  for (const MemberToken& member : set->tokens()) EXPECT_GT(member.token, 0) << member.monitor;
  EXPECT_TRUE(first_.read(coordination::Get{"/" + monitor(0) + "/privateLock", false}).ok());
  EXPECT_TRUE(second_.read(coordination::Get{"/" + monitor(1) + "/privateLock", false}).ok());
  try {
    set->write_guarded({SetNode{"/x", "y"}});
    FAIL();
  } catch (const RequestRejectedException& problem) {
    EXPECT_EQ(problem.code(), ErrorCode::invalid_argument);
    EXPECT_THAT(problem.what(), HasSubstr("zk1:2181, zk2:2181"));
  }
  set->release({});
  answer_all();
  EXPECT_EQ(core_->statistics().contenders, 0u);
  EXPECT_EQ(set->state(), LockState::free);
}

TEST_F(EnsemblesTest, ASetWaitsInOneEnsembleWhileItHoldsNothingBehindIt) {
  connect();
  std::vector<std::string> members = {monitor(0), monitor(1), monitor(0, 1), monitor(1, 1)};
  std::sort(members.begin(), members.end());
  const auto busy = hold(members[1]);
  const auto set = make_set(members);
  set->acquire(lock::never, false);
  answer_all();
  EXPECT_EQ(set->waits_for(), members[1]);
  for (const std::string& free : {members[2], members[3]}) hold(free)->release({});
  busy->release({});
  answer_all();
  EXPECT_TRUE(set->holds());
  set->release({});
  answer_all();
}

TEST_F(EnsemblesTest, ASetIsNotHeldBeforeASessionThatFellSilentWhileItWaitedInTheOtherHasAnswered) {
  first_.connect(1h);
  second_.connect(10h);
  answer_all();
  const std::string silent = monitor(0);
  int number = 0;
  while (monitor(1, number) < silent) ++number;
  const auto busy = hold(monitor(1, number));
  const auto set = make_set({silent, monitor(1, number)});
  set->acquire(lock::never, false);
  answer_all();
  ASSERT_EQ(set->waits_for(), monitor(1, number));
  test::suspend_for(45min);  // of an hour
  busy->release({});
  while (second_.answer_one()) continue;
  EXPECT_FALSE(set->holds());
  answer_all();
  EXPECT_TRUE(set->holds());
}

TEST_F(EnsemblesTest, TheEndOfOneSessionLosesTheSetAndTheRestIsGivenBack) {
  connect();
  const auto set = make_set({monitor(0), monitor(1)});
  set->acquire(lock::never, false);
  answer_all();
  ASSERT_TRUE(set->healthy());
  core_->link(1).on_session({.kind = coordination::SessionEvent::Kind::expired});
  EXPECT_FALSE(set->healthy());
  EXPECT_EQ(set->state(), LockState::lost);
  EXPECT_THROW(set->check_health(), LockUnhealthyException);
  EXPECT_TRUE(first_.read(coordination::Get{"/" + monitor(0) + "/privateLock", false}).ok())
      << "held until it is released, so that the work can be stopped first";
  set->release({});
  answer_all();
  EXPECT_FALSE(first_.read(coordination::Get{"/" + monitor(0) + "/privateLock", false}).ok());
  EXPECT_EQ(core_->statistics().contenders, 0u);
}

TEST_F(EnsemblesTest, EachEnsembleHasItsPartOfTheLocksThatMayLinger) {
  Settings lingering = settings("zk1|zk2");
  lingering.set({{"zookeeper.lock.linger", "1h"}, {"zookeeper.lock.linger.max", "2"}});
  const auto core = std::make_shared<ClientCore>(lingering, LogSink());
  TreeSession first(*core, 0);
  TreeSession second(*core, 1);
  const auto answer = [&] {
    while (first.answer_one() || second.answer_one()) continue;
  };
  first.connect(1h);
  second.connect(1h);
  answer();
  for (const std::string& name : {monitor(0), monitor(0, 1), monitor(1)}) {
    const auto slot = std::make_shared<LockSlot>(core, "test", name, Priority::foreground, options());
    slot->acquire(lock::never, false);
    answer();
    ASSERT_TRUE(slot->holds());
    slot->release({});
    answer();
  }
  EXPECT_EQ(core->statistics().lingering, 2u) << "one in each";
  core->close();
}

// Although nothing has confirmed that the other members are free again.
TEST_F(EnsemblesTest, WhoReleasesALostSetIsToldOfTheLoss) {
  connect();
  const auto set = make_set({monitor(0), monitor(1)});
  set->acquire(lock::never, false);
  answer_all();
  core_->link(1).on_session({.kind = coordination::SessionEvent::Kind::expired});
  EXPECT_THROW(set->release_and_wait(), SessionExpiredException);
  EXPECT_EQ(first_.waiting(), 1u) << "the release of the other member";
  answer_all();
  EXPECT_EQ(core_->statistics().contenders, 0u);
}

TEST_F(EnsemblesTest, ASetThatCannotBeTakenInOneEnsembleLeavesNothingInTheOther) {
  connect();
  const auto busy = hold(monitor(1));
  const auto set = make_set({monitor(0), monitor(1)});
  const auto acquisition = set->acquire(lock::never, true);
  answer_all();
  EXPECT_EQ(set->state(), LockState::free);
  EXPECT_EQ(set->wait(acquisition, lock::never)->refusal.reason, lock::RefusalReason::unavailable);
  EXPECT_FALSE(first_.read(coordination::Get{"/" + monitor(0) + "/privateLock", false}).ok());
  EXPECT_EQ(core_->statistics().contenders, 1u);
}

TEST_F(EnsemblesTest, ASessionThatFallsSilentMakesTheSetSuspectWhicheverItIs) {
  connect();
  const auto set = make_set({monitor(0), monitor(1)});
  set->acquire(lock::never, false);
  answer_all();
  for (const std::size_t silent : {0u, 1u}) {
    core_->link(silent).on_session({.kind = coordination::SessionEvent::Kind::disconnected});
    EXPECT_EQ(set->state(), LockState::suspect) << silent;
    (silent == 0 ? first_ : second_).connect(1h);
    answer_all();
    EXPECT_EQ(set->state(), LockState::held) << silent;
  }
}

TEST_F(EnsemblesTest, AnotherMapIsRefusedInEachCall) {
  connect();
  const auto core = std::make_shared<ClientCore>(settings("zk1|zk3"), LogSink());
  const auto data = first_.read(coordination::Get{"/%forelock-ensembles", false}).data;
  {
    TreeSession session(*core, 0);
    session.write(coordination::Create{"/%forelock-ensembles", data, coordination::CreateMode::persistent});
    std::string elsewhere = "m";
    while (&core->home_of(elsewhere) != &core->link(1)) elsewhere += 'm';
    const auto waiting = std::make_shared<LockSlot>(core, "test", elsewhere, Priority::foreground, options());
    const auto acquisition = waiting->acquire(lock::never, false);
    session.connect(1h);
    session.answer_all();
    EXPECT_TRUE(waiting->wait(acquisition, lock::never)) << "it does not wait for the other ensemble any more";
    EXPECT_TRUE(core->link(0).useless());
    EXPECT_FALSE(core->link(0).connected());
    const auto slot = std::make_shared<LockSlot>(core, "test", "m", Priority::foreground, options());
    try {
      slot->acquire(lock::never, false);
      FAIL();
    } catch (const RequestRejectedException& problem) {
      EXPECT_EQ(problem.code(), ErrorCode::ensembles_differ);
      EXPECT_THAT(problem.what(), HasSubstr("zk1:2181|zk2:2181"));
      EXPECT_THAT(problem.what(), HasSubstr("zk1:2181|zk3:2181"));
    }
  }
}

}  // namespace
}  // namespace forelock::client
