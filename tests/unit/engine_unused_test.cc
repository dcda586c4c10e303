// Monitors that nobody has used before, and what becomes of their nodes.
#include "engine_fixture.h"
#include "lock/limits.h"
#include "lock/unused_monitors.h"

namespace forelock::lock {
namespace {

constexpr Duration linger = 1s;

class EngineUnusedTest : public EngineTest {
 protected:
  explicit EngineUnusedTest(bool others_linger = false) : EngineUnusedTest(options(others_linger)) {}
  explicit EngineUnusedTest(const EngineOptions& options) : EngineTest(options) {}

  static EngineOptions options(bool others_linger) {
    EngineOptions options;
    options.monitor_linger = linger;
    options.others_linger = others_linger;
    return options;
  }

  // The claim of a monitor that was not there.
  static Reply claimed_fresh(const std::string& node, Token token) {
    Reply reply = claimed(node, token);
    reply.operations.insert(reply.operations.begin(), coordination::OperationResult{"/P", {}});
    return reply;
  }

  // Of one that a process of ours has made.
  static Reply marked(std::int32_t children, std::int32_t created, Token changed_by) {
    Reply reply = monitor(children, created, changed_by);
    reply.data = monitor_mark;
    return reply;
  }

  static Reply refused(ReplyCode code, std::size_t operation) {
    Reply reply = failure(code);
    reply.refused_operation = operation;
    return reply;
  }

  void cycle(ContenderId id, const std::string& monitor = "P") {
    AcquireSpec spec = spec_of(id, Priority::foreground);
    spec.monitor = monitor;
    engine_.acquire(id, std::move(spec), now_);
    answer<Transaction>(claimed_fresh("A-0000000000", 100 + static_cast<Token>(id)));
    ASSERT_TRUE(engine_.release(id, now_));
    answer<Transaction>({});
  }

  // Ticks until then; heartbeats are answered.
  void pass(Duration time) {
    const TimePoint end = now_ + time;
    while (engine_.next_timer() <= end) {
      now_ = std::max(now_, engine_.next_timer());
      engine_.tick(now_);
      answer_heartbeats();
      if (!output_.sent.empty()) return;
    }
    now_ = end;
  }

  // What is to be removed is looked at first, where an outage lies behind what is known of it.
  void finds_marked(const std::string& path) {
    answer_heartbeats();
    const Get look = answer<Get>(marked(0, 2, 100));
    EXPECT_EQ(look.path, path);
    EXPECT_FALSE(look.watch) << "a watch would stay behind";
  }

  void lose_connection() { engine_.on_session({SessionEvent::Kind::disconnected, 0, 0ms}, now_); }

