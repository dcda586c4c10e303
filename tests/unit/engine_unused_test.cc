// Monitors that nobody has used before: how they are claimed, and what is known of them.
#include "engine_unused_fixture.h"

namespace forelock::lock {
namespace {

TEST_F(EngineUnusedTest, AFreshMonitorCostsOneRequestEachWay) {
  acquire(1, Priority::background);
  const auto claim = answer<Transaction>(claimed_fresh("B-0000000000", 100));
  ASSERT_EQ(claim.operations.size(), 4u);
  const auto& monitor = std::get<Create>(claim.operations[0]);
  EXPECT_EQ(monitor.path, "/P");
  EXPECT_EQ(monitor.data, monitor_mark);
  EXPECT_EQ(monitor.mode, CreateMode::persistent);
  EXPECT_EQ(std::get<Create>(claim.operations[1]).path, "/P/B-");
  EXPECT_TRUE(claim.groupable);
  EXPECT_TRUE(output_.sent.empty());
  EXPECT_EQ(output_.grants, std::vector<Token>{100});
  ASSERT_TRUE(engine_.release(1, now_));
  const auto release = answer<Transaction>({});
  EXPECT_EQ(std::get<Delete>(release.operations[0]).path, "/P/B-0000000000");
  EXPECT_EQ(std::get<Delete>(release.operations[1]).version, 1);
  EXPECT_TRUE(output_.sent.empty());
}

// Not even by a process that has not heard of it: it does not carry the mark.
TEST_F(EngineUnusedTest, OneThatIsToBeKeptIsRemovedByNobody) {
  AcquireSpec spec = spec_of(1, Priority::foreground);
  spec.keep_monitor = true;
  engine_.acquire(1, std::move(spec), now_);
  const auto claim = answer<Transaction>(claimed_fresh("A-0000000000", 100));
  ASSERT_EQ(claim.operations.size(), 4u);
  EXPECT_EQ(std::get<Create>(claim.operations[0]).path, "/P");
  EXPECT_EQ(std::get<Create>(claim.operations[0]).data, "");
  EXPECT_EQ(std::get<Create>(claim.operations[0]).mode, CreateMode::persistent);
  ASSERT_TRUE(engine_.release(1, now_));
  answer<Transaction>({});
  pass(linger * 4);
  EXPECT_TRUE(output_.sent.empty());
  acquire(2, Priority::foreground);
  EXPECT_EQ(answer<Transaction>(claimed("A-0000000002", 102)).operations.size(), 3u) << "it is known to be there";
}

TEST_F(EngineUnusedTest, OneThatWasMadeToBeRemovedIsKeptByWhoeverWantsIt) {
  cycle(1);
  AcquireSpec spec = spec_of(2, Priority::foreground);
  spec.keep_monitor = true;
  engine_.acquire(2, std::move(spec), now_);
  answers<Transaction, Get>(claimed("A-0000000002", 102), marked(2, 4, 102));
  while (!output_.sent.empty()) answer<List>(listing({"A-0000000002", "privateLock"}, 4));
  ASSERT_TRUE(engine_.release(2, now_));
  answer<Transaction>({});
  pass(linger * 4);
  EXPECT_TRUE(output_.sent.empty());
}

TEST_F(EngineUnusedTest, AMonitorThatExistsIsClaimedAsAnyOther) {
  acquire(1, Priority::background);
  answer<Transaction>(refused(ReplyCode::node_exists, 0));
  EXPECT_TRUE(output_.grants.empty());
  const auto claim = answer<Transaction>(claimed("B-0000000007", 100));
  EXPECT_EQ(claim.operations.size(), 3u);
  EXPECT_TRUE(output_.grants.empty()) << "others may be there";
  answer<Get>(monitor(2, 9, 100));
  EXPECT_EQ(output_.grants, std::vector<Token>{100});
}

TEST_F(EngineUnusedTest, ASingleAttemptAsksAMonitorThatExists) {
  ask(1, Priority::foreground, true);
  answers<Transaction, Transaction>(refused(ReplyCode::node_exists, 0), failure(ReplyCode::node_exists));
  expect_refused(RefusalReason::unavailable);
}

// By a process that had forgotten that the monitor was there, and whose own it was.
TEST_F(EngineUnusedTest, AMonitorThatAGivenUpClaimHasFoundIsRemovedToo) {
  acquire(1, Priority::foreground);
  engine_.cancel(1, now_);
  answers<Transaction, Get>(refused(ReplyCode::node_exists, 0), marked(0, 4, 90));
  EXPECT_TRUE(output_.sent.empty());
  removes_after(linger * 4, {"/P"});
}

TEST_F(EngineUnusedTest, WithoutLeaveToMakeTheMonitorTheCallerIsRefused) {
  acquire(1, Priority::foreground);
  answer<Transaction>(refused(ReplyCode::no_auth, 0));
  ASSERT_EQ(output_.refusals.size(), 1u);
  EXPECT_EQ(output_.refusals[0].code, ReplyCode::no_auth);
  EXPECT_TRUE(output_.sent.empty());
}

TEST_F(EngineUnusedTest, AnotherCallerOfTheProcessJoinsTheQueueBehindTheFreshClaim) {
  acquire(1, Priority::foreground);
  acquire(2, Priority::foreground);
  answer<Transaction>(claimed_fresh("A-0000000000", 100));
  EXPECT_EQ(output_.grants.size(), 1u);
  const auto enqueue = answer<Create>({});
  EXPECT_EQ(enqueue.path, "/P/A-");
}

TEST_F(EngineUnusedTest, AfterAnOutageAMonitorIsLookedAtBeforeItIsRemoved) {
  cycle(1);
  reconnect();
  pass(linger * 4);
  finds_marked("/P");
  removes_after(linger, {"/P"});
}

TEST_F(EngineUnusedTest, WhatAnotherProgramHasMadeDuringAnOutageStays) {
  cycle(1);
  reconnect();
  pass(linger * 4);
  answer<Get>(monitor(0, 0, 100));  // without the mark
  pass(linger * 10);
  engine_.close(now_);
  EXPECT_TRUE(output_.sent.empty());
}

TEST_F(EngineUnusedTest, SoDoesOneThatAnAdministratorHasTouchedMeanwhile) {
  cycle(1);
  reconnect();
  pass(linger * 4);
  Reply touched = marked(0, 2, 100);
  touched.stat.version = 1;
  answer<Get>(touched);
  is_silent_for(linger * 10);
}

// A node that was made anew during an outage is told as changed data.
TEST_F(EngineUnusedTest, AMonitorWhoseDataHaveChangedIsLookedAtBeforeItIsRemoved) {
  acquire(1, Priority::foreground);
  answers<Transaction, Transaction>(refused(ReplyCode::node_exists, 0), claimed("A-0000000004", 100));
  answer<Get>(marked(2, 6, 100));
  release(1);
  event(coordination::WatchEvent::Kind::data_changed, "/P");
  pass(linger * 4);
  answer<Get>(monitor(0, 0, 100));
  is_silent_for(linger * 10);
}

// It remembers nothing of monitors that are not used, but that their nodes are to go.
class EngineForgetfulTest : public EngineUnusedTest {
 protected:
  EngineForgetfulTest() : EngineUnusedTest(forgetful()) {}

