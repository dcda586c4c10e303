// Which watches the engine sets, how many, and what it makes of their events.
#include "engine_fixture.h"

namespace forelock::lock {
namespace {

class EngineWatchTest : public EngineTest {
 protected:
  explicit EngineWatchTest(EngineOptions options = {}) : EngineTest(std::move(options)) {}

  static Reply line() { return listing({"A-0000000000", "privateLock", "A-0000000002"}, 3); }
};

// A watch on the creation of a node whose name cannot come again would stay for the life of the session.
TEST_F(EngineWatchTest, APredecessorIsWatchedOnlyIfItIsThere) {
  join(1, Priority::foreground, "A-0000000002", line());
  const auto watch = answer<Get>(failure(ReplyCode::no_node));
  EXPECT_EQ(watch.path, "/P/A-0000000000");
  EXPECT_TRUE(watch.watch);
}

TEST_F(EngineWatchTest, OneThatMayNotBeReadIsNotAskedForAgainAndAgain) {
  join(1, Priority::foreground, "A-0000000002", line());
  answer<Get>(failure(ReplyCode::no_auth));
  EXPECT_TRUE(output_.sent.empty());
  tick_after(250ms);
  answer_heartbeats();
  answers<List, Transaction>(listing({"A-0000000002"}, 3), claimed("", 100));
  EXPECT_EQ(output_.grants.size(), 1u);
}

TEST_F(EngineWatchTest, AHolderIsToldThatItsOwnNodeWasRemoved) {
  cold_cycle(1);
  acquire(2, Priority::foreground);
  answer<Transaction>(claimed("A-0000000002", 200));
  tick_after(60ms);
  EXPECT_EQ(answer<Get>(node("guid2", our_session)).path, "/P/privateLock");
  const auto own = answer<Get>(node("guid2", our_session));
  EXPECT_EQ(own.path, "/P/A-0000000002");
  EXPECT_TRUE(own.watch);
  event(WatchEvent::Kind::deleted, "/P/A-0000000002");
  answer_heartbeat({});  // the barrier of the resolving
  answers<List, Get>(listing({"privateLock"}, 4), node("guid2", our_session));
  EXPECT_EQ(output_.losses, std::vector{LossReason::removed});
  EXPECT_EQ(answer<Delete>({}).path, "/P/privateLock");
}

TEST_F(EngineWatchTest, OnesOwnReleaseIsNoRemoval) {
  cold_cycle(1);
  acquire(2, Priority::foreground);
  answer<Transaction>(claimed("A-0000000002", 200));
  tick_after(60ms);
  answers<Get, Get>(node("guid2", our_session), node("guid2", our_session));
  ASSERT_TRUE(engine_.release(2, now_));
  event(WatchEvent::Kind::deleted, "/P/A-0000000002");
  event(WatchEvent::Kind::deleted, "/P/privateLock");
  answer<Transaction>({});
  EXPECT_TRUE(output_.sent.empty());
  EXPECT_TRUE(output_.losses.empty());
  EXPECT_EQ(output_.releases.back(), ReleaseOutcome::released);
}

TEST_F(EngineWatchTest, AWaiterWhoseNodeWasRemovedJoinsTheLineAgainAtOnce) {
  join(1, Priority::foreground, "A-0000000002", line());
  answer<Get>({});  // the predecessor
  tick_after(1s);
  answer_heartbeats();
  const auto own = answer<Get>(node("guid1", our_session));
  EXPECT_EQ(own.path, "/P/A-0000000002");
  EXPECT_TRUE(own.watch);
  answers<List, Get>(line(), {});
  event(WatchEvent::Kind::deleted, "/P/A-0000000002");
  answer<List>(listing({"A-0000000000", "privateLock"}, 3));
  EXPECT_EQ(answer<Create>(created("A-0000000003")).path, "/P/A-");
}

TEST_F(EngineWatchTest, AShortWaitPaysForNoWatchOnItsOwnNode) {
  join(1, Priority::foreground, "A-0000000002", line());
  answer<Get>({});
  tick_after(900ms);
  answer_heartbeats();
  EXPECT_TRUE(output_.sent.empty());
}

class OneRememberedTest : public EngineWatchTest {
 protected:
  static EngineOptions options() {
    EngineOptions options;
    options.remembered_monitors = 1;
    return options;
  }
  OneRememberedTest() : EngineWatchTest(options()) {}