  static std::vector<std::string> removed_by(const Transaction& transaction) {
    std::vector<std::string> paths;
    for (const auto& operation : transaction.operations) {
      const auto& one = std::get<Delete>(operation);
      EXPECT_EQ(one.version, 0) << "a monitor whose data were set by an administrator stays";
      paths.push_back(one.path);
    }
    return paths;
  }
};

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
  ASSERT_EQ(output_.refusals.size(), 1u);
  EXPECT_EQ(output_.refusals[0].reason, RefusalReason::unavailable);
}

// By a process that had forgotten that the monitor was there, and whose own it was.
TEST_F(EngineUnusedTest, AMonitorThatAGivenUpClaimHasFoundIsRemovedToo) {
  acquire(1, Priority::foreground);
  engine_.cancel(1, now_);
  answers<Transaction, Get>(refused(ReplyCode::node_exists, 0), marked(0, 4, 90));
  EXPECT_TRUE(output_.sent.empty());
  pass(linger * 4);
  EXPECT_EQ(removed_by(answer<Transaction>({})), std::vector<std::string>{"/P"});
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

TEST_F(EngineUnusedTest, UnusedMonitorsAreRemovedTogetherWhenTheyHaveLingered) {
  for (ContenderId id = 1; id <= 3; ++id) cycle(id, "P" + std::to_string(id));
  pass(linger - 10ms);
  EXPECT_TRUE(output_.sent.empty());
  pass(linger * 3);
  const auto removal = answer<Transaction>({});
  EXPECT_EQ(removed_by(removal), (std::vector<std::string>{"/P1", "/P2", "/P3"}));
  pass(linger * 5);
  EXPECT_TRUE(output_.sent.empty()) << "once";
  // The next use finds none.
  AcquireSpec spec = spec_of(9, Priority::foreground);
  spec.monitor = "P2";
  engine_.acquire(9, std::move(spec), now_);
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
    ASSERT_TRUE(engine_.release(id, now_));
    answer<Transaction>({});
  }
  pass(linger * 4);
  EXPECT_EQ(removed_by(answer<Transaction>({})), std::vector<std::string>{"/P"});
}

// Between the look at it and the request that was to remove it.
TEST_F(EngineUnusedTest, OneThatComesIntoUseAgainLingersOn) {
  cycle(1, "P1");
  pass(linger * 4);
  answer<Transaction>(failure(ReplyCode::connection_loss));
  engine_.on_session({SessionEvent::Kind::disconnected, 0, 0ms}, now_);
  connect();
  cycle(2, "P1");
  pass(linger * 4);
  finds_marked("/P1");
  pass(linger * 4);
  EXPECT_EQ(removed_by(answer<Transaction>({})), std::vector<std::string>{"/P1"});
}

TEST_F(EngineUnusedTest, AfterAnOutageAMonitorIsLookedAtBeforeItIsRemoved) {
  cycle(1);
  lose_connection();
  connect();
  pass(linger * 4);
  finds_marked("/P");
  pass(linger);
  EXPECT_EQ(removed_by(answer<Transaction>({})), std::vector<std::string>{"/P"});
}

TEST_F(EngineUnusedTest, WhatAnotherProgramHasMadeDuringAnOutageStays) {
  cycle(1);
  lose_connection();
  connect();
  pass(linger * 4);
  answer<Get>(monitor(0, 0, 100));  // without the mark
  pass(linger * 10);
  engine_.close(now_);
  EXPECT_TRUE(output_.sent.empty());
}

TEST_F(EngineUnusedTest, SoDoesOneThatAnAdministratorHasTouchedMeanwhile) {
  cycle(1);
  lose_connection();
  connect();
  pass(linger * 4);
  Reply touched = marked(0, 2, 100);
  touched.stat.version = 1;
  answer<Get>(touched);
  pass(linger * 10);
  EXPECT_TRUE(output_.sent.empty());
}

// A node that was made anew during an outage is told as changed data.
TEST_F(EngineUnusedTest, AMonitorWhoseDataHaveChangedIsLookedAtBeforeItIsRemoved) {
  acquire(1, Priority::foreground);
  answers<Transaction, Transaction>(refused(ReplyCode::node_exists, 0), claimed("A-0000000004", 100));
  answer<Get>(marked(2, 6, 100));
  ASSERT_TRUE(engine_.release(1, now_));
  answer<Transaction>({});
  event(coordination::WatchEvent::Kind::data_changed, "/P");
  pass(linger * 4);
  answer<Get>(monitor(0, 0, 100));
  pass(linger * 10);
  EXPECT_TRUE(output_.sent.empty());
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
  lose_connection();
  connect();
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
  lose_connection();
  connect();
  pass(linger * 4);
  answer<Get>(failure(ReplyCode::connection_loss));
  lose_connection();
  connect();
  pass(linger);
  finds_marked("/P");
  pass(linger);
  EXPECT_EQ(removed_by(answer<Transaction>({})), std::vector<std::string>{"/P"});
}

// The session ends while some are being removed, and others looked at.
TEST_F(EngineUnusedTest, WhatWasUnderWayWhenTheSessionEndedIsLookedAtInTheNext) {
  cycle(1, "P1");
  pass(linger * 4);
  ASSERT_EQ(output_.sent.size(), 1u);
  output_.sent.clear();
  engine_.on_session({SessionEvent::Kind::expired, 0, 0ms}, now_);
  connect();
  pass(linger * 4);
  ASSERT_EQ(output_.sent.size(), 1u);
  output_.sent.clear();
  engine_.on_session({SessionEvent::Kind::expired, 0, 0ms}, now_);
  connect();
  pass(linger * 4);
  finds_marked("/P1");
  pass(linger);
  EXPECT_EQ(removed_by(answer<Transaction>({})), std::vector<std::string>{"/P1"});
}

TEST_F(EngineUnusedTest, WhatWasNotLookedAtSinceAnOutageIsLeftByTheLastRequests) {
  cycle(1, "P1");
  lose_connection();
  connect();
  cycle(2, "P2");
  engine_.close(now_);
  ASSERT_EQ(output_.sent.size(), 1u);
  EXPECT_EQ(removed_by(std::get<Transaction>(output_.sent.front().request)), std::vector<std::string>{"/P2"});
}

TEST_F(EngineUnusedTest, OneThatIsInUseElsewhereDoesNotKeepTheOthers) {
  for (ContenderId id = 1; id <= 3; ++id) cycle(id, "P" + std::to_string(id));
  pass(linger * 4);
  answer<Transaction>(refused(ReplyCode::not_empty, 1));
  EXPECT_EQ(removed_by(answer<Transaction>({})), (std::vector<std::string>{"/P1", "/P3"}));
  pass(linger * 5);
  EXPECT_TRUE(output_.sent.empty());
}

TEST_F(EngineUnusedTest, TheRestOfASecondRefusalGoesOneByOne) {
  for (ContenderId id = 1; id <= 4; ++id) cycle(id, "P" + std::to_string(id));
  pass(linger * 4);
  answers<Transaction, Transaction>(refused(ReplyCode::not_empty, 1), refused(ReplyCode::not_empty, 0));
  std::vector<std::string> alone;
  while (!output_.sent.empty()) alone.push_back(answer<Delete>({}).path);
  std::sort(alone.begin(), alone.end());
  EXPECT_EQ(alone.size(), 2u);
  pass(linger * 5);
  EXPECT_TRUE(output_.sent.empty());
}

TEST_F(EngineUnusedTest, AWithdrawnClaimLeavesWhatIsToBeRemoved) {
  for (ContenderId id = 1; id <= 2; ++id) cycle(id, "P" + std::to_string(id));
  pass(linger * 4);
  ASSERT_EQ(output_.sent.size(), 1u);
  output_.holds_back = true;
  AcquireSpec spec = spec_of(3, Priority::foreground);
  spec.monitor = "P1";
  engine_.acquire(3, std::move(spec), now_);
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
  AcquireSpec spec = spec_of(3, Priority::foreground);
  spec.monitor = "P1";
  engine_.acquire(3, std::move(spec), now_);
  ASSERT_EQ(output_.sent.size(), 2u);
  EXPECT_EQ(removed_by(answer<Transaction>({})), std::vector<std::string>{"/P1"});
  ASSERT_TRUE(engine_.cancel(3, now_));
  engine_.on_session({SessionEvent::Kind::expired, 0, 0ms}, now_);
  connect();
  pass(linger * 5);
  EXPECT_TRUE(output_.sent.empty());
}

TEST_F(EngineUnusedTest, WithoutLeaveToRemoveNothingMoreIsTried) {
  for (ContenderId id = 1; id <= 3; ++id) cycle(id, "P" + std::to_string(id));
  pass(linger * 4);
  answer<Transaction>(refused(ReplyCode::no_auth, 0));
  cycle(4, "P4");
  pass(linger * 5);
  EXPECT_TRUE(output_.sent.empty());
}

TEST_F(EngineUnusedTest, WhatTheConnectionTookWithItIsAskedForAgain) {
  cycle(1);
  pass(linger * 4);
  answer<Transaction>(failure(ReplyCode::connection_loss));
  engine_.on_session({SessionEvent::Kind::disconnected, 0, 0ms}, now_);
  pass(linger * 2);
  EXPECT_TRUE(output_.sent.empty());
  connect();
  pass(linger * 2);
  finds_marked("/P");
  pass(linger * 2);
  EXPECT_EQ(removed_by(answer<Transaction>({})), std::vector<std::string>{"/P"});
}

TEST_F(EngineUnusedTest, TheNextSessionRemovesWhatTheLastOneMade) {
  cycle(1);
  engine_.on_session({SessionEvent::Kind::expired, 0, 0ms}, now_);
  connect();
  pass(linger * 2);
  finds_marked("/P");
  pass(linger * 2);
  EXPECT_EQ(removed_by(answer<Transaction>({})), std::vector<std::string>{"/P"});
}

TEST_F(EngineUnusedTest, AMarkedMonitorOfAnotherProcessIsRemovedByItsLastUser) {
  acquire(1, Priority::foreground);
  answers<Transaction, Transaction>(refused(ReplyCode::node_exists, 0), claimed("A-0000000004", 100));
  answer<Get>(marked(2, 6, 100));
  ASSERT_TRUE(engine_.release(1, now_));
  answer<Transaction>({});
  pass(linger * 4);
  EXPECT_EQ(removed_by(answer<Transaction>({})), std::vector<std::string>{"/P"});
}

// It was removed and made anew by another process of ours, whose removal found us there: nobody else removes it.
TEST_F(EngineUnusedTest, WhatIsReadOfAMonitorWhileItIsClaimedAnewStaysKnown) {
  cycle(1);
  acquire(2, Priority::foreground);
  answers<Transaction, Get>(refused(ReplyCode::no_node, 0), marked(2, 2, 150));
  answers<Transaction, Transaction>(refused(ReplyCode::node_exists, 0), claimed("A-0000000004", 200));
  answer<List>(listing({"A-0000000004", "privateLock"}, 6));
  ASSERT_EQ(output_.grants.size(), 2u);
  ASSERT_TRUE(engine_.release(2, now_));
  answer<Transaction>({});
  pass(linger * 4);
  EXPECT_EQ(removed_by(answer<Transaction>({})), std::vector<std::string>{"/P"});
}

// The same while a claim was on its way, which so came to a monitor of which nothing was known.
TEST_F(EngineUnusedTest, AMonitorMadeAnewUnderAClaimIsLookedAt) {
  acquire(1, Priority::foreground);
  answers<Transaction, Transaction>(refused(ReplyCode::node_exists, 0), claimed("A-0000000000", 100));
  answer<Get>(marked(2, 2, 100));
  ASSERT_TRUE(engine_.release(1, now_));
  answer<Transaction>({});
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
  ASSERT_TRUE(engine_.release(2, now_));
  answer<Transaction>({});
  pass(linger * 4);
  EXPECT_EQ(removed_by(answer<Transaction>({})), std::vector<std::string>{"/P"});
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
  ASSERT_TRUE(engine_.release(2, now_));
  answer<Transaction>({});
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
  pass(linger * 10);
  EXPECT_TRUE(output_.sent.empty());
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
  ASSERT_TRUE(engine_.release(1, now_));
  answer<Transaction>({});
  pass(linger * 4);
  EXPECT_EQ(removed_by(answer<Transaction>({})), std::vector<std::string>{"/P"});
  acquire(2, Priority::foreground);
  EXPECT_EQ(answer<Transaction>(claimed_fresh("A-0000000000", 200)).operations.size(), 4u);
}

TEST_F(EngineUnusedTest, AMonitorInUseIsNotAmongTheLastRemovals) {
  cycle(1, "P1");
  cycle(2, "P2");
  AcquireSpec spec = spec_of(3, Priority::foreground);
  spec.monitor = "P1";
  engine_.acquire(3, std::move(spec), now_);
  output_.sent.clear();
  engine_.close(now_);
  ASSERT_EQ(output_.sent.size(), 1u);
  EXPECT_EQ(removed_by(std::get<Transaction>(output_.sent.front().request)), std::vector<std::string>{"/P2"});
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
  ASSERT_TRUE(engine_.release(1, now_));
  answer<Transaction>({});
  pass(linger * 10);
  EXPECT_TRUE(output_.sent.empty());
}

TEST_F(EngineUnusedTest, ClosingRemovesWhatIsUnusedOrBeingReleased) {
  cycle(1, "P1");
  AcquireSpec spec = spec_of(2, Priority::foreground);
  spec.monitor = "P2";
  engine_.acquire(2, std::move(spec), now_);
  answer<Transaction>(claimed_fresh("A-0000000000", 200));
  ASSERT_TRUE(engine_.release(2, now_));
  spec = spec_of(3, Priority::foreground);
  spec.monitor = "P3";
  engine_.acquire(3, std::move(spec), now_);
  answers<Transaction, Transaction>({}, claimed_fresh("A-0000000000", 300));
  ASSERT_TRUE(engine_.release(3, now_));
  spec = spec_of(4, Priority::foreground);
  spec.monitor = "P4";
  engine_.acquire(4, std::move(spec), now_);
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
  pass(linger * 10);
  EXPECT_TRUE(output_.sent.empty());
  EXPECT_EQ(output_.removals_denied, 1);
}

TEST_F(EngineUnusedTest, AFreshClaimWhoseAnswerWasLostIsFoundAgain) {
  acquire(1, Priority::foreground);
  answer<Transaction>(failure(ReplyCode::connection_loss));
  engine_.on_session({SessionEvent::Kind::disconnected, 0, 0ms}, now_);
  connect();
  answers<Get, List>(marked(2, 2, 100), listing({"A-0000000000", "privateLock"}, 2));
  Reply own = node("guid1", our_session);
  own.stat.czxid = 100;
  answer<Get>(own);
  Reply lock = own;
  lock.stat.mzxid = 100;
  answer<Get>(lock);
  EXPECT_EQ(output_.grants, std::vector<Token>{100});
}

// --- the list itself ---

TEST(UnusedMonitorsTest, OneRequestAtATimeAndOfLimitedSize) {
  UnusedMonitors unused(linger);
  TimePoint now{};
  const auto all = [](const std::string&) { return true; };
  for (std::size_t i = 0; i < most_removed_at_once + 3; ++i) unused.remove("P" + std::to_string(i));
  EXPECT_EQ(unused.take(now, all).size(), most_removed_at_once);
  EXPECT_TRUE(unused.take(now, all).empty()) << "one is under way";
  unused.removed();
  EXPECT_TRUE(unused.take(now, all).empty()) << "a few can wait for others";
  EXPECT_EQ(unused.next_timer(), now + linger / 4);
  now += linger / 4;
  EXPECT_EQ(unused.take(now, all).size(), 3u);
}

// Whoever made it anew meanwhile need not be one of ours.
TEST(UnusedMonitorsTest, OneOfARefusedRequestThatHasChangedMeanwhileIsLookedAtFirst) {
  const auto all = [](const std::string&) { return true; };
  UnusedMonitors unused(4ms);
  for (const char* monitor : {"kept", "changed", "third"}) unused.remove(monitor);
  ASSERT_EQ(unused.take(TimePoint() + 1s, all).size(), 3u);
  unused.doubt("changed");
  EXPECT_TRUE(unused.refused(0).empty());
  EXPECT_EQ(unused.take_doubtful(TimePoint() + 2s, all), std::vector<std::string>{"changed"});
  unused.looked("changed");
  EXPECT_EQ(unused.take(TimePoint() + 2s, all), std::vector<std::string>{"third"});
  // Refused again, what has changed is not among those that are asked for one by one.
  unused.doubt("third");
  EXPECT_TRUE(unused.refused(std::nullopt).empty());
  EXPECT_EQ(unused.take_doubtful(TimePoint() + 3s, all), std::vector<std::string>{"third"});
}

TEST(UnusedMonitorsTest, ADoubtStaysWithWhatWasNotedASecondTime) {
  const auto all = [](const std::string&) { return true; };
  UnusedMonitors unused(4ms);
  unused.remove("P1");
  ASSERT_EQ(unused.take(TimePoint() + 1s, all).size(), 1u);
  unused.remove("P1");
  unused.doubt("P1");
  EXPECT_TRUE(unused.refused(0).empty());
  EXPECT_TRUE(unused.take(TimePoint() + 2s, all).empty());
  EXPECT_EQ(unused.take_doubtful(TimePoint() + 3s, all), std::vector<std::string>{"P1"});
}

// The removal itself is told as a change.
TEST(UnusedMonitorsTest, ARemovedMonitorThatComesAgainIsNotInDoubt) {
  const auto all = [](const std::string&) { return true; };
  UnusedMonitors unused(4ms);
  unused.remove("again");
  ASSERT_EQ(unused.take(TimePoint() + 1s, all).size(), 1u);
  unused.doubt("again");
  unused.removed();
  unused.remove("again");
  EXPECT_EQ(unused.take(TimePoint() + 2s, all), std::vector<std::string>{"again"});
}

// What was known of the earlier time counts no more, neither its instant nor that nothing had changed.
TEST(UnusedMonitorsTest, OneThatIsForgottenASecondTimeLingersFromThen) {
  const auto all = [](const std::string&) { return true; };
  const TimePoint begin = TimePoint() + 1h;
  UnusedMonitors unused(linger);
  unused.let_linger(1, begin);
  unused.forget(1, "P1", UnusedMonitors::Mark::seen);
  unused.let_linger(2, begin + linger);
  unused.forget(2, "P1", UnusedMonitors::Mark::seen);
  EXPECT_EQ(unused.lingered(begin + linger * 3 / 2), std::vector<std::uint64_t>{1}) << "of which nothing is known";
  EXPECT_TRUE(unused.take(begin + linger * 3 / 2, all).empty());
  unused.doubt("P1");
  EXPECT_TRUE(unused.lingered(begin + 3 * linger).empty());
  EXPECT_TRUE(unused.take(begin + 3 * linger, all).empty());
  EXPECT_EQ(unused.take_doubtful(begin + 3 * linger, all), std::vector<std::string>{"P1"});
}

TEST(UnusedMonitorsTest, WhatIsInUseIsLeftOut) {
  UnusedMonitors unused(linger);
  unused.remove("P1");
  unused.remove("P2");
  EXPECT_EQ(unused.take({}, [](const std::string& name) { return name != "P1"; }), std::vector<std::string>{"P2"});
}

TEST(UnusedMonitorsTest, ThereIsALimitWithoutAConnection) {
  UnusedMonitors unused(linger);
  for (std::size_t i = 0; i < most_unused + 10; ++i) unused.remove(std::to_string(i));
  EXPECT_EQ(unused.take_last(1, [](const std::string&) { return true; }), std::vector<std::string>{"10"});
}

TEST(UnusedMonitorsTest, SwitchedOffItKeepsNothing) {
  UnusedMonitors unused(Duration{});
  unused.let_linger(1, {});
  unused.remove("P1");
  EXPECT_EQ(unused.next_timer(), never);
  EXPECT_TRUE(unused.lingered(TimePoint{} + 1h).empty());
}

}  // namespace
}  // namespace forelock::lock
