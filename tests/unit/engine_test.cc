// The lock engine with replies written by hand: what it asks for, and what it makes of the answers. Schedules and
// faults in their variety are the simulator's business (tests/simulation).
#include "engine_fixture.h"

namespace forelock::lock {
namespace {

TEST_F(EngineTest, SteadyStateIsOneRequestToAcquireAndOneToRelease) {
  cold_cycle(1);
  for (ContenderId id = 2; id < 6; ++id) {
    acquire(id, Priority::background);
    // Number 2, 4, 6, 8: each cycle has created the own node and privateLock.
    answer<coordination::Transaction>(
        claimed("B-000000000" + std::to_string(2 * (id - 1)), 100 + static_cast<Token>(id)));
    EXPECT_TRUE(output_.sent.empty());
    EXPECT_EQ(output_.grants.size(), id);
    EXPECT_TRUE(engine_.release(id, now_));
    answer<coordination::Transaction>({});
    EXPECT_TRUE(output_.sent.empty());
  }
}

TEST_F(EngineTest, AnotherNumberThanCountedNeedsAListing) {
  cold_cycle(1);
  acquire(2, Priority::background);
  answer<coordination::Transaction>(claimed("B-0000000003", 200));  // somebody created number 2
  EXPECT_EQ(output_.grants.size(), 1u);
  answer<coordination::List>(listing({"A-0000000002", "B-0000000003", "privateLock"}, 5));
  EXPECT_EQ(output_.grants.size(), 1u);  // a foreground contender was there first: yield
  const auto yield = answer<coordination::Transaction>({});
  ASSERT_EQ(yield.operations.size(), 2u);
  EXPECT_EQ(std::get<coordination::Delete>(yield.operations[1]).path, "/P/privateLock");
}

TEST_F(EngineTest, FirstClaimIsProvedByTheCountOfChildren) {
  acquire(1, Priority::background);
  answer<coordination::Create>(failure(ReplyCode::node_exists));
  answer<coordination::Transaction>(claimed("B-0000000004", 100));
  EXPECT_TRUE(output_.grants.empty());
  answer<coordination::Get>(monitor(2, 6, 100));
  EXPECT_EQ(output_.grants.size(), 1u);
  release(1);
  // From here on the number is the proof.
  acquire(2, Priority::background);
  answer<coordination::Transaction>(claimed("B-0000000006", 200));
  EXPECT_EQ(output_.grants.size(), 2u);
  EXPECT_TRUE(output_.sent.empty());
}

TEST_F(EngineTest, AnotherChildThanOursNeedsAListing) {
  acquire(1, Priority::background);
  answer<coordination::Create>(failure(ReplyCode::node_exists));
  answer<coordination::Transaction>(claimed("B-0000000003", 100));
  answer<coordination::Get>(monitor(3, 5, 100));
  EXPECT_TRUE(output_.grants.empty());
  answer<coordination::List>(listing({"A-0000000002", "B-0000000003", "privateLock"}, 5));
  EXPECT_TRUE(output_.grants.empty());  // it was there first: yield
  answer<coordination::Transaction>({});
}

// Two children, but not ours: somebody has removed one of ours, and somebody else waits.
TEST_F(EngineTest, ACountOfALaterMomentNeedsAListing) {
  acquire(1, Priority::background);
  answer<coordination::Create>(failure(ReplyCode::node_exists));
  answer<coordination::Transaction>(claimed("B-0000000003", 100));
  answer<coordination::Get>(monitor(2, 5, 101));
  EXPECT_TRUE(output_.grants.empty());
  answer<coordination::List>(listing({"A-0000000002", "B-0000000003"}, 5));
  EXPECT_TRUE(output_.grants.empty());
}

// Read before the monitor was deleted, looked at after: what it shows must not prove a rank in the new monitor.
TEST_F(EngineTest, ListingOfADeletedMonitorProvesNothingInTheNextOne) {
  claim_lost_with_the_connection(1);
  answer<coordination::List>(listing({"A-0000000017"}, 20));
  engine_.on_watch({coordination::WatchEvent::Kind::deleted, "/P"}, now_);
  answer<coordination::Get>(failure(ReplyCode::no_node));
  answer<coordination::Get>(failure(ReplyCode::no_node));
  acquire(2, Priority::foreground);
  answer<coordination::Create>({});
  answer<coordination::Transaction>(claimed("A-0000000000", 100));
  ASSERT_EQ(output_.grants.size(), 1u);
  answer<coordination::Get>(monitor(2, 2, 100));
  Reply created;
  created.path = "/P/A-0000000003";  // somebody else has number 2
  answer<coordination::Create>(created);
  ASSERT_TRUE(engine_.release(1, now_));
  Reply handed_over;
  handed_over.operations.resize(3);
  answer<coordination::Transaction>(handed_over);
  EXPECT_EQ(output_.grants.size(), 1u);
  answer<coordination::List>(listing({"A-0000000002", "A-0000000003", "privateLock"}, 4));
  EXPECT_EQ(output_.grants.size(), 1u);
}

TEST_F(EngineTest, CountIsForgottenWhenTheMonitorIsDeleted) {
  cold_cycle(1);
  engine_.on_watch({coordination::WatchEvent::Kind::deleted, "/P"}, now_);
  acquire(2, Priority::background);
  answer<coordination::Create>({});
  answer<coordination::Transaction>(claimed("B-0000000002", 200));  // the number that was counted, in another monitor
  EXPECT_EQ(output_.grants.size(), 1u);
}

// The server has removed the emptied container while they were on their way: one miss, however many meet it.
TEST_F(EngineTest, ManyRequestsAtARemovedMonitorAreOneMiss) {
  cold_cycle(1);
  constexpr ContenderId first = 10;
  constexpr ContenderId last = 60;
  for (ContenderId id = first; id < last; ++id) acquire(id, Priority::foreground);
  bool created = false;
  while (!created && !output_.sent.empty()) {
    now_ += 1ms;
    const Sent sent = output_.sent.front();
    output_.sent.pop_front();
    created = std::holds_alternative<coordination::Create>(sent.request) &&
              std::get<coordination::Create>(sent.request).mode == coordination::CreateMode::container;
    engine_.on_reply(sent.tag, created ? Reply{} : failure(ReplyCode::no_node), now_);
  }
  EXPECT_TRUE(created);
  EXPECT_TRUE(output_.refusals.empty()) << output_.refusals.size() << " of " << last - first << " were refused";
}

TEST_F(EngineTest, NodeOfAnotherSessionIsNotAdopted) {
  claim_lost_with_the_connection(1);
  answer<coordination::List>(listing({"A-0000000000"}, 1));
  answer<coordination::Get>(node("guid1", our_session + 1));
  answer<coordination::Get>(failure(ReplyCode::no_node));
  ASSERT_EQ(engine_.state(1), ContenderState::enqueueing);  // anew: the node found is not ours
}

TEST_F(EngineTest, OwnNodeIsAdoptedAfterALostReply) {
  claim_lost_with_the_connection(1);
  answer<coordination::List>(listing({"A-0000000000", "privateLock"}, 2));
  answer<coordination::Get>(node("guid1", our_session));
  Reply lock = node("guid1", our_session);
  lock.stat.mzxid = 300;
  answer<coordination::Get>(lock);
  ASSERT_EQ(output_.grants.size(), 1u);
  EXPECT_EQ(output_.grants[0], 300);
}

TEST_F(EngineTest, GrantWaitsForProofThatTheSessionLives) {
  acquire(1, Priority::foreground);
  now_ += 5s;  // the process was stopped: the reply is older than the session's time-out
  answer<coordination::Create>({});
  answer<coordination::Transaction>(claimed("A-0000000000", 100));
  answer<coordination::Get>(monitor(2, 2, 100));
  EXPECT_TRUE(output_.grants.empty());  // the follower has answered, but the leader may not know of it
  while (output_.grants.empty() && now_ < TimePoint(std::chrono::hours(1)) + 8s) {
    now_ = std::max(now_, engine_.next_timer());
    engine_.tick(now_);
    while (!output_.sent.empty()) {
      if (is_question(output_.sent.front().request)) {
        answer<coordination::Transaction>({});
      } else {
        answer_heartbeat({});
      }
    }
  }
  EXPECT_EQ(output_.grants.size(), 1u);
  EXPECT_GT(engine_.valid_until(), now_);
}

// No watch has been set that would tell of it: others may have made the monitor anew, and the same names in it.
TEST_F(EngineTest, AWithheldGrantThatWasRemovedIsNotTold) {
  acquire(1, Priority::foreground);
  now_ += 5s;
  answer<coordination::Create>({});
  answer<coordination::Transaction>(claimed("A-0000000000", 100));
  answer<coordination::Get>(monitor(2, 2, 100));
  while (output_.sent.empty() || !is_question(output_.sent.front().request)) {
    ASSERT_LT(now_, TimePoint(std::chrono::hours(1)) + 20s);
    if (!output_.sent.empty()) {
      answer_heartbeat({});
    } else {
      now_ = std::max(now_, engine_.next_timer());
      engine_.tick(now_);
    }
  }
  const Sent question = output_.sent.front();
  output_.sent.pop_front();
  answer_heartbeats();
  EXPECT_TRUE(output_.grants.empty());
  engine_.on_reply(question.tag, failure(ReplyCode::no_node), now_);
  while (!output_.sent.empty() && !std::holds_alternative<coordination::Create>(output_.sent.front().request)) {
    const Sent sent = output_.sent.front();
    output_.sent.pop_front();
    engine_.on_reply(sent.tag, is_heartbeat(sent.request) ? Reply() : failure(ReplyCode::no_node), now_);
  }
  EXPECT_FALSE(output_.sent.empty()) << "it has begun anew";
  EXPECT_TRUE(output_.grants.empty());
}

// While a claim waits for the proof that the session lives, its monitor can go and come back.
TEST_F(EngineTest, AWithheldGrantIsProvedAgainWhenTheMonitorIsRemoved) {
  acquire(1, Priority::foreground);
  now_ += 5s;
  answer<coordination::Create>({});
  answer<coordination::Transaction>(claimed("A-0000000000", 100));
  answer<coordination::Get>(monitor(2, 2, 100));
  tick_after(2s);
  answer_heartbeat({});
  engine_.on_watch({coordination::WatchEvent::Kind::deleted, "/P"}, now_);
  tick_after(2s);
  answer_heartbeat({});  // resolving
  answer<coordination::Get>(failure(ReplyCode::no_node));
  answer<coordination::List>(failure(ReplyCode::no_node));
  answer_heartbeat({});  // the session lives
  EXPECT_TRUE(output_.grants.empty());
  answer<coordination::Get>(failure(ReplyCode::no_node));  // privateLock
  answer<coordination::Create>({});
  answer<coordination::Transaction>(claimed("A-0000000000", 300));
  EXPECT_EQ(output_.grants, std::vector<Token>{300});
}

// In a monitor that was made anew, the name of a contender's node may be somebody else's.
TEST_F(EngineTest, AfterTheMonitorsRemovalANodeIsLookedAtBeforeItIsRemoved) {
  acquire(1, Priority::foreground, 100ms);
  answer<coordination::Create>(failure(ReplyCode::node_exists));
  answer<coordination::Transaction>(failure(ReplyCode::node_exists));
  answer<coordination::Get>({});
  Reply created;
  created.path = "/P/A-0000000002";
  answer<coordination::Create>(created);
  answer<coordination::List>(listing({"A-0000000002"}, 3));
  ASSERT_EQ(output_.sent.size(), 1u);  // the claim
  engine_.on_watch({coordination::WatchEvent::Kind::deleted, "/P"}, now_);
  tick_after(200ms);
  ASSERT_EQ(output_.refusals.size(), 1u);
  answer<coordination::Transaction>(failure(ReplyCode::node_exists));  // somebody holds, in a new monitor
  answer_heartbeat({});
  answer<coordination::Get>({});
  answer<coordination::List>(listing({"A-0000000002", "privateLock"}, 4));
  answer<coordination::Get>(node("another guid", our_session + 1));
  answer<coordination::Get>(node("another guid", our_session + 1));
  EXPECT_TRUE(output_.sent.empty());
  EXPECT_EQ(output_.forgotten_count, 1);
}

TEST_F(EngineTest, LateReplyDoesNotReviveALockWhoseDeadlineHasPassed) {
  acquire(1, Priority::foreground);
  answer<coordination::Create>({});
  answer<coordination::Transaction>(claimed("A-0000000000", 100));
  ASSERT_EQ(output_.grants.size(), 1u);
  now_ += 5s;
  answer<coordination::Get>({});
  ASSERT_EQ(output_.losses.size(), 1u);
  EXPECT_EQ(output_.losses[0], LossReason::deadline_passed);
  EXPECT_FALSE(engine_.release(1, now_));
  EXPECT_FALSE(engine_.guard(1));
}

TEST_F(EngineTest, HeartbeatsKeepAThirdOfTheTimeoutAhead) {
  cold_cycle(1);
  for (int beat = 0; beat < 20; ++beat) {
    now_ = engine_.next_timer();
    engine_.tick(now_);
    answer_heartbeat({});
  }
  now_ = engine_.next_timer() - 1ms;  // the worst moment
  acquire(2, Priority::foreground);
  answer<coordination::Transaction>(claimed("A-0000000002", 200));
  ASSERT_EQ(output_.grants.size(), 2u);
  tick_after(100ms);
  answer<coordination::Get>(node("", our_session));  // the watches of a lock that is held longer
  answer<coordination::Get>(node("", our_session));
  for (int beat = 0; beat < 40; ++beat) {
    now_ = engine_.next_timer();
    EXPECT_GT(engine_.valid_until() - now_, 4000ms / 3 + 200ms) << "heartbeat " << beat;
    engine_.tick(now_);
    answer_heartbeat({});
  }
}

TEST_F(EngineTest, HoldersOwnNodeIsNoPlaceInTheLine) {
  acquire(1, Priority::background);
  answer<coordination::Create>(failure(ReplyCode::node_exists));
  answer<coordination::Transaction>(failure(ReplyCode::node_exists));
  answer<coordination::Get>({});
  Reply created;
  created.path = "/P/B-0000000002";
  answer<coordination::Create>(created);
  answer<coordination::List>(listing({"B-0000000000", "privateLock", "B-0000000002"}, 3));
  ASSERT_FALSE(output_.positions.empty());
  EXPECT_EQ(output_.positions.back(), (QueuePosition{1, "privateLock"}));
}

TEST_F(EngineTest, TimeOutAnswersAtOnceAndRemovesTheNodeBehindIt) {
  acquire(1, Priority::background, 100ms);
  answer<coordination::Create>(failure(ReplyCode::node_exists));
  answer<coordination::Transaction>(failure(ReplyCode::node_exists));
  answer<coordination::Get>({});
  tick_after(200ms);
  expect_refused(RefusalReason::timed_out);
  Reply created;
  created.path = "/P/B-0000000002";
  answer<coordination::Create>(created);
  answer<coordination::List>(listing({"B-0000000000", "privateLock", "B-0000000002"}, 3));
  const auto removal = answer<coordination::Delete>({});
  EXPECT_EQ(removal.path, "/P/B-0000000002");
  EXPECT_EQ(output_.forgotten_count, 1);
  EXPECT_EQ(engine_.contenders(), 0u);
}

// Until it is watched again, it may be deleted and made anew without a word.
TEST_F(EngineTest, WithoutItsWatchAMonitorsCountProvesNothing) {
  cold_cycle(1);
  engine_.on_watch({coordination::WatchEvent::Kind::data_changed, "/P"}, now_);
  acquire(2, Priority::background);
  answer<coordination::Transaction>(claimed("B-0000000002", 200));
  EXPECT_EQ(output_.grants.size(), 1u);
  const auto watch = answer<coordination::Get>(monitor(2, 4, 200));
  EXPECT_EQ(watch.path, "/P");
  EXPECT_TRUE(watch.watch);
  EXPECT_EQ(output_.grants.size(), 2u);
}

// Where somebody else has been, the next claim brings its listing along, and if it was not needed the one after that
// does without.
TEST_F(EngineTest, AfterAVisitTheSteadyStateComesBack) {
  cold_cycle(1);
  acquire(2, Priority::background);
  answer<coordination::Transaction>(claimed("B-0000000003", 200));
  answer<coordination::List>(listing({"B-0000000003", "privateLock"}, 5));
  release(2);
  acquire(3, Priority::background);
  answer<coordination::Transaction>(claimed("B-0000000005", 300));
  EXPECT_EQ(output_.grants.size(), 3u);
  answer<coordination::List>(listing({"B-0000000005", "privateLock"}, 7));
  release(3);
  acquire(4, Priority::background);
  answer<coordination::Transaction>(claimed("B-0000000007", 400));
  EXPECT_EQ(output_.grants.size(), 4u);
  EXPECT_TRUE(output_.sent.empty());
}

// At its end the sequence counter stands still, and no contender can join the queue.
class CounterEndTest : public EngineTest {
 protected:
  CounterEndTest() {
    ask(1, Priority::foreground);
    answer<coordination::Create>(failure(ReplyCode::node_exists));
    answer<coordination::Transaction>(failure(ReplyCode::node_exists));
    answer<coordination::Get>({});
    answer<coordination::Create>(failure(ReplyCode::node_exists));
  }
};

TEST_F(CounterEndTest, TheClaimIsTriedAgainWhenTheLineChanges) {
  answer<coordination::List>(listing({"A-2147483647", "privateLock"}, 0));
  EXPECT_TRUE(output_.sent.empty());
  event(coordination::WatchEvent::Kind::children_changed, "/P");
  EXPECT_EQ(answer<coordination::Transaction>(failure(ReplyCode::node_exists)).operations.size(), 3u);
  EXPECT_TRUE(output_.refusals.empty());
}

TEST_F(CounterEndTest, TheClaimIsTriedAgainAfterAWhile) {
  answer<coordination::List>(listing({"A-2147483647", "privateLock"}, 0));
  EXPECT_TRUE(output_.sent.empty());
  tick_after(100ms);
  EXPECT_EQ(answer<coordination::Transaction>(failure(ReplyCode::node_exists)).operations.size(), 3u);
}

TEST_F(CounterEndTest, ASingleAttemptIsDecidedByTheServer) {
  answer<coordination::List>(listing({"A-2147483647", "privateLock"}, 0));
  ask(2, Priority::foreground, true);
  answer<coordination::Transaction>(failure(ReplyCode::node_exists));
  expect_refused(RefusalReason::unavailable);
}

TEST_F(CounterEndTest, AnEmptyMonitorIsRenewed) {
  answer<coordination::List>(listing({}, 0));
  EXPECT_EQ(answer<coordination::Delete>({}).path, "/P");
  EXPECT_EQ(answer<coordination::Create>({}).path, "/P");
  answer<coordination::Transaction>(claimed("A-0000000000", 100));
  EXPECT_EQ(output_.grants.size(), 1u);
}

TEST_F(CounterEndTest, AMonitorThatIsNotEmptyAfterAllIsTriedAtOnce) {
  answer<coordination::List>(listing({}, 0));
  EXPECT_EQ(answer<coordination::Delete>(failure(ReplyCode::not_empty)).path, "/P");
  EXPECT_EQ(answer<coordination::Transaction>(failure(ReplyCode::node_exists)).operations.size(), 3u);
}

}  // namespace
}  // namespace forelock::lock
