// How the lock goes from one process to the next: what is asked for meanwhile, and what each grant is proved with.
#include "engine_fixture.h"

namespace forelock::lock {
namespace {

EngineOptions watching(WatchMode mode) {
  EngineOptions options;
  options.watch_mode = mode;
  return options;
}

// `other` stands for contenders of another process.
class HandOverTest : public EngineTest {
 protected:
  explicit HandOverTest(WatchMode mode = WatchMode::predecessor) : EngineTest(watching(mode)) {}
};

TEST_F(HandOverTest, OneAttemptAsksTheServerAndNotAnOldListing) {
  // The lock is free again when we have joined the queue; another one waits behind.
  join(1, Priority::foreground, "A-0000000002", listing({"A-0000000002", "A-0000000003"}, 4));
  answer<Transaction>(claimed("A-0000000002", 100));
  ASSERT_EQ(output_.grants.size(), 1u);
  release(1);
  now_ += 1s;  // it has long been served
  ask(2, Priority::foreground, true);
  EXPECT_TRUE(output_.refusals.empty());
  ASSERT_FALSE(output_.sent.empty());
  answers<Transaction, List>(claimed("A-0000000006", 200), listing({"A-0000000006", "privateLock"}, 8));
  EXPECT_EQ(output_.grants.size(), 2u);
}

TEST_F(HandOverTest, AHolderThatWantsToKnowWatchesWhoComes) {
  AcquireSpec spec = spec_of(1, Priority::foreground);
  spec.contention = ContentionScope::all;
  engine_.acquire(1, std::move(spec), now_);
  answers<Create, Transaction, Get>(failure(ReplyCode::node_exists), failure(ReplyCode::node_exists), {});
  answers<Create, List, Transaction>(created("A-0000000002"), listing({"A-0000000002"}, 3), claimed("", 100));
  ASSERT_EQ(output_.grants.size(), 1u);
  EXPECT_TRUE(answer<List>(listing({"A-0000000002", "privateLock"}, 4)).watch);
}

TEST_F(HandOverTest, AForegroundContenderClaimsAsSoonAsTheOnlyOneBeforeItIsGone) {
  join(1, Priority::foreground, "A-0000000002", listing({"A-0000000000", "privateLock", "A-0000000002"}, 3));
  EXPECT_EQ(answer<coordination::Get>({}).path, "/P/A-0000000000");
  event(WatchEvent::Kind::deleted, "/P/A-0000000000");
  const auto claim = answer<Transaction>(claimed("", 100));
  EXPECT_EQ(std::get<coordination::Check>(claim.operations.at(0)).path, "/P/A-0000000002");
  // Nobody can come before it any more: that is known without a listing.
  EXPECT_TRUE(output_.sent.empty());
  EXPECT_EQ(output_.grants.size(), 1u);
}

TEST_F(HandOverTest, OneThatSawSeveralBeforeItProvesThatAllAreGone) {
  join(1, Priority::foreground, "A-0000000003",
       listing({"A-0000000000", "privateLock", "A-0000000002", "A-0000000003"}, 4));
  EXPECT_EQ(answer<coordination::Get>({}).path, "/P/A-0000000002");
  event(WatchEvent::Kind::deleted, "/P/A-0000000002");
  answer<Transaction>(claimed("", 100));
  EXPECT_TRUE(output_.grants.empty());
  answer<List>(listing({"privateLock", "A-0000000003", "A-0000000005"}, 6));
  EXPECT_EQ(output_.grants.size(), 1u);
}

TEST_F(HandOverTest, OneWhoseNeighbourGaveUpDoesNotPassTheOthers) {
  join(1, Priority::foreground, "A-0000000003",
       listing({"A-0000000000", "privateLock", "A-0000000002", "A-0000000003"}, 4));
  answer<coordination::Get>({});
  // It waited no longer. In the same moment the holder has released, and A-0000000000 here is one that still waits.
  event(WatchEvent::Kind::deleted, "/P/A-0000000002");
  answers<Transaction, List>(claimed("", 100), listing({"A-0000000000", "privateLock", "A-0000000003"}, 5));
  EXPECT_TRUE(output_.grants.empty());
  const auto yield = answer<Transaction>({});
  EXPECT_EQ(std::get<coordination::Delete>(yield.operations.at(1)).path, "/P/privateLock");
  answer<List>(listing({"A-0000000000", "A-0000000003"}, 5));
  EXPECT_EQ(answer<coordination::Get>({}).path, "/P/A-0000000000");
}

TEST_F(HandOverTest, AClaimThatCameTooEarlyLooksAgain) {
  join(1, Priority::foreground, "A-0000000003", listing({"A-0000000001", "privateLock", "A-0000000003"}, 4));
  answer<coordination::Get>({});
  event(WatchEvent::Kind::deleted, "/P/A-0000000001");  // a waiting one: a background contender holds
  answer<Transaction>(failure(ReplyCode::node_exists));
  answer<List>(listing({"B-0000000000", "privateLock", "A-0000000003"}, 4));
  EXPECT_EQ(answer<coordination::Get>({}).path, "/P/privateLock");
  event(WatchEvent::Kind::deleted, "/P/privateLock");
  answer<Transaction>(claimed("", 100));
  EXPECT_EQ(output_.grants.size(), 1u);
}

TEST_F(HandOverTest, APredecessorThatIsGoneBeforeItCanBeWatchedIsAsGood) {
  join(1, Priority::foreground, "A-0000000002", listing({"A-0000000000", "privateLock", "A-0000000002"}, 3));
  answers<Get, Transaction>(failure(ReplyCode::no_node), claimed("", 100));
  EXPECT_EQ(output_.grants.size(), 1u);
}

// A foreground contender that has joined the queue since would find the lock taken, and wait until it is given back.
TEST_F(HandOverTest, ABackgroundContenderLooksBeforeItClaims) {
  join(1, Priority::background, "B-0000000002", listing({"A-0000000000", "privateLock", "B-0000000002"}, 3));
  answer<coordination::Get>({});
  event(WatchEvent::Kind::deleted, "/P/A-0000000000");
  answer<List>(listing({"A-0000000003", "B-0000000002"}, 4));
  EXPECT_EQ(answer<coordination::Get>({}).path, "/P/A-0000000003");
  EXPECT_TRUE(output_.sent.empty());
}

TEST_F(HandOverTest, OneThatHadToWaitJoinsTheLineAtOnceTheNextTime) {
  join(1, Priority::foreground, "A-0000000002", listing({"A-0000000000", "privateLock", "A-0000000002"}, 3));
  answer<coordination::Get>({});
  event(WatchEvent::Kind::deleted, "/P/A-0000000000");
  answer<Transaction>(claimed("", 100));
  release(1);
  ask(2);
  EXPECT_EQ(answer<Create>(created("A-0000000005")).path, "/P/A-");
  answer<List>(listing({"A-0000000005"}, 6));
  // Nobody there after all: from now on it is tried with one request again.
  answer<Transaction>(claimed("", 200));
  EXPECT_EQ(output_.grants.size(), 2u);
  release(2);
  ask(3);
  answer<Transaction>(claimed("A-0000000007", 300));
  EXPECT_EQ(output_.grants.size(), 3u);
  EXPECT_TRUE(output_.sent.empty());
}

// In the meantime an administrator may have removed it, and another process may hold the monitor under the same names:
// the news of that may still be on their way.
TEST_F(HandOverTest, WhoseDeadlineHasPassedLooksBeforeItRemovesWhatItHad) {
  ask(1);
  answers<Create, Transaction, Get>({}, claimed("A-0000000000", 100), monitor(2, 2, 100));
  ASSERT_EQ(output_.grants.size(), 1u);
  tick_after(5s);
  ASSERT_EQ(output_.losses.size(), 1u);
  answer_heartbeat({});
  answer<List>(listing({"A-0000000000", "privateLock"}, 2));
  answer_heartbeat({});  // a heartbeat
  answers<Get, Get>(node("somebody", our_session + 1), node("somebody", our_session + 1));
  EXPECT_TRUE(output_.sent.empty());
  EXPECT_EQ(engine_.contenders(), 0u);
}

TEST_F(HandOverTest, AProofWithoutPrivateLockInItIsNone) {
  ask(1);
  answers<Create, Transaction, Get>({}, claimed("A-0000000001", 100), monitor(1, 3, 101));
  answer<List>(listing({"A-0000000001"}, 3));  // somebody has deleted it by hand
  EXPECT_TRUE(output_.grants.empty());
  answer_heartbeat({});  // what there is will be found out
}

// Somebody has deleted ours by hand, and another one holds already.
TEST_F(HandOverTest, AProofWithoutTheOwnNodeInItIsNone) {
  ask(1);
  answers<Create, Transaction, Get>({}, claimed("A-0000000001", 100), monitor(3, 4, 100));
  answer<List>(listing({"A-0000000002", "privateLock"}, 4));
  EXPECT_TRUE(output_.grants.empty());
  answer_heartbeat({});
}

// Whoever makes the monitor may have made a new one, and is told of the end of that one only if it watches it.
TEST_F(HandOverTest, WhoeverMakesTheMonitorWatchesIt) {
  ask(1);
  answers<Create, Transaction, Get>({}, failure(ReplyCode::node_exists), {});
  answer<Create>(failure(ReplyCode::no_node));  // it has gone; it is made anew
  answer<List>(failure(ReplyCode::no_node));    // that was before
  answers<Create, Transaction, Get>({}, claimed("A-0000000000", 100), monitor(2, 2, 100));
  ASSERT_EQ(output_.grants.size(), 1u);
  release(1);
  ask(2);
  answers<Create, Transaction>({}, claimed("A-0000000000", 200));
  const auto watch = answer<coordination::Get>({});
  EXPECT_EQ(watch.path, "/P");
  EXPECT_TRUE(watch.watch);
}

// Background contenders of this process that pass the lock on among themselves: 1 holds, 2 and 3 wait.
class BulkHandOverTest : public HandOverTest {
 protected:
  BulkHandOverTest() {
    ask(1, Priority::background);
    answers<Create, Transaction, Get>({}, claimed("B-0000000000", 100), monitor(2, 2, 100));
    for (const ContenderId id : {ContenderId{2}, ContenderId{3}}) {
      engine_.acquire(id, spec_of(id, Priority::background, 2h), now_);
      answer<Create>(created("B-000000000" + std::to_string(id)));
    }
  }

