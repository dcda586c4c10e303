// Sets whose members linger, and what a set's calls meet on their way, against the answers of a session that the test
// gives by hand.
#include "clock_jump.h"
#include "forelock/error.h"
#include "slot_fixture.h"
#include "support/wait_until.h"
#include "unlock_points.h"

namespace forelock::client {
namespace {

using coordination::Create;
using coordination::CreateMode;

class SetLingerTest : public SlotFixture {
 protected:
  SetLingerTest() : SlotFixture(lingering()) {}

  static Settings lingering() {
    Settings settings;
    settings.set("zookeeper.lock.linger", "1h", "test");
    return settings;
  }
  // A lock that has been granted by the servers and unlocked: it lingers.
  void keep(const std::string& monitor) {
    const auto slot = make_slot(monitor);
    take(*slot);
    slot->release_and_wait();
    EXPECT_EQ(core_->ensemble().statistics().lingering, 1u);
  }
  std::shared_ptr<SetSlot> hold_set() {
    auto set = make_set();
    take(*set);
    EXPECT_TRUE(set->healthy());
    return set;
  }
  // Another client, of another session.
  void hold_elsewhere(const std::string& monitor) {
    const std::string path = "/" + monitor;
    session_.write(Create{path, "", CreateMode::persistent});
    session_.write(Create{path + "/A-", "", CreateMode::ephemeral_sequential});
    session_.write(Create{path + "/privateLock", "", CreateMode::ephemeral});
  }
  bool locked_at_the_server(const std::string& monitor) const {
    return session_.read(coordination::Get{"/" + monitor + "/privateLock"}).ok();
  }
};

TEST_F(SetLingerTest, AMemberThatHadLingeredIsStillOursAfterAliveAndAReconnection) {
  keep("P");
  const auto set = hold_set();
  EXPECT_EQ(core_->ensemble().statistics().taken_again, 1u);
  set->alive(1min);
  session_.answer_all();
  session_.disconnect();
  session_.reconnect(1h);
  session_.answer_all();
  core_->ensemble().tick();
  session_.answer_all();
  EXPECT_EQ(set->state(), LockState::held);
  EXPECT_NO_THROW(set->check_health());
  EXPECT_TRUE(locked_at_the_server("P"));
}

TEST_F(SetLingerTest, AWriteThatIsRefusedForItselfIsNoLoss) {
  keep("P");
  const auto set = hold_set();
  std::string problem = "none";
  std::thread writer([&] {
    try {
      set->write_guarded({SetNode{"/not-there", "x"}});
    } catch (const Error& error) {
      problem = name_of(error.code());
    }
  });
  EXPECT_TRUE(test::wait_until([&] { return session_.waiting() > 0; }));
  session_.answer_one();
  // It looks for the reason.
  EXPECT_TRUE(test::wait_until([&] {
    session_.answer_all();
    return problem != "none";
  }));
  writer.join();
  EXPECT_EQ(problem, "write_conflict");
  EXPECT_EQ(set->state(), LockState::held);
}

TEST_F(SetLingerTest, WhatAFailedSetHadTakenIsFreeAtTheServer) {
  hold_elsewhere("Q");
  const auto set = make_set();
  set->acquire(lock::never, true);
  session_.answer_all();
  EXPECT_EQ(set->state(), LockState::free);
  EXPECT_FALSE(locked_at_the_server("P"));
  EXPECT_EQ(core_->ensemble().statistics().lingering, 0u);
}

TEST_F(SetLingerTest, WhatASetGivesBackWhileItWaitsIsFreeAtTheServer) {
  hold_elsewhere("P");
  const auto set = make_set();
  take(*set);
  EXPECT_FALSE(locked_at_the_server("Q"));
  EXPECT_TRUE(set->cancel());
  session_.answer_all();
  EXPECT_EQ(core_->ensemble().statistics().lingering, 0u);
}

TEST_F(SetLingerTest, ASetThatHasBeenHeldLingersAsAWhole) {
  const auto set = hold_set();
  set->release_and_wait();
  EXPECT_EQ(core_->ensemble().statistics().lingering, 2u);
}

TEST_F(SetLingerTest, WhoSteppedAsideHasNewTokens) {
  const auto set = hold_set();
  const lock::Token first = set->tokens()[0].token;
  const lock::Token second = set->tokens()[1].token;
  set->begin_step_aside(lock::never);
  session_.answer_all();
  ASSERT_TRUE(set->holds());
  EXPECT_GT(set->tokens()[0].token, first);
  EXPECT_GT(set->tokens()[1].token, second);
}

// One thread unlocks and another one takes the same object, at each point of the answer: the first one hears its end.
TEST(SetReleaseTest, AnAcquisitionOfAnotherThreadDoesNotTakeTheAnswerAway) {
  if (!test::unlock_points_work()) GTEST_SKIP() << "the thread sanitizer needs these functions for itself";
  int point = 1;
  for (bool reached = true; reached; ++point) {
    const auto core = std::make_shared<ClientCore>(Settings(), LogSink());
    TreeSession session{*core};
    session.connect(10s);
    LockOptions options;
    options.capture_stack = false;
    const auto set =
        std::make_shared<SetSlot>(core, "test", std::vector<std::string>{"P", "Q"}, Priority::foreground, options);
    set->acquire(lock::never, false);
    session.answer_all();
    ASSERT_TRUE(set->holds());
    std::atomic<bool> released = false;
    std::thread unlocking([&] {
      EXPECT_NO_THROW(set->release_and_wait()) << "at point " << point;
      released = true;
    });
    EXPECT_TRUE(test::wait_until([&] { return session.waiting() > 0; }));
    reached = test::run_at_unlock_point(
        point, [&] { session.answer_all(); },
        [&] {
          try {
            set->acquire(lock::never, false);
          } catch (const RequestRejectedException&) {
            // It is not free yet.
          }
        });
    EXPECT_TRUE(test::wait_until([&] { return released.load(); }, 5s)) << "at point " << point;
    unlocking.join();
  }
  EXPECT_GT(point, 2);
}

// The clock jumps at each point of the call at which another thread could get in between.
TEST(SetDeadlineTest, ASessionWhoseTimeIsOverWithinAliveIsALoss) {
  if (!test::unlock_points_work()) GTEST_SKIP() << "the thread sanitizer needs these functions for itself";
  bool jumped = true;
  for (int point = 1; jumped; ++point) {
    const auto core = std::make_shared<ClientCore>(Settings(), LogSink());
    TreeSession session{*core};
    session.connect(1h);
    LockOptions options;
    options.capture_stack = false;
    const auto set =
        std::make_shared<SetSlot>(core, "test", std::vector<std::string>{"P", "Q", "R"}, Priority::foreground, options);
    set->acquire(lock::never, false);
    session.answer_all();
    ASSERT_TRUE(set->healthy());
    jumped = test::run_at_unlock_point(
        point,
        [&] {
          try {
            set->alive(1min);
          } catch (const LockUnhealthyException&) {
            EXPECT_FALSE(set->healthy());
          }
        },
        [] { test::suspend_for(2h); });
    EXPECT_EQ(set->healthy(), !jumped);
  }
}

}  // namespace
}  // namespace forelock::client
