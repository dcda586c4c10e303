// Background contenders that age, and waiting ones whose priority is changed: what is asked for and when, and what
// becomes of it if it does not succeed.
#include "engine_fixture.h"

namespace forelock::lock {
namespace {

constexpr auto period = 2s;

EngineOptions ageing() {
  EngineOptions options;
  options.background_max_wait = period;
  return options;
}

class EngineMovesTest : public EngineTest {
 protected:
  explicit EngineMovesTest(EngineOptions options = ageing()) : EngineTest(std::move(options)) {}

  // Ticks until something is sent that is no heartbeat, or until `end`. \returns how long that took.
  Duration wait_for_request(TimePoint end) {
    const TimePoint begin = now_;
    for (;;) {
      answer_heartbeats();
      if (!output_.sent.empty() || engine_.next_timer() > end) return now_ - begin;
      wait();
    }
  }
  Duration wait_for_request() { return wait_for_request(now_ + 1h); }

  // Looks are answered by this; the first request of another kind is left.
  Duration wait_for_move(const Reply& line, TimePoint end) {
    const TimePoint begin = now_;
    for (;;) {
      wait_for_request(end);
      if (output_.sent.empty()) return now_ - begin;
      const Request& next = output_.sent.front().request;
      if (std::holds_alternative<List>(next)) {
        answer<List>(line);
      } else if (std::holds_alternative<Get>(next)) {
        answer<Get>({});
      } else {
        return now_ - begin;
      }
    }
  }
  Duration wait_for_move(const Reply& line) { return wait_for_move(line, now_ + 1h); }

  static Reply moved_to(const std::string& node) {
    Reply reply;
    reply.operations.resize(2);
    reply.operations[0].path = "/P/" + node;
    return reply;
  }

  static void expect_move(const Transaction& move, const std::string& new_prefix, const std::string& old_node) {
    ASSERT_EQ(move.operations.size(), 2u);
    EXPECT_EQ(std::get<Create>(move.operations[0]).path, "/P/" + new_prefix + "-");
    EXPECT_EQ(std::get<Create>(move.operations[0]).mode, coordination::CreateMode::ephemeral_sequential);
    EXPECT_EQ(std::get<Delete>(move.operations[1]).path, "/P/" + old_node);
    EXPECT_FALSE(move.groupable);
  }

  // Contender 1 of the background waits behind a holder of the foreground.
  void join_behind_foreground() { join(1, Priority::background, "B-0000000003", behind_foreground_); }