  static EngineOptions forgetful() {
    EngineOptions options = EngineUnusedTest::options(false);
    options.remembered_monitors = 0;
    return options;
  }
};

TEST_F(EngineForgetfulTest, ALookThatFindsNothingCountsForAllThatIsNotedOfTheMonitor) {
  cycle(1);
  reconnect();
  pass(linger * 4);
  answer_heartbeats();
  ASSERT_EQ(output_.sent.size(), 1u);
  const Sent look = output_.sent.front();
  ASSERT_TRUE(std::holds_alternative<Get>(look.request));
  output_.sent.pop_front();
  cycle(2);
  engine_.on_reply(look.tag, failure(ReplyCode::no_node), now_);
  pass(linger * 4);
  finds_marked("/P");
}

TEST_F(EngineUnusedTest, ALookWhoseAnswerIsLostIsRepeated) {
  cycle(1);
  reconnect();
  pass(linger * 4);
  answer<Get>(failure(ReplyCode::connection_loss));
  reconnect();
  pass(linger);
  finds_marked("/P");
  removes_after(linger, {"/P"});
}

// The session ends while some are being removed, and others looked at.
TEST_F(EngineUnusedTest, WhatWasUnderWayWhenTheSessionEndedIsLookedAtInTheNext) {
  cycle(1, "P1");
  pass(linger * 4);
  ASSERT_EQ(output_.sent.size(), 1u);
  output_.sent.clear();
  renew_session();
  pass(linger * 4);
  ASSERT_EQ(output_.sent.size(), 1u);
  output_.sent.clear();
  renew_session();
  pass(linger * 4);
  finds_marked("/P1");
  removes_after(linger, {"/P1"});
}

TEST_F(EngineUnusedTest, WhatWasNotLookedAtSinceAnOutageIsLeftByTheLastRequests) {
  cycle(1, "P1");
  reconnect();
  cycle(2, "P2");
  engine_.close(now_);
  ASSERT_EQ(output_.sent.size(), 1u);
  EXPECT_EQ(removed_by(std::get<Transaction>(output_.sent.front().request)), std::vector<std::string>{"/P2"});
}

TEST_F(EngineUnusedTest, AMarkedMonitorOfAnotherProcessIsRemovedByItsLastUser) {
  acquire(1, Priority::foreground);
  answers<Transaction, Transaction>(refused(ReplyCode::node_exists, 0), claimed("A-0000000004", 100));
  answer<Get>(marked(2, 6, 100));
  release(1);
  removes_after(linger * 4, {"/P"});
}

// It was removed and made anew by another process of ours, whose removal found us there: nobody else removes it.
TEST_F(EngineUnusedTest, WhatIsReadOfAMonitorWhileItIsClaimedAnewStaysKnown) {
  cycle(1);
  acquire(2, Priority::foreground);
  answers<Transaction, Get>(refused(ReplyCode::no_node, 0), marked(2, 2, 150));
  answers<Transaction, Transaction>(refused(ReplyCode::node_exists, 0), claimed("A-0000000004", 200));
  answer<List>(listing({"A-0000000004", "privateLock"}, 6));
  ASSERT_EQ(output_.grants.size(), 2u);
  release(2);
  removes_after(linger * 4, {"/P"});
}

// The same while a claim was on its way, which so came to a monitor of which nothing was known.
TEST_F(EngineUnusedTest, AMonitorMadeAnewUnderAClaimIsLookedAt) {
  acquire(1, Priority::foreground);
  answers<Transaction, Transaction>(refused(ReplyCode::node_exists, 0), claimed("A-0000000000", 100));
  answer<Get>(marked(2, 2, 100));
  release(1);
  acquire(2, Priority::foreground);
  event(coordination::WatchEvent::Kind::deleted, "/P");
  answer<Transaction>(claimed("A-0000000007", 200));
  bool looked = false;
  while (!output_.sent.empty()) {
    if (std::holds_alternative<Get>(output_.sent.front().request)) {
      looked = answer<Get>(marked(2, 9, 200)).path == "/P";
    } else {
      answer<List>(listing({"A-0000000007", "privateLock"}, 9));
    }
  }
  EXPECT_TRUE(looked);
  ASSERT_EQ(output_.grants.size(), 2u);
  release(2);
  removes_after(linger * 4, {"/P"});
}

TEST_F(EngineUnusedTest, AMonitorMadeAnewUnderAnEnqueueIsLookedAtToo) {
  acquire(1, Priority::foreground);
  answers<Transaction, Transaction>(refused(ReplyCode::node_exists, 0), refused(ReplyCode::node_exists, 1));
  answer<Get>(marked(2, 1, 50));
  event(coordination::WatchEvent::Kind::deleted, "/P");
  answer<Create>(created("A-0000000001"));
  const auto looks = [](const Sent& sent) {
    const auto* get = std::get_if<Get>(&sent.request);
    return get != nullptr && get->path == "/P" && get->watch;
  };
  EXPECT_TRUE(std::any_of(output_.sent.begin(), output_.sent.end(), looks));
}

// It was removed, and another program has made it anew, while it was not watched.
TEST_F(EngineUnusedTest, OneThatOthersHaveMadeAnewStays) {
  cycle(1);
  pass(linger * 4);
  answer<Transaction>(refused(ReplyCode::not_empty, 0));
  acquire(2, Priority::foreground);
  answers<Transaction, Transaction>(refused(ReplyCode::node_exists, 0), claimed("A-0000000000", 200));
  answer<Get>(monitor(2, 2, 200));
  release(2);
  pass(linger * 10);
  engine_.close(now_);
  EXPECT_TRUE(output_.sent.empty());
}

// By another process of ours, under a claim that was given up: what comes there later may be another program's.
TEST_F(EngineUnusedTest, WhatAnAnswerSaysIsGoneIsNotRemoved) {
  cycle(1);
  acquire(2, Priority::foreground);
  ASSERT_TRUE(engine_.cancel(2, now_));
  answers<Transaction, Get>(refused(ReplyCode::no_node, 0), failure(ReplyCode::no_node));
  is_silent_for(linger * 10);
}

// What was known of its queue ends with it.
TEST_F(EngineUnusedTest, OneThatIsMadeAnewIsClaimedAtOnce) {
  acquire(1, Priority::foreground);
  answers<Transaction, Transaction>(refused(ReplyCode::node_exists, 0), refused(ReplyCode::node_exists, 1));
  answers<Get, Create>(marked(2, 1, 50), created("A-0000000001"));
  while (!std::holds_alternative<Transaction>(output_.sent.front().request)) {
    if (std::holds_alternative<List>(output_.sent.front().request)) {
      answer<List>(listing({"A-0000000001"}, 2));
    } else {
      answer<Get>(failure(ReplyCode::no_node));
    }
  }
  answer<Transaction>(claimed("A-0000000001", 100));
  while (!output_.sent.empty()) answer<List>(listing({"A-0000000001", "privateLock"}, 3));
  release(1);
  removes_after(linger * 4, {"/P"});
  acquire(2, Priority::foreground);
  EXPECT_EQ(answer<Transaction>(claimed_fresh("A-0000000000", 200)).operations.size(), 4u);
}

class EngineLingeringElsewhereTest : public EngineUnusedTest {
 protected:
  EngineLingeringElsewhereTest() : EngineUnusedTest(true) {}
};

TEST_F(EngineLingeringElsewhereTest, AMonitorThatIsNotKnownHereIsQueuedForAtOnce) {
  acquire(1, Priority::foreground);
  answer<Transaction>(refused(ReplyCode::node_exists, 0));
  EXPECT_EQ(output_.sent.size(), 3u) << "own node, what is watched, and who is there";
  EXPECT_TRUE(std::holds_alternative<Create>(output_.sent.front().request));
}

TEST_F(EngineLingeringElsewhereTest, ASingleAttemptAsksTheServer) {
  AcquireSpec spec = spec_of(1, Priority::foreground);
  spec.try_once = true;
  engine_.acquire(1, std::move(spec), now_);
  answer<Transaction>(refused(ReplyCode::node_exists, 0));
  EXPECT_TRUE(std::holds_alternative<Transaction>(output_.sent.front().request));
}

TEST_F(EngineUnusedTest, AMonitorThatOthersHaveMadeStays) {
  acquire(1, Priority::foreground);
  answers<Transaction, Transaction>(refused(ReplyCode::node_exists, 0), claimed("A-0000000004", 100));
  answer<Get>(monitor(2, 6, 100));
  release(1);
  is_silent_for(linger * 10);
}

TEST_F(EngineUnusedTest, AFreshClaimWhoseAnswerWasLostIsFoundAgain) {
  acquire(1, Priority::foreground);
  answer<Transaction>(failure(ReplyCode::connection_loss));
  reconnect();
  answers<Get, List>(marked(2, 2, 100), listing({"A-0000000000", "privateLock"}, 2));
  Reply own = node("guid1", our_session);
  own.stat.czxid = 100;
  answer<Get>(own);
  Reply lock = own;
  lock.stat.mzxid = 100;
  answer<Get>(lock);
  EXPECT_EQ(output_.grants, std::vector<Token>{100});
}

}  // namespace
}  // namespace forelock::lock