  // From 1 to 2.
  void pass_on() {
    ASSERT_TRUE(engine_.release(1, now_));
    EXPECT_EQ(answer<Transaction>(claimed("", 200)).operations.size(), 3u);
    answer<List>(listing({"privateLock", "B-0000000002", "B-0000000003"}, 4));
    ASSERT_EQ(output_.grants.size(), 2u);
    ASSERT_TRUE(output_.sent.empty());
  }

  void somebody_comes() { event(WatchEvent::Kind::children_changed, "/P"); }

  // Until somebody looks at the queue, or until then.
  void wait_until(TimePoint end) {
    while (answer_the_rest() && now_ < end) {
      now_ = std::min(end, engine_.next_timer());
      engine_.tick(now_);
    }
  }

 private:
  // Heartbeats and the watch of privateLock.
  bool answer_the_rest() {
    while (!output_.sent.empty()) {
      const Request& request = output_.sent.front().request;
      if (std::holds_alternative<List>(request)) return false;
      if (std::holds_alternative<coordination::Get>(request)) {
        answer<coordination::Get>(node("", our_session));
      } else {
        answer_heartbeat({});
      }
    }
    return true;
  }
};

TEST_F(BulkHandOverTest, AForegroundContenderThatComesDuringASectionIsNextAfterIt) {
  pass_on();
  wait_until(now_ + 5ms);
  EXPECT_TRUE(answer<List>(listing({"privateLock", "B-0000000002", "B-0000000003"}, 4)).watch);
  somebody_comes();
  wait_until(now_ + 5ms);
  EXPECT_TRUE(answer<List>(listing({"privateLock", "B-0000000002", "B-0000000003", "A-0000000004"}, 5)).watch);
  ASSERT_TRUE(engine_.release(2, now_));
  const auto freed = answer<Transaction>(claimed("", 300));
  ASSERT_EQ(freed.operations.size(), 2u);  // not passed on to 3, who would have to give it back
  EXPECT_EQ(std::get<coordination::Delete>(freed.operations.at(1)).path, "/P/privateLock");
}

TEST_F(BulkHandOverTest, AShortSectionDoesNotLookAtTheLine) {
  pass_on();
  wait_until(now_ + 1500us);
  EXPECT_TRUE(output_.sent.empty());
  ASSERT_TRUE(engine_.release(2, now_));
  EXPECT_EQ(answer<Transaction>(claimed("", 300)).operations.size(), 3u);
}

TEST_F(BulkHandOverTest, ALongSectionLooksWhenTheLineChangesAndEverMoreRarely) {
  pass_on();
  wait_until(now_ + 5ms);
  answer<List>(listing({"privateLock", "B-0000000002", "B-0000000003"}, 4));
  wait_until(now_ + 40ms);
  EXPECT_TRUE(output_.sent.empty());  // nothing changes
  const TimePoint end = now_ + 30s;
  std::vector<TimePoint> looks;
  while (now_ < end) {
    somebody_comes();
    wait_until(end);
    if (output_.sent.empty()) break;
    looks.push_back(now_);
    answer<List>(listing({"privateLock", "B-0000000002", "B-0000000003", "B-0000000009"}, 5));
  }
  EXPECT_GT(looks.size(), 20u);
  EXPECT_LT(looks.size(), 120u);
}

TEST_F(BulkHandOverTest, HoweverLongASectionIsItLooksAsOftenAsAWaiterDoes) {
  pass_on();
  wait_until(now_ + 5ms);
  answer<List>(listing({"privateLock", "B-0000000002", "B-0000000003"}, 4));
  wait_until(now_ + 1h);
  somebody_comes();
  wait_until(now_ + 1h);
  answer<List>(listing({"privateLock", "B-0000000002", "B-0000000003", "B-0000000009"}, 5));
  somebody_comes();
  const TimePoint changed = now_;
  wait_until(now_ + 1h);
  answer<List>(listing({"privateLock", "B-0000000002", "B-0000000003", "B-0000000009"}, 5));
  EXPECT_LE(now_ - changed, EngineOptions{}.safety_poll + 1ms);
}

TEST_F(BulkHandOverTest, NobodyLooksForWhomIsCertain) {
  ask(4, Priority::foreground);  // nothing but our own creates: it is next, whoever else comes
  answer<Create>(created("A-0000000004"));
  wait_until(now_ + 40ms);
  EXPECT_TRUE(output_.sent.empty());
}

class ParentHandOverTest : public HandOverTest {
 protected:
  ParentHandOverTest() : HandOverTest(WatchMode::parent) {}