  const Reply behind_foreground_ = listing({"A-0000000002", "privateLock", "B-0000000003"}, 4);
};

// --- ageing ---

TEST_F(EngineMovesTest, TheFirstOfTheBackgroundMovesAfterOnePeriod) {
  join_behind_foreground();
  const Duration waited = wait_for_move(behind_foreground_);
  EXPECT_GE(waited, period);
  EXPECT_LT(waited, period + 500ms);
  expect_move(answer<Transaction>(moved_to("A-0000000004")), "A", "B-0000000003");
  EXPECT_EQ(output_.moves, std::vector{Priority::foreground});
  EXPECT_TRUE(engine_.moved(1));
  // From then on it claims by its new node, when what is before that has gone.
  wait_for_request();
  answer<List>(listing({"A-0000000004"}, 5));
  const auto claim = answer<Transaction>(failure(ReplyCode::no_node));
  EXPECT_EQ(std::get<Check>(claim.operations[0]).path, "/P/A-0000000004");
}

TEST_F(EngineMovesTest, WithOneOfItsClassBeforeItItWaitsForTwo) {
  const Reply line = listing({"A-0000000001", "privateLock", "B-0000000002", "B-0000000003"}, 4);
  join(1, Priority::background, "B-0000000003", line);
  EXPECT_GE(wait_for_move(line), 2 * period);
  expect_move(answer<Transaction>(moved_to("A-0000000004")), "A", "B-0000000003");
}

TEST_F(EngineMovesTest, ItsTimeBeginsAnewWhenOneBeforeItHasGone) {
  const Reply two = listing({"A-0000000001", "privateLock", "B-0000000002", "B-0000000003"}, 4);
  join(1, Priority::background, "B-0000000003", two);
  wait_for_move(two, now_ + period + 1s);
  ASSERT_TRUE(output_.sent.empty());
  const Reply one = listing({"A-0000000001", "privateLock", "B-0000000003"}, 4);
  event(coordination::WatchEvent::Kind::children_changed, "/P");
  const Duration waited = wait_for_move(one);
  EXPECT_GE(waited, period);
  EXPECT_LT(waited, period + 500ms);
}

TEST_F(EngineMovesTest, ItStaysWhereNobodyOfTheForegroundIsBeforeIt) {
  const Reply line = listing({"B-0000000002", "privateLock", "B-0000000003"}, 4);
  join(1, Priority::background, "B-0000000003", line);
  wait_for_move(line, now_ + 10 * period);
  EXPECT_TRUE(output_.sent.empty());
  EXPECT_FALSE(engine_.moved(1));
}

TEST_F(EngineMovesTest, OfOneProcessOnlyTheFirstMoves) {
  join_behind_foreground();
  answer<Get>({});  // the watch on what is before it
  ask(2, Priority::background);
  answer<Create>(created("B-0000000004"));
  const Reply line = listing({"A-0000000002", "privateLock", "B-0000000003", "B-0000000004"}, 5);
  wait_for_move(line);
  expect_move(answer<Transaction>(moved_to("A-0000000005")), "A", "B-0000000003");
  const Reply later = listing({"A-0000000002", "privateLock", "A-0000000005", "B-0000000004"}, 6);
  EXPECT_GE(wait_for_move(later), period);
  expect_move(answer<Transaction>(moved_to("A-0000000006")), "A", "B-0000000004");
}

// --- those for which somebody waits ---

class EngineRaiseTest : public EngineMovesTest {
 protected:
  EngineRaiseTest() : EngineMovesTest(EngineOptions{}) {}
};

TEST_F(EngineRaiseTest, AWaitingContenderMovesAndKeepsItsClass) {
  join_behind_foreground();
  answer<Get>({});
  engine_.raise(1, Priority::foreground, now_);
  expect_move(answer<Transaction>(moved_to("A-0000000004")), "A", "B-0000000003");
  EXPECT_EQ(output_.moves, std::vector{Priority::foreground});
  EXPECT_TRUE(engine_.moved(1));
  output_.sent.clear();
  engine_.raise(1, Priority::foreground, now_);
  EXPECT_TRUE(output_.sent.empty()) << "it is there";
}

TEST_F(EngineRaiseTest, OneWhoseClaimIsUnderWayMovesWhenItFails) {
  ask(1, Priority::background);
  engine_.raise(1, Priority::foreground, now_);
  answers<Create, Transaction, Get>(failure(ReplyCode::node_exists), failure(ReplyCode::node_exists), {});
  answer<Create>(created("B-0000000003"));
  while (!output_.sent.empty() && std::holds_alternative<List>(output_.sent.front().request)) {
    answer<List>(behind_foreground_);
  }
  expect_move(answer<Transaction>(moved_to("A-0000000004")), "A", "B-0000000003");
}

TEST_F(EngineRaiseTest, OneThatHasNoNodeYetIsOfTheOtherRankAtOnce) {
  disconnect();
  ask(1, Priority::background);
  engine_.raise(1, Priority::foreground, now_);
  EXPECT_TRUE(output_.sent.empty());
  connect();
  answer<Create>({});
  const auto claim = answer<Transaction>(claimed("A-0000000000", 100));
  EXPECT_EQ(std::get<Create>(claim.operations[0]).path, "/P/A-");
  EXPECT_TRUE(engine_.moved(1));
}

TEST_F(EngineRaiseTest, AMoveThatTheServerRefusesIsAskedForAgain) {
  join_behind_foreground();
  answer<Get>({});
  engine_.raise(1, Priority::foreground, now_);
  answer<Transaction>(failure(ReplyCode::no_auth));
  EXPECT_TRUE(output_.sent.empty() || !std::holds_alternative<Transaction>(output_.sent.front().request))
      << "not at once";
  wait_for_move(behind_foreground_, now_ + 1s);
  expect_move(answer<Transaction>(moved_to("A-0000000004")), "A", "B-0000000003");
}

TEST_F(EngineRaiseTest, AHolderIsLeftAlone) {
  acquire(1, Priority::background);
  answers<Create, Transaction, Get>({}, claimed("B-0000000000", 100), monitor(2, 2, 100));
  ASSERT_EQ(output_.grants.size(), 1u);
  engine_.raise(1, Priority::foreground, now_);
  EXPECT_TRUE(output_.sent.empty());
  EXPECT_EQ(engine_.waiting_behind(1), std::nullopt);
  engine_.raise(7, Priority::foreground, now_);  // unknown
}

// As it is now, not as it once was.
TEST_F(EngineRaiseTest, AHolderMayAskWhoWaits) {
  acquire(1, Priority::background);
  answers<Create, Transaction, Get>({}, claimed("B-0000000000", 100), monitor(2, 2, 100));
  engine_.want_contention(1, now_);
  EXPECT_EQ(engine_.waiting_behind(1), std::nullopt);
  answer<List>(listing({"B-0000000000", "privateLock", "A-0000000001"}, 3));
  EXPECT_EQ(engine_.waiting_behind(1), Priority::foreground);
  event(coordination::WatchEvent::Kind::children_changed, "/P");
  EXPECT_EQ(engine_.waiting_behind(1), std::nullopt) << "who knows";
  answer<List>(listing({"B-0000000000", "privateLock", "B-0000000002"}, 4));
  EXPECT_EQ(engine_.waiting_behind(1), Priority::background);
  EXPECT_EQ(output_.contentions, (std::vector{Priority::foreground, Priority::background}));
  EXPECT_EQ(engine_.waiting_behind(7), std::nullopt) << "unknown";
}

// --- what becomes of it ---

TEST_F(EngineMovesTest, WhoseNodeWasRemovedBeginsAnewInItsOwnClass) {
  join_behind_foreground();
  wait_for_move(behind_foreground_);
  Reply refused = failure(ReplyCode::no_node);
  refused.refused_operation = 1;
  answer<Transaction>(std::move(refused));
  EXPECT_TRUE(output_.moves.empty());
  EXPECT_EQ(answer<Create>(created("B-0000000009")).path, "/P/B-");
}

TEST_F(EngineMovesTest, ARefusedMoveBeginsItsTimeAnew) {
  join_behind_foreground();
  wait_for_move(behind_foreground_);
  answer<Transaction>(failure(ReplyCode::no_auth));
  EXPECT_GE(wait_for_move(behind_foreground_), period);
  expect_move(answer<Transaction>(moved_to("A-0000000004")), "A", "B-0000000003");
}

TEST_F(EngineMovesTest, AfterALostReplyTheNewNodeIsFound) {
  join_behind_foreground();
  wait_for_move(behind_foreground_);
  answer<Transaction>(failure(ReplyCode::connection_loss));
  reconnect();
  answer<Get>({});  // the monitor
  answer<List>(listing({"A-0000000002", "A-0000000004", "privateLock"}, 5));
  EXPECT_EQ(answer<Get>(node("guid1", our_session)).path, "/P/A-0000000004");
  answer<Get>(node("", 99));
  EXPECT_EQ(output_.moves, std::vector{Priority::foreground});
  EXPECT_EQ(engine_.state(1), ContenderState::waiting);
}

TEST_F(EngineMovesTest, OrTheFormerOneIfNothingWasApplied) {
  join_behind_foreground();
  wait_for_move(behind_foreground_);
  answer<Transaction>(failure(ReplyCode::connection_loss));
  reconnect();
  answers<Get, List>({}, behind_foreground_);
  EXPECT_EQ(answer<Get>(node("guid1", our_session)).path, "/P/B-0000000003");
  answer<Get>(node("", 99));
  EXPECT_TRUE(output_.moves.empty());
  wait_for_move(behind_foreground_);
  expect_move(answer<Transaction>(moved_to("A-0000000004")), "A", "B-0000000003");
}

TEST_F(EngineMovesTest, WhoIsGivenUpWhileItMovesLeavesNothing) {
  join_behind_foreground();
  wait_for_move(behind_foreground_);
  ASSERT_TRUE(engine_.cancel(1, now_));
  ASSERT_EQ(output_.refusals.size(), 1u);
  answer<Transaction>(moved_to("A-0000000004"));
  EXPECT_TRUE(output_.moves.empty());
  EXPECT_EQ(answer<Delete>({}).path, "/P/A-0000000004");
  EXPECT_EQ(output_.forgotten_count, 1);
}

class EngineOwnHolderTest : public EngineMovesTest {
 protected:
  EngineOwnHolderTest() : EngineMovesTest(options()) {}

