// What is easily forgotten: claims that are taken back, what is left of something that ended midway, single attempts
// that rank behind others.
#include "engine_fixture.h"
#include "lock/limits.h"

namespace forelock::lock {
namespace {

class EngineRaceTest : public EngineTest {
 protected:
  explicit EngineRaceTest(EngineOptions options = {}) : EngineTest(std::move(options)) {}
};

class EngineFreshRaceTest : public EngineRaceTest {
 protected:
  static EngineOptions lingering() {
    EngineOptions options;
    options.monitor_linger = 1s;
    return options;
  }
  EngineFreshRaceTest() : EngineRaceTest(lingering()) {}
};

TEST_F(EngineFreshRaceTest, BehindAWithdrawnClaimTheNextOneMakesTheMonitor) {
  output_.holds_back = true;
  ask(1);
  ASSERT_TRUE(engine_.cancel(1, now_));
  ASSERT_TRUE(output_.sent.empty());
  ask(2);
  ASSERT_EQ(output_.sent.size(), 1u);
  EXPECT_EQ(std::get<Transaction>(output_.sent.front().request).operations.size(), 4u);
}

TEST_F(EngineFreshRaceTest, WithoutTheRootTheCallerIsRefusedAtOnce) {
  ask(1);
  Reply missing = failure(ReplyCode::no_node);
  missing.refused_operation = 0;
  answer<Transaction>(missing);
  expect_refused(RefusalReason::rejected);
  EXPECT_EQ(output_.refusals[0].code, ReplyCode::no_node);
  EXPECT_TRUE(output_.sent.empty());
}

// The yield may have been applied, and its node be removed after that; but so may its lock have been taken from it.
TEST_F(EngineRaceTest, OneThatStepsAsideAndFindsNothingAfterALostReplyHasLostTheLock) {
  cold_cycle(1);
  ask(2);
  answer<Transaction>(claimed("A-0000000002", 200));
  ASSERT_TRUE(engine_.step_aside(2, now_ + 1min, now_));
  answers<Transaction, List>(failure(ReplyCode::connection_loss), failure(ReplyCode::connection_loss));
  reconnect();
  EXPECT_EQ(answer<Get>({}).path, "/P");
  answers<List, Get>(listing({}, 4), failure(ReplyCode::no_node));
  EXPECT_EQ(output_.losses, std::vector{LossReason::removed});
  EXPECT_TRUE(output_.sent.empty());
}

TEST_F(EngineRaceTest, WhoWantsToHearOfWaitersLooksAtOnce) {
  cold_cycle(1);
  ask(2);
  answer<Transaction>(claimed("A-0000000002", 200));
  ASSERT_TRUE(output_.sent.empty());
  engine_.want_contention(2, now_);
  EXPECT_TRUE(answer<List>(listing({"A-0000000002", "B-0000000003", "privateLock"}, 5)).watch);
  EXPECT_EQ(output_.contentions, std::vector{Priority::background});
}

// Before it reads there is a pause.
TEST_F(EngineRaceTest, NothingIsClaimedWhileAResolvingIsDue) {
  const Reply line = listing({"A-0000000000", "privateLock", "A-0000000002"}, 3);
  join(1, Priority::foreground, "A-0000000002", line);
  answer<Get>({});
  ask(2);
  answer<Create>(failure(ReplyCode::server_error));
  for (int i = 0; i < 5 && !output_.sent.empty(); ++i) answer<List>(line);
  event(WatchEvent::Kind::deleted, "/P/A-0000000000");
  EXPECT_TRUE(output_.sent.empty());
}

// --- single attempts that rank behind others ---

class EngineOutrankedTest : public EngineRaceTest {
 protected:
  // Its claim came before its turn, and was given back.
  EngineOutrankedTest() {
    cold_cycle(1);
    ask(2, Priority::foreground, true);
    answer<Transaction>(claimed("A-0000000003", 200));
    answers<List, Transaction>(listing({"A-0000000002", "A-0000000003", "privateLock"}, 5), {});
    EXPECT_EQ(output_.refusals.size(), 1u);
    EXPECT_TRUE(output_.sent.empty());
  }
};

TEST_F(EngineOutrankedTest, TheNextAttemptLooksAndLeavesTheLockAlone) {
  for (ContenderId id = 3; id < 6; ++id) {
    ask(id, Priority::foreground, true);
    answers<Sync, List>({}, listing({"A-0000000002"}, 5));
    EXPECT_EQ(output_.refusals.back().reason, RefusalReason::unavailable);
    EXPECT_TRUE(output_.sent.empty());
  }
  EXPECT_EQ(output_.refusals.size(), 4u);
  EXPECT_EQ(engine_.contenders(), 0u);
}

TEST_F(EngineOutrankedTest, WhenTheOtherHasGoneTheNextAttemptGetsTheLock) {
  ask(3, Priority::foreground, true);
  answers<Sync, List, Transaction>({}, listing({}, 5), claimed("A-0000000005", 300));
  EXPECT_EQ(output_.grants.size(), 2u);
}

TEST_F(EngineOutrankedTest, OneOfAnotherClassIsNotBeforeIt) {
  ask(3, Priority::foreground, true);
  answers<Sync, List>({}, listing({"B-0000000004"}, 5));
  EXPECT_TRUE(std::holds_alternative<Transaction>(output_.sent.front().request));
}

TEST_F(EngineOutrankedTest, AnAttemptThatIsGivenUpWhileItLooksLeavesNothing) {
  ask(3, Priority::foreground, true);
  ASSERT_TRUE(engine_.cancel(3, now_));
  answers<Sync, List>({}, listing({"A-0000000002"}, 5));
  EXPECT_TRUE(output_.sent.empty());
  EXPECT_EQ(engine_.contenders(), 0u);
}

// The server may be behind, and show one that has gone before the attempt began.
TEST_F(EngineOutrankedTest, ALookBehindARefusedSyncIsNotBelieved) {
  ask(3, Priority::foreground, true);
  answers<Sync, List>(failure(ReplyCode::throttled), listing({"A-0000000002"}, 5));
  EXPECT_EQ(output_.refusals.size(), 1u);
  answers<Transaction, List>(claimed("A-0000000005", 300), listing({"A-0000000005", "privateLock"}, 7));
  EXPECT_EQ(output_.grants.size(), 2u);
}

TEST_F(EngineOutrankedTest, OneThatMayWaitJoinsTheQueueAsEver) {
  ask(3, Priority::foreground);
  EXPECT_FALSE(std::holds_alternative<Sync>(output_.sent.front().request));
}

}  // namespace
}  // namespace forelock::lock