  void line_changes() { event(WatchEvent::Kind::children_changed, "/P"); }
};

TEST_F(ParentHandOverTest, TheNextOneWaitsForTheHolderAlone) {
  join(1, Priority::foreground, "A-0000000002", listing({"A-0000000000", "privateLock", "A-0000000002"}, 3));
  EXPECT_EQ(answer<coordination::Get>({}).path, "/P/A-0000000000");
  line_changes();  // somebody comes, behind us
  EXPECT_TRUE(output_.sent.empty());
  event(WatchEvent::Kind::deleted, "/P/A-0000000000");
  answer<Transaction>(claimed("", 100));
  EXPECT_EQ(output_.grants.size(), 1u);
  EXPECT_TRUE(output_.sent.empty());
}

TEST_F(ParentHandOverTest, OneThatIsNotNextLooksAMomentAfterTheChange) {
  join(1, Priority::foreground, "A-0000000003",
       listing({"A-0000000000", "privateLock", "A-0000000002", "A-0000000003"}, 4));
  EXPECT_TRUE(output_.sent.empty());
  line_changes();
  EXPECT_TRUE(output_.sent.empty());
  EXPECT_EQ(engine_.next_timer(), now_ + 1ms);
  tick_after(1ms);
  EXPECT_TRUE(answer<List>(listing({"A-0000000002", "privateLock", "A-0000000003"}, 5)).watch);
  EXPECT_EQ(answer<coordination::Get>({}).path, "/P/A-0000000002");
}

TEST_F(ParentHandOverTest, OneThatWantsToKnowItsPlaceLooksAtEveryChange) {
  acquire(1, Priority::background);  // with its place
  answers<Create, Transaction, Get>(failure(ReplyCode::node_exists), failure(ReplyCode::node_exists), {});
  answers<Create, List, Get>(created("B-0000000002"), listing({"A-0000000000", "privateLock", "B-0000000002"}, 3), {});
  line_changes();
  answer<List>(listing({"A-0000000000", "privateLock", "A-0000000003", "B-0000000002"}, 4));
  ASSERT_FALSE(output_.positions.empty());
  EXPECT_EQ(output_.positions.back(), (QueuePosition{2, "A-0000000003"}));
}

// The holder may have released, and said so to our caller, before the event is here.
TEST_F(ParentHandOverTest, OneAttemptAsksTheServerAndNotAListingThatIsWatched) {
  join(1, Priority::foreground, "A-0000000002", listing({"A-0000000000", "privateLock", "A-0000000002"}, 3));
  answer<coordination::Get>({});
  ASSERT_TRUE(engine_.cancel(1, now_));
  output_.refusals.clear();
  ask(2, Priority::foreground, true);
  EXPECT_TRUE(output_.refusals.empty());
  answers<Delete, Transaction, List>({}, claimed("A-0000000003", 100), listing({"A-0000000003", "privateLock"}, 5));
  EXPECT_EQ(output_.grants.size(), 1u);
}

// What is sent behind the release meets a free lock.
TEST_F(ParentHandOverTest, BehindAReleaseTheNextCallClaimsAtOnce) {
  AcquireSpec spec = spec_of(1, Priority::foreground);
  spec.contention = ContentionScope::all;
  engine_.acquire(1, std::move(spec), now_);
  answers<Create, Transaction, Get>({}, claimed("A-0000000000", 100), monitor(2, 2, 100));
  answer<List>(listing({"A-0000000000", "privateLock"}, 2));
  ASSERT_EQ(output_.grants.size(), 1u);
  ASSERT_TRUE(engine_.release(1, now_));
  ask(2, Priority::foreground);
  answer<Transaction>({});
  EXPECT_EQ(answer<Transaction>(claimed("A-0000000002", 200)).operations.size(), 3u);
  EXPECT_EQ(output_.grants.size(), 2u);
}

TEST_F(HandOverTest, OfThoseThatCameWithoutAConnectionTheForegroundClaims) {
  disconnect();
  ask(1, Priority::background);
  ask(2, Priority::foreground);
  connect();
  answer<Create>({});
  const auto claim = answer<Transaction>(claimed("A-0000000000", 100));
  EXPECT_EQ(std::get<Create>(claim.operations.at(0)).path, "/P/A-");
}

TEST_F(HandOverTest, OneAttemptWaitsForAClaimBehindARelease) {
  ask(1);
  answers<Create, Transaction, Get>({}, claimed("A-0000000000", 100), monitor(2, 2, 100));
  ASSERT_TRUE(engine_.release(1, now_));
  ask(2);
  ask(3, Priority::foreground, true);
  EXPECT_TRUE(output_.refusals.empty());
  answers<Transaction, Transaction>({}, claimed("A-0000000002", 200));
  EXPECT_EQ(output_.grants.size(), 2u);
  expect_refused(RefusalReason::unavailable);
}

// Whatever becomes of the claim, others of its own process go before it.
TEST_F(HandOverTest, OneAttemptIsRefusedAtOnceWhereItsOwnProcessWaits) {
  join(1, Priority::background, "B-0000000002", listing({"B-0000000000", "privateLock", "B-0000000002"}, 3));
  answer<coordination::Get>({});
  ask(2, Priority::background);
  answer<Create>(created("B-0000000003"));
  if (!output_.sent.empty()) {
    answer<List>(listing({"B-0000000000", "privateLock", "B-0000000002", "B-0000000003"}, 4));
  }
  event(WatchEvent::Kind::deleted, "/P/B-0000000000");
  answer<List>(listing({"B-0000000002", "B-0000000003"}, 4));
  ASSERT_EQ(engine_.state(1), ContenderState::claiming);
  ask(3, Priority::background, true);
  expect_refused(RefusalReason::unavailable);
}

// It joins the queue behind the same node that the background contender of its process has watched.
TEST_F(ParentHandOverTest, AForegroundContenderTakesOverTheWatchOfABackgroundOne) {
  join(1, Priority::background, "B-0000000002", listing({"A-0000000000", "privateLock", "B-0000000002"}, 3));
  EXPECT_EQ(answer<coordination::Get>({}).path, "/P/A-0000000000");
  ask(2, Priority::foreground);
  answer<Create>(created("A-0000000003"));
  answer<List>(listing({"A-0000000000", "privateLock", "B-0000000002", "A-0000000003"}, 4));
  EXPECT_TRUE(output_.sent.empty());
  event(WatchEvent::Kind::deleted, "/P/A-0000000000");
  answer<Transaction>(claimed("", 100));
  EXPECT_EQ(output_.grants.size(), 1u);
}

}  // namespace
}  // namespace forelock::lock
