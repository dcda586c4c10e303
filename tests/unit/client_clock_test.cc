// What a holder is told when time passes, for the process or for the servers alone.
#include "client/lock_slot.h"
#include "clock_jump.h"
#include "support/test.h"
#include "support/wait_until.h"
#include "tree_session.h"

namespace forelock::client {
namespace {

class ClockTest : public ::testing::Test {
 protected:
  ClockTest() {
    core_->start_threads();
    session_.connect(session_timeout);
    slot_->acquire(lock::never, false);
    session_.answer_all();
    EXPECT_TRUE(slot_->healthy());
  }
  ~ClockTest() override { core_->close(); }

  static constexpr auto session_timeout = 1h;
  std::shared_ptr<ClientCore> core_ = std::make_shared<ClientCore>(Settings(), LogSink());
  TreeSession session_{*core_};
  std::shared_ptr<LockSlot> slot_ = std::make_shared<LockSlot>(core_, "test", "P", Priority::foreground, LockOptions{});
};

TEST_F(ClockTest, ALockIsNotHealthyAfterItsMachineWasSuspendedForLonger) {
  const std::stop_token stop = slot_->stop_token();
  test::suspend_for(session_timeout + 1s);
  EXPECT_FALSE(slot_->healthy());
  EXPECT_EQ(slot_->state(), LockState::lost);
  EXPECT_FALSE(slot_->holds());
  EXPECT_TRUE(test::wait_until([&] { return stop.stop_requested(); }));
}

TEST_F(ClockTest, AShorterSuspensionCostsTheTimeThatItTook) {
  const auto before = slot_->expires_at();
  test::suspend_for(session_timeout / 2);
  EXPECT_TRUE(slot_->healthy());
  EXPECT_LE(slot_->expires_at(), before - session_timeout / 2 + 1s);
  EXPECT_GT(slot_->expires_at(), steady_clock::now());
}

TEST_F(ClockTest, WhatWasReportedUnhealthyIsNotRevivedByALateAnswer) {
  core_->ensemble().tick();
  test::suspend_for(session_timeout + 1s);
  ASSERT_FALSE(slot_->healthy());
  session_.answer_all();  // what was sent before
  EXPECT_FALSE(slot_->healthy());
  EXPECT_EQ(slot_->state(), LockState::lost);
}

// Sends nothing on.
class SilentSession final : public coordination::Session {
 public:
  void submit(coordination::RequestTag tag, coordination::Request) override { last = tag; }
  coordination::RequestTag last = 0;
};

// It would hide that the present one connects again and again, and has no answer.
TEST_F(ClockTest, AReplyOverAFormerSessionSaysNothingOfThePresentOne) {
  EnsembleLink& link = core_->ensemble();
  SilentSession former;
  link.use_session(&former);
  link.on_session({.kind = coordination::SessionEvent::Kind::connected, .session = 8, .timeout = session_timeout});
  const auto late = link.request(coordination::Get{"/", false});
  const coordination::RequestTag tag = former.last;
  session_.connect(session_timeout, 9);
  for (int i = 0; i < 3; ++i) {
    session_.disconnect();
    session_.reconnect(session_timeout, 9);
  }
  test::suspend_for(2 * core_->settings().session_timeout() + 1s);
  ASSERT_TRUE(link.why_useless());
  link.on_reply(tag, {}, false);
  EXPECT_EQ(late.wait_for(0s), std::future_status::ready);
  EXPECT_TRUE(link.why_useless());
}

// Time-outs that callers give are measured on the same clock, wherever it stands.
TEST_F(ClockTest, WaitingEndsInTimeOnAMachineThatHasBeenSuspended) {
  test::suspend_for(10min);
  const auto other = std::make_shared<LockSlot>(core_, "test", "P", Priority::foreground, LockOptions{});
  const auto begun = steady_clock::now();
  const auto deadline = from_steady(begun + 50ms);
  const auto acquisition = other->acquire(deadline, false);
  const auto refusal = other->wait(acquisition, deadline);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->refusal.reason, lock::RefusalReason::timed_out);
  EXPECT_GE(steady_clock::now(), begun + 50ms);
  EXPECT_LT(steady_clock::now(), begun + 5min);
}

// Behind thousands of others it may not even have been sent: as long as these are answered, the server works.
TEST_F(ClockTest, ASessionWhoseOldestRequestWaitsLongIsKeptWhileOthersAreAnswered) {
  std::vector<std::shared_ptr<LockSlot>> slots;
  for (int i = 0; i < 30; ++i) {
    const std::string monitor = "Q" + std::to_string(i);
    slots.push_back(std::make_shared<LockSlot>(core_, "test", monitor, Priority::foreground, LockOptions{}));
    slots.back()->acquire(lock::never, false);
  }
  ASSERT_LT(session_.waiting(), 30u) << "some have not been sent";
  EXPECT_FALSE(core_->ensemble().why_useless());
  test::suspend_for(3 * core_->settings().session_timeout());
  EXPECT_TRUE(core_->ensemble().why_useless());
  ASSERT_TRUE(session_.answer_one());
  EXPECT_FALSE(core_->ensemble().why_useless());
  for (const auto& slot : slots) slot->retire();
}

}  // namespace
}  // namespace forelock::client
