// What a resolving concludes from what it finds, and what it leaves on the server.
#include "engine_fixture.h"

namespace forelock::lock {
namespace {

class EngineOutcomeTest : public EngineTest {
 protected:
  explicit EngineOutcomeTest(EngineOptions options = {}) : EngineTest(std::move(options)) {}

  void hold() {
    cold_cycle(1);
    acquire(2, Priority::foreground);
    answer<Transaction>(claimed("A-0000000002", 200));
    ASSERT_EQ(output_.grants.size(), 2u);
  }

  static Reply lock_of(const std::string& guid, std::int32_t version, coordination::SessionId owner = our_session) {
    Reply reply = node(guid, owner);
    reply.stat.version = version;
    reply.stat.mzxid = 200;
    return reply;
  }

  // Up to the listing of the resolving.
  void reconnect_to_listing() {
    reconnect();
    answer<Get>({});
  }

  // A resolving within the connection finds privateLock, but not its owner's node.
  void find_the_lock_without_its_node(std::int32_t version) {
    answer_heartbeat({});
    answers<List, Get>(listing({"privateLock"}, 4), lock_of("guid2", version));
  }
};

// --- a session that may have no ephemeral nodes ---

// The servers answer as for one that has ended.
TEST_F(EngineOutcomeTest, AClaimThatIsAnsweredAsExpiredInASessionThatLivesIsRefused) {
  cold_cycle(1);
  acquire(2, Priority::foreground);
  for (int i = 0; i < 2; ++i) {
    answer<Transaction>(failure(ReplyCode::session_expired));
    EXPECT_TRUE(output_.refusals.empty()) << "the session may have ended";
    tick_after(100ms);
    answer_heartbeat({});
    while (!output_.sent.empty() && !std::holds_alternative<List>(output_.sent.front().request)) answer<Get>({});
    answers<List, Get>(listing({}, 2), failure(ReplyCode::no_node));
  }
  expect_refused(RefusalReason::rejected);
  EXPECT_EQ(output_.refusals.front().code, ReplyCode::no_ephemerals);
  EXPECT_EQ(engine_.contenders(), 0u);
}

TEST_F(EngineOutcomeTest, AClaimThatIsAnsweredAsExpiredByASessionsEndIsToldOfThat) {
  cold_cycle(1);
  acquire(2, Priority::foreground);
  answer<Transaction>(failure(ReplyCode::session_expired));
  engine_.on_session({.kind = SessionEvent::Kind::expired}, now_);
  expect_refused(RefusalReason::session_expired);
}

// --- a lock without its owner's node ---

TEST_F(EngineOutcomeTest, AHoldersBrokenLockIsDeletedAtTheVersionSeen) {
  hold();
  reconnect_to_listing();
  answers<List, Get>(listing({"privateLock"}, 4), lock_of("guid2", 7));
  EXPECT_EQ(output_.losses, std::vector{LossReason::removed});
  const auto removal = answer<Delete>({});
  EXPECT_EQ(removal.path, "/P/privateLock");
  EXPECT_EQ(removal.version, 7);
}

TEST_F(EngineOutcomeTest, AReleaseThatFindsItsNodeGoneIsNoneOfOurs) {
  hold();
  ASSERT_TRUE(engine_.release(2, now_));
  answer<Transaction>(failure(ReplyCode::no_node));
  find_the_lock_without_its_node(7);
  EXPECT_EQ(output_.releases.back(), ReleaseOutcome::gone);
  EXPECT_EQ(answer<Delete>({}).version, 7);
  EXPECT_EQ(engine_.contenders(), 0u);
}

TEST_F(EngineOutcomeTest, OneThatStepsAsideAndFindsItsNodeGoneHasLostTheLock) {
  hold();
  ASSERT_TRUE(engine_.step_aside(2, now_ + 1min, now_));
  answers<Transaction, List>(failure(ReplyCode::no_node), listing({"privateLock"}, 4));
  find_the_lock_without_its_node(7);
  EXPECT_EQ(output_.losses, std::vector{LossReason::removed});
  EXPECT_EQ(answer<Delete>({}).version, 7);
}

TEST_F(EngineOutcomeTest, AStrayLockIsDeletedAtTheVersionSeenAndThenForgotten) {
  claim_lost_with_the_connection(1);
  ASSERT_TRUE(engine_.cancel(1, now_));
  answers<List, Get>(listing({"privateLock"}, 2), lock_of("nobody's", 7));
  EXPECT_EQ(answer<Delete>({}).version, 7);
  reconnect();
  EXPECT_TRUE(output_.sent.empty());
}

// --- a node without its lock ---

// Somebody has removed privateLock; had the release been applied, the node would be gone as well.
TEST_F(EngineOutcomeTest, AReleaseWhoseNodeIsStillThereWasNotApplied) {
  hold();
  ASSERT_TRUE(engine_.release(2, now_));
  answer<Transaction>(failure(ReplyCode::connection_loss));
  reconnect_to_listing();
  answers<List, Get, Get>(listing({"A-0000000002"}, 4), node("guid2", our_session), failure(ReplyCode::no_node));
  EXPECT_EQ(output_.releases.back(), ReleaseOutcome::gone);
  EXPECT_EQ(answer<Delete>({}).path, "/P/A-0000000002");
}

TEST_F(EngineOutcomeTest, ANodeWhoseRemovalWasLostIsRemovedAgain) {
  join(1, Priority::background, "B-0000000002", listing({"B-0000000000", "privateLock", "B-0000000002"}, 3));
  answer<Get>({});
  ASSERT_TRUE(engine_.cancel(1, now_));
  answer<Delete>(failure(ReplyCode::connection_loss));
  reconnect_to_listing();
  answers<List, Get>(listing({"B-0000000000", "privateLock", "B-0000000002"}, 3), node("guid1", our_session));
  answer<Get>(lock_of("other", 1, our_session + 1));
  EXPECT_EQ(answer<Delete>({}).path, "/P/B-0000000002");
  EXPECT_EQ(engine_.contenders(), 0u);
}

TEST_F(EngineOutcomeTest, ARemovalThatFindsNothingIsDone) {
  join(1, Priority::background, "B-0000000002", listing({"B-0000000000", "privateLock", "B-0000000002"}, 3));
  answer<Get>({});
  ASSERT_TRUE(engine_.cancel(1, now_));
  answer<Delete>(failure(ReplyCode::no_node));
  EXPECT_EQ(engine_.contenders(), 0u);
  EXPECT_TRUE(output_.sent.empty());
}

// --- the lock itself ---

TEST_F(EngineOutcomeTest, AfterAReconnectTheVersionFoundIsTheOneThatCounts) {
  hold();
  ASSERT_TRUE(engine_.update_record(2, "new", now_));
  answer<Transaction>(failure(ReplyCode::connection_loss));  // not applied: another version than counted
  reconnect_to_listing();
  answers<List, Get, Get>(listing({"A-0000000002", "privateLock"}, 4), node("guid2", our_session), lock_of("guid2", 1));
  const auto guard = engine_.guard(2);
  ASSERT_TRUE(guard);
  EXPECT_EQ(std::get<Check>(guard->at(1)).version, 1);
  ASSERT_TRUE(engine_.release(2, now_));
  EXPECT_EQ(std::get<Delete>(answer<Transaction>({}).operations.at(1)).version, 1);
}

// Another process may have been granted a lock of the same names meanwhile.
TEST_F(EngineOutcomeTest, AGuardNamesTheVersionAndThereIsNoneWhileAnythingIsUncertain) {
  hold();
  const auto guard = engine_.guard(2);
  ASSERT_TRUE(guard);
  ASSERT_EQ(guard->size(), 2u);
  EXPECT_EQ(std::get<Check>(guard->at(0)).path, "/P/A-0000000002");
  EXPECT_EQ(std::get<Check>(guard->at(1)).path, "/P/privateLock");
  EXPECT_EQ(std::get<Check>(guard->at(1)).version, 1);
  disconnect();
  EXPECT_FALSE(engine_.guard(2));
  connect();
  EXPECT_FALSE(engine_.guard(2));
  answers<Get, List, Get>({}, listing({"A-0000000002", "privateLock"}, 4), node("guid2", our_session));
  EXPECT_FALSE(engine_.guard(2));
  answer<Get>(lock_of("guid2", 1));
  EXPECT_TRUE(engine_.guard(2));
}

// Somebody has changed it, or removed it.
TEST_F(EngineOutcomeTest, ARecordThatCouldNotBeReplacedIsLookedInto) {
  hold();
  tick_after(60ms);
  answer<Get>(lock_of("guid2", 1));  // the watches of a lock that is held longer
  answer<Get>(node("guid2", our_session));
  ASSERT_TRUE(engine_.update_record(2, "new", now_));
  answer<Transaction>(failure(ReplyCode::no_node));
  tick_after(100ms);
  answer_heartbeat({});
  answers<List, Get>(listing({}, 4), failure(ReplyCode::no_node));
  EXPECT_EQ(output_.losses, std::vector{LossReason::removed});
}

TEST_F(EngineOutcomeTest, AReleaseAtAnotherVersionIsLookedIntoAtOnce) {
  hold();
  ASSERT_TRUE(engine_.release(2, now_));
  answer<Transaction>(failure(ReplyCode::bad_version));
  answer_heartbeat({});
  answers<List, Get, Get>(listing({"A-0000000002", "privateLock"}, 4), node("guid2", our_session), lock_of("guid2", 5));
  EXPECT_EQ(std::get<Delete>(answer<Transaction>({}).operations.at(1)).version, 5);
  EXPECT_EQ(output_.releases.back(), ReleaseOutcome::released);
}

// --- hand-overs ---

TEST_F(EngineOutcomeTest, AHandOverWithALostReplyIsARelease) {
  hold();
  acquire(3, Priority::foreground);
  answer<Create>(created("A-0000000004"));
  ASSERT_TRUE(engine_.release(2, now_));
  answer<Transaction>(failure(ReplyCode::connection_loss));
  reconnect_to_listing();
  answers<List, Get>(listing({"A-0000000004", "privateLock"}, 5), node("guid3", our_session));
  Reply lock = lock_of("guid3", 2);
  lock.stat.mzxid = 300;
  answer<Get>(lock);
  EXPECT_EQ(output_.releases.back(), ReleaseOutcome::released);
  EXPECT_EQ(output_.grants.back(), 300);
}

TEST_F(EngineOutcomeTest, AHandOverIsAReleaseToo) {
  hold();
  acquire(3, Priority::foreground);
  answer<Create>(created("A-0000000004"));
  ASSERT_TRUE(engine_.release(2, now_));
  answer<Transaction>(claimed("", 300));
  EXPECT_EQ(output_.releases.back(), ReleaseOutcome::released);
  EXPECT_EQ(output_.grants.back(), 300);
}

// One of its nodes is gone: which, is looked into at once.
TEST_F(EngineOutcomeTest, AHandOverThatIsRefusedIsLookedIntoAtOnce) {
  hold();
  acquire(3, Priority::foreground);
  answer<Create>(created("A-0000000004"));
  ASSERT_TRUE(engine_.release(2, now_));
  answer<Transaction>(failure(ReplyCode::no_node));
  answer_heartbeat({});
  answer<List>(listing({"A-0000000002", "privateLock"}, 5));  // the next one's
  answers<Get, Get>(node("guid2", our_session), lock_of("guid2", 1));
  const auto release = answer<Transaction>({});
  EXPECT_EQ(std::get<Delete>(release.operations.at(0)).path, "/P/A-0000000002");
  EXPECT_EQ(output_.releases.back(), ReleaseOutcome::released);
}

// --- the barrier ---

// A refusal is a transaction, too: what is read behind it shows everything that was applied before.
TEST_F(EngineOutcomeTest, ABarrierThatIsRefusedIsABarrier) {
  hold();
  ASSERT_TRUE(engine_.release(2, now_));
  answer<Transaction>(failure(ReplyCode::no_node));
  answer_heartbeat(failure(ReplyCode::bad_version));
  answers<List, Get>(listing({}, 4), failure(ReplyCode::no_node));
  EXPECT_EQ(output_.releases.back(), ReleaseOutcome::gone);
  EXPECT_TRUE(output_.sent.empty());
}

// --- lost creates ---

// Only what was made since can be its: nobody else's nodes are read.
TEST_F(EngineOutcomeTest, ALostClaimIsLookedForOnlyAmongTheNodesMadeSince) {
  Reply known = monitor(2, 2, 100);
  known.stat.czxid = 55;
  acquire(1, Priority::foreground);
  answers<Create, Transaction, Get>({}, claimed("A-0000000000", 100), known);
  release(1);
  acquire(2, Priority::foreground);
  answer<Transaction>(failure(ReplyCode::connection_loss));
  reconnect_to_listing();
  Reply found = listing({"A-0000000001", "A-0000000002"}, 3);
  found.stat.czxid = 55;
  answer<List>(found);
  EXPECT_EQ(answer<Get>(node("guid2", our_session)).path, "/P/A-0000000002");
  EXPECT_EQ(answer<Get>(failure(ReplyCode::no_node)).path, "/P/privateLock");
}

// --- what is left ---

TEST_F(EngineOutcomeTest, OneThatIsCancelledWhileItStepsAsideLeavesNoNode) {
  hold();
  ASSERT_TRUE(engine_.step_aside(2, now_ + 1min, now_));
  ASSERT_TRUE(engine_.cancel(2, now_));
  answers<Transaction, List>({}, listing({"A-0000000002"}, 4));
  EXPECT_EQ(answer<Delete>({}).path, "/P/A-0000000002");
  EXPECT_EQ(engine_.contenders(), 0u);
}

// The claim would be concluded upon twice.
TEST_F(EngineOutcomeTest, NothingIsClaimedWhileAResolvingReads) {
  join(1, Priority::foreground, "A-0000000002", listing({"A-0000000000", "privateLock", "A-0000000002"}, 3));
  answer<Get>({});
  ask(2, Priority::foreground);
  answer<Create>(failure(ReplyCode::server_error));
  for (int i = 0; i < 5 && !output_.sent.empty(); ++i) {
    answer<List>(listing({"A-0000000000", "privateLock", "A-0000000002"}, 3));
  }
  tick_after(100ms);
  answer_heartbeat({});
  const std::size_t reads = output_.sent.size();
  event(WatchEvent::Kind::deleted, "/P/A-0000000000");
  EXPECT_EQ(output_.sent.size(), reads);
  answers<List, Get, Get>(listing({"A-0000000002"}, 3), node("guid1", our_session), failure(ReplyCode::no_node));
  int claims = 0;
  for (const Sent& sent : output_.sent) claims += std::holds_alternative<Transaction>(sent.request) ? 1 : 0;
  EXPECT_EQ(claims, 1);
}

// --- a contender that has begun anew owes nothing to the place it had ---

class NewBeginningTest : public EngineOutcomeTest {
 protected:
  static EngineOptions options() {
    EngineOptions options;
    options.watch_mode = WatchMode::predecessor;
    return options;
  }
  NewBeginningTest() : EngineOutcomeTest(options()) {}