  void cycle(ContenderId id, const std::string& monitor_name) {
    AcquireSpec spec = spec_of(id, Priority::foreground);
    spec.monitor = monitor_name;
    engine_.acquire(id, std::move(spec), now_);
    answers<Create, Transaction>({}, claimed("A-0000000000", 100 + static_cast<Token>(id)));
    answer<Get>(monitor(2, 2, 100 + static_cast<Token>(id)));
    release(id);
  }
};

TEST_F(OneRememberedTest, TheLeastRecentlyUsedMonitorIsForgottenWithItsWatch) {
  cycle(1, "P");
  cycle(2, "Q");
  EXPECT_EQ(answer<RemoveDataWatch>({}).path, "/P");
  cycle(3, "R");
  EXPECT_EQ(answer<RemoveDataWatch>({}).path, "/Q");
  EXPECT_TRUE(output_.sent.empty());
}

// What is forgotten without a connection would be registered again with the next one, for ever.
TEST_F(OneRememberedTest, NothingIsForgottenWhileAWatchCannotBeTakenBack) {
  AcquireSpec spec = spec_of(2, Priority::foreground);
  spec.monitor = "Q";
  cycle(1, "P");
  engine_.acquire(2, std::move(spec), now_);
  answers<Create, Transaction, Get>({}, failure(ReplyCode::connection_loss), failure(ReplyCode::connection_loss));
  disconnect();
  ASSERT_TRUE(engine_.cancel(2, now_));
  engine_.tick(now_);
  EXPECT_TRUE(output_.sent.empty());
  connect();
  answers<Get, List, Get>({}, listing({}, 2), failure(ReplyCode::no_node));
  EXPECT_EQ(answer<RemoveDataWatch>({}).path, "/P");
}

class NoRoomTest : public EngineWatchTest {
 protected:
  static EngineOptions options() {
    EngineOptions options;
    options.watched_bytes = 0;
    return options;
  }
  NoRoomTest() : EngineWatchTest(options()) {}
};

TEST_F(NoRoomTest, WithoutAWatchTheLineIsLookedAtInIntervals) {
  join(1, Priority::background, "B-0000000002", listing({"A-0000000000", "privateLock", "B-0000000002"}, 3));
  for (int look = 0; look < 3; ++look) {
    EXPECT_TRUE(output_.sent.empty()) << "the node before it is in the listing: without a watch it is not asked for";
    tick_after(250ms);
    answer_heartbeats();
    EXPECT_FALSE(answer<List>(listing({"A-0000000000", "privateLock", "B-0000000002"}, 3)).watch);
  }
  tick_after(250ms);
  answer_heartbeats();
  answers<List, Transaction>(listing({"B-0000000002"}, 3), claimed("", 100));
  answer<List>(listing({"B-0000000002", "privateLock"}, 4));
  EXPECT_EQ(output_.grants.size(), 1u);
}

// Nothing else may ever tell a lock that stays with its process.
TEST_F(NoRoomTest, AHolderThatFindsItsNodesGoneInALookLosesTheLock) {
  AcquireSpec spec = spec_of(1, Priority::foreground);
  spec.contention = ContentionScope::all;
  engine_.acquire(1, std::move(spec), now_);
  answers<Create, Transaction, Get>({}, claimed("A-0000000000", 100), monitor(2, 2, 100));
  ASSERT_EQ(output_.grants.size(), 1u);
  answer_heartbeats();
  answer<List>(listing({}, 2));
  answer_heartbeat({});  // the barrier of the resolving
  while (!output_.sent.empty()) {
    if (std::holds_alternative<List>(output_.sent.front().request)) {
      answer<List>(listing({}, 2));
    } else {
      answer<Get>(failure(ReplyCode::no_node));
    }
  }
  EXPECT_EQ(output_.losses, std::vector{LossReason::removed});
}

TEST_F(NoRoomTest, AHolderThatWantsToKnowWhoWaitsLooksInIntervals) {
  AcquireSpec spec = spec_of(1, Priority::foreground);
  spec.contention = ContentionScope::all;
  engine_.acquire(1, std::move(spec), now_);
  answers<Create, Transaction, Get>({}, claimed("A-0000000000", 100), monitor(2, 2, 100));
  ASSERT_EQ(output_.grants.size(), 1u);
  for (int look = 0; look < 3; ++look) {
    answer_heartbeats();
    EXPECT_FALSE(answer<List>(listing({"A-0000000000", "privateLock"}, 2)).watch);
    while (!output_.sent.empty() && std::holds_alternative<Get>(output_.sent.front().request)) {
      answer<Get>(node("guid1", our_session));  // its own watches, for which there is no room either
    }
    EXPECT_TRUE(output_.sent.empty());
    tick_after(100ms);
    answer_heartbeats();
    while (!output_.sent.empty() && std::holds_alternative<Get>(output_.sent.front().request)) {
      answer<Get>(node("guid1", our_session));
    }
    EXPECT_TRUE(output_.sent.empty());
    tick_after(150ms);
  }
}

TEST_F(NoRoomTest, WithoutAWatchOnTheMonitorNothingIsCounted) {
  acquire(1, Priority::background);
  answers<Create, Transaction>({}, claimed("B-0000000000", 100));
  EXPECT_FALSE(answer<Get>(monitor(2, 2, 100)).watch);
  ASSERT_EQ(output_.grants.size(), 1u);
  release(1);
  acquire(2, Priority::background);
  answer<Transaction>(claimed("B-0000000002", 200));
  EXPECT_EQ(output_.grants.size(), 1u);  // the number alone is no proof
  answer<Get>(monitor(2, 4, 200));
  EXPECT_EQ(output_.grants.size(), 2u);
}

// Those that were never watched can go at once: an outage may last, and callers go on with new monitors.
TEST_F(OneRememberedTest, MonitorsOfAnOutageAreForgottenDuringIt) {
  cycle(1, "P");
  disconnect();
  for (ContenderId id = 2; id < 50; ++id) {
    AcquireSpec spec = spec_of(id, Priority::foreground);
    spec.monitor = "M" + std::to_string(id);
    engine_.acquire(id, std::move(spec), now_);
    ASSERT_TRUE(engine_.cancel(id, now_));
    EXPECT_LE(engine_.monitors(), 3u);
  }
}

// --- privateLock and the own node ---

TEST_F(EngineWatchTest, ALockThatWasGoneBeforeItCouldBeWatchedIsWatchedTheNextTime) {
  cold_cycle(1);
  acquire(2, Priority::foreground);
  answer<Transaction>(claimed("A-0000000002", 200));
  tick_after(60ms);
  answer<Get>(failure(ReplyCode::no_node));  // somebody has deleted it
  answer<Get>(node("guid2", our_session));
  answer_heartbeat({});
  answers<List, Get, Get>(listing({"A-0000000002"}, 4), node("guid2", our_session), failure(ReplyCode::no_node));
  ASSERT_EQ(output_.losses.size(), 1u);
  answer<Delete>({});
  acquire(3, Priority::foreground);
  answer<Transaction>(claimed("A-0000000004", 300));
  if (!output_.sent.empty()) answer<List>(listing({"A-0000000004", "privateLock"}, 6));
  ASSERT_EQ(output_.grants.back(), 300);
  tick_after(60ms);
  answer_heartbeats();
  const auto watch = answer<Get>(node("guid3", our_session));
  EXPECT_EQ(watch.path, "/P/privateLock");
  EXPECT_TRUE(watch.watch);
}

// What was due while there was no connection is done behind the resolving.
TEST_F(EngineWatchTest, AfterAReconnectAHolderWatchesBothItsNodes) {
  cold_cycle(1);
  acquire(2, Priority::foreground);
  answer<Transaction>(claimed("A-0000000002", 200));
  now_ += 30ms;
  disconnect();
  tick_after(60ms);
  EXPECT_TRUE(output_.sent.empty());
  connect();
  answers<Get, List, Get>({}, listing({"A-0000000002", "privateLock"}, 4), node("guid2", our_session));
  answer<Get>(node("guid2", our_session));
  EXPECT_EQ(answer<Get>(node("guid2", our_session)).path, "/P/privateLock");
  EXPECT_EQ(answer<Get>(node("guid2", our_session)).path, "/P/A-0000000002");
  EXPECT_TRUE(output_.losses.empty());
}

TEST_F(EngineWatchTest, AMemberOfASetIsWatchedLater) {
  cold_cycle(1);
  AcquireSpec spec = spec_of(2, Priority::foreground);
  spec.hold_watch_later = 100ms;
  engine_.acquire(2, std::move(spec), now_);
  answer<Transaction>(claimed("A-0000000002", 200));
  while (!output_.sent.empty()) answer<List>(listing({"A-0000000002", "privateLock"}, 4));
  tick_after(60ms);
  EXPECT_TRUE(output_.sent.empty());
  tick_after(100ms);
  EXPECT_EQ(answer<Get>(node("guid2", our_session)).path, "/P/privateLock");
  EXPECT_EQ(answer<Get>(node("guid2", our_session)).path, "/P/A-0000000002");
}

// As of a holder that wants to know of all that wait behind it.
class ChildrenWatchedTest : public EngineWatchTest {
 protected:
  void hold() {
    cold_cycle(1);
    AcquireSpec spec = spec_of(2, Priority::foreground);
    spec.contention = ContentionScope::all;
    engine_.acquire(2, std::move(spec), now_);
    answer<Transaction>(claimed("A-0000000002", 200));
    const auto look = answer<List>(listing({"A-0000000002", "privateLock"}, 4));
    EXPECT_TRUE(look.watch);
    tick_after(60ms);
  }
};

TEST_F(ChildrenWatchedTest, NoOtherWatchIsNeededUntilItHasFired) {
  hold();
  EXPECT_TRUE(output_.sent.empty());
  event(WatchEvent::Kind::children_changed, "/P");
  EXPECT_EQ(answer<Get>(node("guid2", our_session)).path, "/P/privateLock");
  EXPECT_EQ(answer<Get>(node("guid2", our_session)).path, "/P/A-0000000002");
  EXPECT_TRUE(answer<List>(listing({"A-0000000002", "privateLock", "A-0000000004"}, 5)).watch);
  event(WatchEvent::Kind::children_changed, "/P");
  answer<List>(listing({"A-0000000002", "privateLock"}, 5));
  EXPECT_TRUE(output_.sent.empty()) << "those two are still set";
  EXPECT_TRUE(output_.losses.empty());
}

TEST_F(ChildrenWatchedTest, ARemovalIsNoticed) {
  hold();
  event(WatchEvent::Kind::children_changed, "/P");
  answers<Get, Get, List>(failure(ReplyCode::no_node), failure(ReplyCode::no_node), listing({}, 4));
  answer_heartbeat({});
  answers<List, Get>(listing({}, 4), failure(ReplyCode::no_node));
  EXPECT_EQ(output_.losses, std::vector{LossReason::removed});
}

// Another process has made it in the meantime: a listing does not show whose it is.
TEST_F(ChildrenWatchedTest, ALockThatIsAnothersByNowIsNoticed) {
  hold();
  event(WatchEvent::Kind::children_changed, "/P");
  answers<Get, Get>(node("another", our_session + 1), node("guid2", our_session));
  answer<List>(listing({"A-0000000002", "privateLock", "A-0000000004"}, 6));
  answer_heartbeat({});
  answers<List, Get>(listing({"A-0000000002", "privateLock", "A-0000000004"}, 6), node("guid2", our_session));
  answer<Get>(node("another", our_session + 1));
  EXPECT_EQ(output_.losses, std::vector{LossReason::removed});
}

// A member of a set does not watch its nodes yet, and in a monitor that was made anew others' nodes have its names.
TEST_F(ChildrenWatchedTest, AMonitorThatWasMadeAnewSinceTheGrantHasNoneOfOurNodes) {
  cold_cycle(1);
  AcquireSpec spec = spec_of(2, Priority::foreground);
  spec.contention = ContentionScope::all;
  spec.hold_watch_later = 1s;
  engine_.acquire(2, std::move(spec), now_);
  answer<Transaction>(claimed("A-0000000002", 200));
  Reply look = listing({"A-0000000002", "privateLock"}, 4);
  look.stat.czxid = 200;  // it was made by the claim
  answer<List>(look);
  event(WatchEvent::Kind::children_changed, "/P");
  answer<List>(look);
  EXPECT_TRUE(output_.sent.empty());
  event(WatchEvent::Kind::children_changed, "/P");
  look.stat.czxid = 201;
  answer<List>(look);
  answer_heartbeat({});
  answers<List, Get, Get>(look, node("another", our_session + 1), node("another", our_session + 1));
  EXPECT_EQ(output_.losses, std::vector{LossReason::removed});
}

// The resolving has read it before.
TEST_F(EngineWatchTest, ANodeThatIsRemovedDuringAResolvingIsLookedForAgain) {
  cold_cycle(1);
  acquire(2, Priority::foreground);
  answer<Transaction>(claimed("A-0000000002", 200));
  tick_after(60ms);
  answers<Get, Get>(node("guid2", our_session), node("guid2", our_session));
  reconnect();
  answers<Get, List, Get>({}, listing({"A-0000000002", "privateLock"}, 4), node("guid2", our_session));
  event(WatchEvent::Kind::deleted, "/P/A-0000000002");
  answer<Get>(node("guid2", our_session));
  EXPECT_TRUE(output_.losses.empty());
  answer_heartbeat({});
  answers<List, Get>(listing({"privateLock"}, 4), node("guid2", our_session));
  EXPECT_EQ(output_.losses, std::vector{LossReason::removed});
}

TEST_F(EngineWatchTest, ChangesOfTheLineDoNotPutTheWatchOnTheOwnNodeOff) {
  join(1, Priority::foreground, "A-0000000002", line());
  answer<Get>({});
  const TimePoint joined = now_;
  for (int change = 0; change < 9; ++change) {
    now_ += 100ms;
    event(WatchEvent::Kind::children_changed, "/P");
    engine_.tick(now_);
    answer_heartbeats();
    ASSERT_TRUE(output_.sent.empty());
  }
  now_ = joined + 1010ms;
  engine_.tick(now_);
  answer_heartbeats();
  EXPECT_EQ(answer<Get>(node("guid1", our_session)).path, "/P/A-0000000002");
}

// The node with which a waiter has begun anew is another one.
TEST_F(EngineWatchTest, TheNodeOfANewBeginningIsWatchedAsWell) {
  join(1, Priority::foreground, "A-0000000002", line());
  answer<Get>({});
  tick_after(1s);
  answer_heartbeats();
  EXPECT_EQ(answer<Get>(node("guid1", our_session)).path, "/P/A-0000000002");
  answers<List, Create>(listing({"A-0000000000", "privateLock"}, 3), created("A-0000000003"));
  for (int i = 0; i < 5 && !output_.sent.empty(); ++i) {
    if (std::holds_alternative<List>(output_.sent.front().request)) {
      answer<List>(listing({"A-0000000000", "privateLock", "A-0000000003"}, 4));
    } else {
      answer<Get>({});
    }
  }
  tick_after(1100ms);
  answer_heartbeats();
  EXPECT_EQ(answer<Get>(node("guid1", our_session)).path, "/P/A-0000000003");
}

TEST_F(EngineWatchTest, AHolderIsToldThatPrivateLockWasRemoved) {
  cold_cycle(1);
  acquire(2, Priority::foreground);
  answer<Transaction>(claimed("A-0000000002", 200));
  tick_after(60ms);
  answers<Get, Get>(node("guid2", our_session), node("guid2", our_session));
  event(WatchEvent::Kind::deleted, "/P/privateLock");
  answer_heartbeat({});
  answers<List, Get, Get>(listing({"A-0000000002"}, 4), node("guid2", our_session), failure(ReplyCode::no_node));
  EXPECT_EQ(output_.losses, std::vector{LossReason::removed});
}

// A watch tells once: of the record that was replaced, or of the removal.
TEST_F(EngineWatchTest, AfterANewRecordPrivateLockIsWatchedAgain) {
  cold_cycle(1);
  acquire(2, Priority::foreground);
  answer<Transaction>(claimed("A-0000000002", 200));
  tick_after(60ms);
  answers<Get, Get>(node("guid2", our_session), node("guid2", our_session));
  event(WatchEvent::Kind::data_changed, "/P/privateLock");
  const auto watch = answer<Get>(node("guid2", our_session));
  EXPECT_EQ(watch.path, "/P/privateLock");
  EXPECT_TRUE(watch.watch);
}

}  // namespace
}  // namespace forelock::lock
