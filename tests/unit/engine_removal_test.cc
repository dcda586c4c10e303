// Monitors that are not used any more: when they are removed, and by which requests.
#include "engine_unused_fixture.h"

namespace forelock::lock {
namespace {

TEST_F(EngineUnusedTest, UnusedMonitorsAreRemovedTogetherWhenTheyHaveLingered) {
  for (ContenderId id = 1; id <= 3; ++id) cycle(id, "P" + std::to_string(id));
  is_silent_for(linger - 10ms);
  pass(linger * 3);
  const auto removal = answer<Transaction>({});
  EXPECT_EQ(removed_by(removal), (std::vector<std::string>{"/P1", "/P2", "/P3"}));
  is_silent_for(linger * 5);  // once
  // The next use finds none.
  ask_for(9, "P2");
  EXPECT_EQ(answer<Transaction>(claimed_fresh("A-0000000000", 200)).operations.size(), 4u);
}

TEST_F(EngineUnusedTest, AMonitorInUseLingersOn) {
  cycle(1);
  for (ContenderId id = 2; id < 8; ++id) {
    pass(linger - 100ms);
    ASSERT_TRUE(output_.sent.empty());
    acquire(id, Priority::foreground);
    answer<Transaction>(claimed("A-0000000002", 100 + static_cast<Token>(id)));
    while (!output_.sent.empty() && std::holds_alternative<Get>(output_.sent.front().request)) {
      answer<Get>(marked(2, 4, 100 + static_cast<Token>(id)));
    }
    while (!output_.sent.empty()) answer<List>(listing({"A-0000000002", "privateLock"}, 4));
    release(id);
  }
  removes_after(linger * 4, {"/P"});
}

// Between the look at it and the request that was to remove it.
TEST_F(EngineUnusedTest, OneThatComesIntoUseAgainLingersOn) {
  cycle(1, "P1");
  pass(linger * 4);
  answer<Transaction>(failure(ReplyCode::connection_loss));
  reconnect();
  cycle(2, "P1");
  pass(linger * 4);
  finds_marked("/P1");
  removes_after(linger * 4, {"/P1"});
}

TEST_F(EngineUnusedTest, OneThatIsInUseElsewhereDoesNotKeepTheOthers) {
  for (ContenderId id = 1; id <= 3; ++id) cycle(id, "P" + std::to_string(id));
  pass(linger * 4);
  answer<Transaction>(refused(ReplyCode::not_empty, 1));
  EXPECT_EQ(removed_by(answer<Transaction>({})), (std::vector<std::string>{"/P1", "/P3"}));
  is_silent_for(linger * 5);
}

TEST_F(EngineUnusedTest, TheRestOfASecondRefusalGoesOneByOne) {
  for (ContenderId id = 1; id <= 4; ++id) cycle(id, "P" + std::to_string(id));
  pass(linger * 4);
  answers<Transaction, Transaction>(refused(ReplyCode::not_empty, 1), refused(ReplyCode::not_empty, 0));
  std::vector<std::string> alone;
  while (!output_.sent.empty()) alone.push_back(answer<Delete>({}).path);
  std::sort(alone.begin(), alone.end());
  EXPECT_EQ(alone.size(), 2u);
  is_silent_for(linger * 5);
}

TEST_F(EngineUnusedTest, AWithdrawnClaimLeavesWhatIsToBeRemoved) {
  for (ContenderId id = 1; id <= 2; ++id) cycle(id, "P" + std::to_string(id));
  pass(linger * 4);
  ASSERT_EQ(output_.sent.size(), 1u);
  output_.holds_back = true;
  ask_for(3, "P1");
  ASSERT_TRUE(engine_.cancel(3, now_));
  ASSERT_EQ(output_.sent.size(), 1u);
  answer<Transaction>(refused(ReplyCode::not_empty, 1));
  EXPECT_EQ(removed_by(answer<Transaction>({})), std::vector<std::string>{"/P1"});
}

// By then the node may be another program's.
TEST_F(EngineUnusedTest, WhatIsGoneBehindAWithdrawnClaimIsNotRemovedAgain) {
  cycle(1, "P1");
  pass(linger * 4);
  ASSERT_EQ(output_.sent.size(), 1u);
  output_.holds_back = true;
  ask_for(3, "P1");
  ASSERT_EQ(output_.sent.size(), 2u);
  EXPECT_EQ(removed_by(answer<Transaction>({})), std::vector<std::string>{"/P1"});
  ASSERT_TRUE(engine_.cancel(3, now_));
  renew_session();
  is_silent_for(linger * 5);
}

TEST_F(EngineUnusedTest, WithoutLeaveToRemoveNothingMoreIsTried) {
  for (ContenderId id = 1; id <= 3; ++id) cycle(id, "P" + std::to_string(id));
  pass(linger * 4);
  answer<Transaction>(refused(ReplyCode::no_auth, 0));
  cycle(4, "P4");
  is_silent_for(linger * 5);
}

TEST_F(EngineUnusedTest, WhatTheConnectionTookWithItIsAskedForAgain) {
  cycle(1);
  pass(linger * 4);
  answer<Transaction>(failure(ReplyCode::connection_loss));
  disconnect();
  is_silent_for(linger * 2);
  connect();
  pass(linger * 2);
  finds_marked("/P");
  removes_after(linger * 2, {"/P"});
}

TEST_F(EngineUnusedTest, TheNextSessionRemovesWhatTheLastOneMade) {
  cycle(1);
  renew_session();
  pass(linger * 2);
  finds_marked("/P");
  removes_after(linger * 2, {"/P"});
}

TEST_F(EngineUnusedTest, AMonitorInUseIsNotAmongTheLastRemovals) {
  cycle(1, "P1");
  cycle(2, "P2");
  ask_for(3, "P1");
  output_.sent.clear();
  engine_.close(now_);
  ASSERT_EQ(output_.sent.size(), 1u);
  EXPECT_EQ(removed_by(std::get<Transaction>(output_.sent.front().request)), std::vector<std::string>{"/P2"});
}

TEST_F(EngineUnusedTest, ClosingRemovesWhatIsUnusedOrBeingReleased) {
  cycle(1, "P1");
  ask_for(2, "P2");
  answer<Transaction>(claimed_fresh("A-0000000000", 200));
  ASSERT_TRUE(engine_.release(2, now_));
  ask_for(3, "P3");
  answers<Transaction, Transaction>({}, claimed_fresh("A-0000000000", 300));
  ASSERT_TRUE(engine_.release(3, now_));
  ask_for(4, "P4");
  output_.sent.clear();
  engine_.close(now_);
  // One by one: nobody will ask again for what a refusal keeps.
  std::vector<std::string> removed;
  for (const auto& sent : output_.sent) {
    const auto names = removed_by(std::get<Transaction>(sent.request));
    EXPECT_EQ(names.size(), 1u);
    removed.insert(removed.end(), names.begin(), names.end());
  }
  std::sort(removed.begin(), removed.end());
  EXPECT_EQ(removed, (std::vector<std::string>{"/P1", "/P2", "/P3"}));
}

TEST_F(EngineUnusedTest, ItIsToldOnceThatNothingMayBeRemoved) {
  cycle(1, "P1");
  pass(linger * 4);
  answer<Transaction>(refused(ReplyCode::no_auth, 0));
  EXPECT_EQ(output_.removals_denied, 1);
  cycle(2, "P2");
  is_silent_for(linger * 10);
  EXPECT_EQ(output_.removals_denied, 1);
}

}  // namespace
}  // namespace forelock::lock