  // Two others are before its new node; the one directly before gives up.
  void the_neighbour_goes() {
    if (std::holds_alternative<List>(output_.sent.front().request)) {
      answer<List>(listing({"A-0000000005", "A-0000000006", "A-0000000007"}, 8));
    }
    EXPECT_EQ(answer<Get>({}).path, "/P/A-0000000006");
    event(WatchEvent::Kind::deleted, "/P/A-0000000006");
    const std::size_t grants = output_.grants.size();
    answer<Transaction>(claimed("", 300));
    EXPECT_EQ(output_.grants.size(), grants);
    answer<List>(listing({"A-0000000005", "A-0000000007", "privateLock"}, 9));
    EXPECT_EQ(output_.grants.size(), grants);
    EXPECT_EQ(answer<Transaction>({}).operations.size(), 2u);  // gives it back
  }
};

TEST_F(NewBeginningTest, AfterAListingWithoutItsNode) {
  AcquireSpec spec = spec_of(1, Priority::foreground);
  spec.contention = ContentionScope::all;
  engine_.acquire(1, std::move(spec), now_);
  answers<Create, Transaction, Get>({}, claimed("A-0000000000", 100), monitor(2, 2, 100));
  ask(2, Priority::foreground);
  answer<List>(listing({"A-0000000000", "privateLock"}, 2));
  answer<Create>(created("A-0000000002"));  // as counted: nobody is before it
  event(WatchEvent::Kind::children_changed, "/P");
  answer<List>(listing({"A-0000000000", "privateLock", "A-0000000005", "A-0000000006"}, 7));
  answer<Create>(failure(ReplyCode::connection_loss));
  reconnect_to_listing();
  const std::vector<std::string> line{"A-0000000000", "privateLock", "A-0000000005", "A-0000000006", "A-0000000007"};
  answer<List>(listing(line, 8));
  while (!output_.sent.empty()) {
    const std::string path = std::get<Get>(output_.sent.front().request).path;
    if (path == "/P/A-0000000000" || path == "/P/privateLock") {
      answer<Get>(lock_of("guid1", 1));
    } else {
      answer<Get>(path == "/P/A-0000000007" ? node("guid2", our_session) : node("other", our_session + 1));
    }
    if (!output_.sent.empty() && !std::holds_alternative<Get>(output_.sent.front().request)) break;
  }
  for (int i = 0; i < 5 && !output_.sent.empty(); ++i) answer<List>(listing(line, 8));
  ASSERT_EQ(engine_.state(2), ContenderState::waiting);
  release(1);
  the_neighbour_goes();
}

TEST_F(NewBeginningTest, AfterAResolvingWithoutItsNode) {
  hold();
  ask(3, Priority::foreground);
  answer<Create>(created("A-0000000004"));  // as counted: nobody is before it
  ASSERT_TRUE(engine_.release(2, now_));
  answer<Transaction>(failure(ReplyCode::no_node));
  answer_heartbeat({});
  answer<List>(listing({"A-0000000002", "privateLock", "A-0000000005", "A-0000000006"}, 7));
  answers<Get, Get>(node("guid2", our_session), lock_of("guid2", 1));
  answer<Transaction>({});  // the release
  while (!output_.sent.empty()) {
    const Sent sent = output_.sent.front();  // its new beginning
    output_.sent.pop_front();
    engine_.on_reply(sent.tag, failure(ReplyCode::connection_loss), now_);
  }
  reconnect_to_listing();
  answer<List>(listing({"A-0000000005", "A-0000000006", "A-0000000007"}, 8));
  while (!output_.sent.empty()) {
    const std::string path = std::get<Get>(output_.sent.front().request).path;
    if (path == "/P/privateLock") break;
    answer<Get>(path == "/P/A-0000000007" ? node("guid3", our_session) : node("other", our_session + 1));
  }
  answer<Get>(failure(ReplyCode::no_node));
  ASSERT_EQ(engine_.state(3), ContenderState::waiting);
  the_neighbour_goes();
}

// Of what is still held back nothing can be left.
TEST_F(EngineOutcomeTest, AClaimThatHasNotBeenSentIsWithdrawn) {
  output_.holds_back = true;
  acquire(1, Priority::foreground);
  const std::size_t sent = output_.sent.size();
  ASSERT_GT(sent, 0u);
  ASSERT_TRUE(engine_.cancel(1, now_));
  EXPECT_EQ(output_.forgotten_count, 1);
  EXPECT_EQ(output_.sent.size(), sent - 2) << "neither the claim nor the look that would prove it";
  acquire(2, Priority::foreground);
  EXPECT_GE(output_.sent.size(), sent) << "the next one claims";
}

TEST_F(EngineOutcomeTest, AForegroundContenderPassesABackgroundClaimThatHasNotBeenSent) {
  cold_cycle(1);
  output_.holds_back = true;
  ask(2, Priority::background);
  ASSERT_EQ(output_.sent.size(), 1u);
  ask(3, Priority::foreground);
  const auto claim = answer<Transaction>(claimed("A-0000000002", 200));
  EXPECT_EQ(std::get<Create>(claim.operations.at(0)).path, "/P/A-");
  EXPECT_EQ(engine_.state(3), ContenderState::held);
  EXPECT_EQ(answer<Create>(created("B-0000000003")).path, "/P/B-");
  EXPECT_EQ(engine_.state(2), ContenderState::waiting);
}

// Its group was refused for another member, so that it is held back again.
TEST_F(EngineOutcomeTest, AForegroundContenderPassesTheClaimOfACallerThatHasGivenUp) {
  cold_cycle(1);
  ask(2, Priority::background);
  ASSERT_TRUE(engine_.cancel(2, now_));
  ASSERT_EQ(output_.refusals.size(), 1u);
  output_.holds_back = true;
  ask(3, Priority::foreground);
  ASSERT_EQ(output_.sent.size(), 1u);
  EXPECT_EQ(output_.refusals.size(), 1u) << "once";
  answer<Transaction>(claimed("A-0000000002", 200));
  EXPECT_EQ(engine_.state(3), ContenderState::held);
}

TEST_F(EngineOutcomeTest, AForegroundContenderWaitsForABackgroundClaimThatHasBeenSent) {
  cold_cycle(1);
  ask(2, Priority::background);
  ask(3, Priority::foreground);
  const auto claim = answer<Transaction>(claimed("B-0000000002", 200));
  EXPECT_EQ(std::get<Create>(claim.operations.at(0)).path, "/P/B-");
  EXPECT_EQ(engine_.state(2), ContenderState::held);
  EXPECT_EQ(answer<Create>(created("A-0000000003")).path, "/P/A-");
}

}  // namespace
}  // namespace forelock::lock