  static EngineOptions options() {
    EngineOptions options = ageing();
    options.hold_watch_delay = 1h;  // no looks of the holder's in between
    return options;
  }
};

// Foreground contenders of one process may take the lock one after the other and never wait for it.
TEST_F(EngineOwnHolderTest, AHolderOfItsOwnProcessIsBeforeItAsWell) {
  cold_cycle(1);
  ask(2, Priority::foreground);
  answer<Transaction>(claimed("A-0000000002", 200));
  ASSERT_EQ(engine_.state(2), ContenderState::held);
  ask(3, Priority::background);
  answer<Create>(created("B-0000000004"));
  wait_for_move(listing({"A-0000000002", "privateLock", "B-0000000004"}, 5), now_ + 2 * period);
  ASSERT_FALSE(output_.sent.empty());
  expect_move(answer<Transaction>(moved_to("A-0000000005")), "A", "B-0000000004");
}

// --- the caller's own wish ---

class EnginePriorityTest : public EngineMovesTest {
 protected:
  EnginePriorityTest() : EngineMovesTest(EngineOptions()) {}
};

TEST_F(EnginePriorityTest, AWaitingContenderMovesAtOnce) {
  join_behind_foreground();
  answer<Get>({});  // the watch on what is before it
  ASSERT_TRUE(engine_.set_priority(1, Priority::foreground, {}, now_));
  expect_move(answer<Transaction>(moved_to("A-0000000004")), "A", "B-0000000003");
  EXPECT_EQ(output_.moves, std::vector{Priority::foreground});
  EXPECT_FALSE(engine_.moved(1));  // its class is that of its queue
}

TEST_F(EnginePriorityTest, TheLastWishCounts) {
  join_behind_foreground();
  answer<Get>({});
  ASSERT_TRUE(engine_.set_priority(1, Priority::foreground, {}, now_));
  ASSERT_TRUE(engine_.set_priority(1, Priority::background, {}, now_));
  expect_move(answer<Transaction>(moved_to("A-0000000004")), "A", "B-0000000003");
  wait_for_move(listing({"A-0000000002", "A-0000000004", "privateLock"}, 5), now_ + 1s);
  expect_move(answer<Transaction>(moved_to("B-0000000005")), "B", "A-0000000004");
}

TEST_F(EnginePriorityTest, WhoIsOnItsWayIntoTheQueueMovesWhenItIsThere) {
  ask(1, Priority::background);
  answers<Create, Transaction, Get>(failure(ReplyCode::node_exists), failure(ReplyCode::node_exists), {});
  ASSERT_TRUE(engine_.set_priority(1, Priority::foreground, {}, now_));
  answers<Create, List>(created("B-0000000003"), behind_foreground_);
  expect_move(answer<Transaction>(moved_to("A-0000000004")), "A", "B-0000000003");
}

TEST_F(EnginePriorityTest, AHolderIsLeftAlone) {
  cold_cycle(1);
  acquire(2, Priority::background);
  EXPECT_FALSE(engine_.set_priority(2, Priority::foreground, {}, now_));  // it may have it already
  answer<Transaction>(claimed("B-0000000002", 200));
  ASSERT_EQ(output_.grants.back(), 200);
  EXPECT_FALSE(engine_.set_priority(2, Priority::foreground, {}, now_));
}

// As a member of a set is that has aged: once its caller has said what it wants, that counts.
TEST_F(EnginePriorityTest, WhoIsToldItsPriorityHasNoOtherRankAnyMore) {
  cold_cycle(1);
  disconnect();
  AcquireSpec spec = spec_of(2, Priority::background);
  spec.rank = Priority::foreground;
  engine_.acquire(2, std::move(spec), now_);
  ASSERT_TRUE(engine_.set_priority(2, Priority::foreground, {}, now_));
  ASSERT_TRUE(engine_.set_priority(2, Priority::background, {}, now_));
  EXPECT_FALSE(engine_.moved(2));
  connect();
  while (!output_.sent.empty() && !std::holds_alternative<Transaction>(output_.sent.front().request)) {
    output_.sent.pop_front();
  }
  const auto claim = answer<Transaction>(claimed("B-0000000002", 200));
  EXPECT_EQ(std::get<Create>(claim.operations.at(0)).path, "/P/B-");
}

TEST_F(EnginePriorityTest, NobodyGoesBeforeOneThatMayStillStandBeforeIt) {
  cold_cycle(1);
  acquire(2, Priority::foreground);
  answer<Transaction>(claimed("A-0000000002", 200));
  ask(3, Priority::foreground);
  answer<Create>(created("A-0000000004"));
  ask(4, Priority::foreground);
  answer<Create>(created("A-0000000005"));
  ASSERT_TRUE(engine_.set_priority(3, Priority::background, {}, now_));
  ASSERT_TRUE(engine_.release(2, now_));
  // The move of 3 may be refused, so that its place is before that of 4: no hand-over to 4, and no claim.
  expect_move(answer<Transaction>(failure(ReplyCode::no_auth)), "B", "A-0000000004");
  const auto release = answer<Transaction>({});
  ASSERT_EQ(release.operations.size(), 2u);
  EXPECT_TRUE(std::holds_alternative<Delete>(release.operations[1]));
}

}  // namespace
}  // namespace forelock::lock
