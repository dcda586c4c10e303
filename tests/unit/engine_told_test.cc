// What callers are told while they wait and hold: places, who waits behind them, why they are refused, and that a
// monitor's counter comes near its end.
#include "engine_fixture.h"

namespace forelock::lock {
namespace {

class EngineToldTest : public EngineTest {
 protected:
  // As join(), and it wants to be told its place.
  void join_told(ContenderId id, Priority priority, const std::string& node, const Reply& line,
                 Duration patience = 1min) {
    acquire(id, priority, patience);
    answers<Create, Transaction, Get>(failure(ReplyCode::node_exists), failure(ReplyCode::node_exists), {});
    answer<Create>(created(node));
    EXPECT_TRUE(output_.positions.empty());  // nothing is known of the others before the first look
    answer<List>(line);
  }

  void line_changes(const Reply& line) {
    event(WatchEvent::Kind::children_changed, "/P");
    tick_after(5ms);
    answer<List>(line);
  }

  // A holder that wants to know who waits.
  void hold_told(ContenderId id) {
    AcquireSpec spec = spec_of(id, Priority::foreground);
    spec.contention = ContentionScope::all;
    engine_.acquire(id, std::move(spec), now_);
    answers<Create, Transaction, Get>({}, claimed("A-0000000000", 100), monitor(2, 2, 100));
    ASSERT_EQ(output_.grants.size(), 1u);
    answer<List>(listing({"A-0000000000", "privateLock"}, 2));
  }

  void end_session() { expire(); }
};

// Its permission to list the monitor was taken away: to ask again and again would only keep the servers busy.
TEST_F(EngineToldTest, AHolderThatMayNotLookAsksInIntervals) {
  hold_told(1);
  answer_heartbeats();
  const auto lists = [this] {
    return std::count_if(output_.sent.begin(), output_.sent.end(),
                         [](const Sent& one) { return std::holds_alternative<List>(one.request); });
  };
  const auto pass = [this](Duration time) {
    tick_after(time);
    answer_heartbeats();
    while (!output_.sent.empty() && std::holds_alternative<Get>(output_.sent.front().request)) {
      answer<Get>(node("guid1", our_session));
    }
  };
  event(WatchEvent::Kind::children_changed, "/P");
  for (int look = 0; look < 3; ++look) {
    pass(look == 0 ? 0ms : 60ms);
    ASSERT_EQ(lists(), 1) << "look " << look;
    answer<List>(failure(ReplyCode::no_auth));
    pass(200ms);
    EXPECT_EQ(lists(), 0) << "look " << look;
  }
  EXPECT_TRUE(output_.losses.empty());
}

// --- places ---

TEST_F(EngineToldTest, APlaceCountsThoseBeforeWithoutTheHolder) {
  join_told(
      1, Priority::background, "B-0000000007",
      listing({"A-0000000000", "privateLock", "A-0000000002", "B-0000000003", "A-0000000004", "B-0000000007"}, 8));
  EXPECT_EQ(output_.positions, (std::vector<QueuePosition>{{4, "B-0000000003"}}));
  acquire(2, Priority::background);
  answer<Create>(created("B-0000000008"));
  answer<List>(listing(
      {"A-0000000000", "privateLock", "A-0000000002", "B-0000000003", "A-0000000004", "B-0000000007", "B-0000000008"},
      9));
  EXPECT_EQ(output_.positions.size(), 2u);  // the first one's has not changed
  EXPECT_EQ(output_.positions.back(), (QueuePosition{5, "B-0000000007"}));
  line_changes(listing({"A-0000000004", "privateLock", "B-0000000007", "B-0000000008"}, 9));
  ASSERT_EQ(output_.positions.size(), 4u);
  EXPECT_EQ(output_.positions[2], (QueuePosition{1, "privateLock"}));
  EXPECT_EQ(output_.positions[3], (QueuePosition{2, "B-0000000007"}));
}

TEST_F(EngineToldTest, APlaceIsToldWhenItChangesAndOnlyThen) {
  const Reply line = listing({"A-0000000000", "privateLock", "A-0000000001", "A-0000000002"}, 3);
  join_told(1, Priority::foreground, "A-0000000002", line);
  for (int i = 0; i < 3; ++i) line_changes(line);
  EXPECT_EQ(output_.positions, (std::vector<QueuePosition>{{2, "A-0000000001"}}));
}

TEST_F(EngineToldTest, AHolderOfThisProcessIsNoneOfTheOthers) {
  ask(1, Priority::background);
  answers<Create, Transaction, Get>({}, claimed("B-0000000000", 100), monitor(2, 2, 100));
  ASSERT_EQ(output_.grants.size(), 1u);
  acquire(2, Priority::background);
  answer<Create>(created("B-0000000002"));
  EXPECT_EQ(output_.positions.back(), (QueuePosition{1, "privateLock"}));
  tick_after(5ms);
  answer<List>(listing({"B-0000000000", "privateLock", "B-0000000002", "A-0000000003"}, 4));
  EXPECT_EQ(output_.positions.back(), (QueuePosition{2, "A-0000000003"}));
}

// It is not known which of them holds: the foreground one, or the background one.
TEST_F(EngineToldTest, AHolderThatMayBeOfTheLowerClassIsNotTakenFromThePlace) {
  join_told(1, Priority::foreground, "A-0000000002",
            listing({"A-0000000000", "B-0000000001", "privateLock", "A-0000000002"}, 3));
  EXPECT_EQ(output_.positions.back(), (QueuePosition{2, "A-0000000000"}));
}

TEST_F(EngineToldTest, ARefusalHasTheLastPlace) {
  join_told(1, Priority::foreground, "A-0000000002",
            listing({"A-0000000000", "privateLock", "A-0000000001", "A-0000000002"}, 3), 1s);
  tick_after(1s);
  expect_refused(RefusalReason::timed_out);
  EXPECT_EQ(output_.refusals[0].position, (QueuePosition{2, "A-0000000001"}));
}

// Also of one that was never told its place, and although the queue has changed since.
TEST_F(EngineToldTest, ARefusalHasThePlaceThatWasSeenLast) {
  join(1, Priority::foreground, "A-0000000002",
       listing({"A-0000000000", "privateLock", "A-0000000001", "A-0000000002"}, 3));
  event(WatchEvent::Kind::children_changed, "/P");
  tick_after(1min);
  ASSERT_EQ(output_.refusals.size(), 1u);
  EXPECT_EQ(output_.refusals[0].position, (QueuePosition{2, "A-0000000001"}));
}

// Others pay for one that wants to know its place with a listing for each change, as long as it is there.
TEST_F(EngineToldTest, WhenTheOneThatWantedItsPlaceHasGoneChangesAreLeftAlone) {
  join_told(1, Priority::foreground, "A-0000000002", listing({"A-0000000000", "privateLock", "A-0000000002"}, 3));
  answer<Get>({});
  ASSERT_TRUE(engine_.cancel(1, now_));
  answer<Delete>({});
  ask(2, Priority::foreground);
  answers<Create, List>(created("A-0000000003"), listing({"A-0000000000", "privateLock", "A-0000000003"}, 4));
  if (!output_.sent.empty()) answer<Get>({});
  event(WatchEvent::Kind::children_changed, "/P");
  EXPECT_TRUE(output_.sent.empty());
}

// --- who waits behind a holder ---

TEST_F(EngineToldTest, EachClassThatWaitsIsToldOnce) {
  hold_told(1);
  EXPECT_TRUE(output_.contentions.empty());
  line_changes(listing({"A-0000000000", "privateLock", "B-0000000002"}, 3));
  EXPECT_EQ(output_.contentions, std::vector{Priority::background});
  line_changes(listing({"A-0000000000", "privateLock", "B-0000000002", "A-0000000003"}, 4));
  const std::vector both{Priority::background, Priority::foreground};
  EXPECT_EQ(output_.contentions, both);
  line_changes(listing({"A-0000000000", "privateLock", "B-0000000002", "A-0000000003", "B-0000000004"}, 5));
  ask(2, Priority::foreground);
  answer<Create>(created("A-0000000005"));
  EXPECT_EQ(output_.contentions, both);
}

TEST_F(EngineToldTest, AContenderWithAnotherPrefixIsToldOfAsTheClassBeforeWhichItGoes) {
  hold_told(1);
  line_changes(listing({"A-0000000000", "privateLock", "C-0000000002"}, 3));
  EXPECT_EQ(output_.contentions, std::vector{Priority::background});
  line_changes(listing({"A-0000000000", "privateLock", "C-0000000002", "1-0000000003"}, 4));
  const std::vector both{Priority::background, Priority::foreground};
  EXPECT_EQ(output_.contentions, both);
}

TEST_F(EngineToldTest, ContendersOfThisProcessAreToldOfAsWell) {
  hold_told(1);
  ask(2, Priority::background);
  answer<Create>(created("B-0000000002"));
  EXPECT_EQ(output_.contentions, std::vector{Priority::background});
}

TEST_F(EngineToldTest, AfterAStepAsideTheNextTurnIsToldAnew) {
  hold_told(1);
  line_changes(listing({"A-0000000000", "privateLock", "B-0000000002"}, 3));
  ASSERT_EQ(output_.contentions.size(), 1u);
  ASSERT_TRUE(engine_.step_aside(1, now_ + 1min, now_));
  for (int request = 0; request < 10 && output_.grants.size() < 2; ++request) {
    ASSERT_FALSE(output_.sent.empty());
    if (std::holds_alternative<List>(output_.sent.front().request)) {
      answer<List>(listing({"A-0000000000", "B-0000000002"}, 3));
    } else if (std::holds_alternative<Get>(output_.sent.front().request)) {
      answer<Get>({});
    } else {
      answer<Transaction>(claimed("", 200));
    }
  }
  ASSERT_EQ(output_.grants.size(), 2u);
  EXPECT_EQ(output_.contentions.size(), 2u);
}

// --- the counter ---

TEST_F(EngineToldTest, AHighNumberIsToldOnceWhoeverHasIt) {
  join(1, Priority::background, "B-0000000002", listing({"A-1073741824", "privateLock", "B-0000000002"}, 3));
  EXPECT_EQ(output_.high_numbers, std::vector<std::int64_t>{1073741824});
  while (!output_.sent.empty()) answer<Get>({});
  event(WatchEvent::Kind::children_changed, "/P");
  tick_after(10s);
  answer_heartbeats();
  bool listed = false;
  while (!output_.sent.empty() && !listed) {
    listed = std::holds_alternative<List>(output_.sent.front().request);
    if (listed) {
      answer<List>(listing({"A-1073741825", "privateLock", "B-0000000002"}, 3));
    } else {
      answer<Get>({});
    }
  }
  EXPECT_TRUE(listed);
  EXPECT_EQ(output_.high_numbers.size(), 1u);
}

TEST_F(EngineToldTest, ANumberBehindTheCountersEndIsHigh) {
  join(1, Priority::background, "B-0000000002", listing({"A--2147483648", "privateLock", "B-0000000002"}, 3));
  EXPECT_EQ(output_.high_numbers, std::vector<std::int64_t>{-2147483648LL});
}

TEST_F(EngineToldTest, EveryMonitorOfTheNameIsToldOfItsOwnCounter) {
  for (const Token token : {100, 200}) {
    ask(static_cast<ContenderId>(token), Priority::foreground);
    answers<Create, Transaction, Get>({}, claimed("A-1073741824", token), monitor(2, 2, token));
    release(static_cast<ContenderId>(token));
    EXPECT_EQ(answer<Delete>({}).path, "/P");
  }
  EXPECT_EQ(output_.high_numbers.size(), 2u);
}

// --- why ---

TEST_F(EngineToldTest, TheEndOfTheSessionIsTheReasonForEveryCaller) {
  cold_cycle(1);
  for (ContenderId id = 2; id < 5; ++id) acquire(id, Priority::foreground);
  answers<Transaction, Create, Create>(claimed("A-0000000002", 200), created("A-0000000004"), created("A-0000000005"));
  ASSERT_TRUE(engine_.release(2, now_));
  Reply handed_over;
  handed_over.operations.resize(3);
  answer<Transaction>(handed_over);
  ASSERT_EQ(output_.grants.size(), 3u);  // 3 holds, 4 waits
  end_session();
  EXPECT_EQ(output_.losses, std::vector{LossReason::session_expired});
  expect_refused(RefusalReason::session_expired);
}

TEST_F(EngineToldTest, AReleaseThatTheSessionsEndOvertakesIsNoRelease) {
  cold_cycle(1);
  acquire(2, Priority::foreground);
  answer<Transaction>(claimed("A-0000000002", 200));
  ASSERT_TRUE(engine_.release(2, now_));
  end_session();
  EXPECT_EQ(output_.releases.back(), ReleaseOutcome::session_expired);
  EXPECT_EQ(output_.releases.size(), 2u);
}

TEST_F(EngineToldTest, CloseIsTheReasonForEveryCaller) {
  cold_cycle(1);
  acquire(2, Priority::foreground);
  answer<Transaction>(claimed("A-0000000002", 200));
  acquire(3, Priority::foreground);
  engine_.close(now_);
  EXPECT_EQ(output_.losses, std::vector{LossReason::closed});
  expect_refused(RefusalReason::closed);
  acquire(4, Priority::foreground);
  ASSERT_EQ(output_.refusals.size(), 2u);
  EXPECT_EQ(output_.refusals[1].reason, RefusalReason::closed);
}

TEST_F(EngineToldTest, AListingThatIsRefusedIsTheReasonForAllThatWait) {
  ask(1, Priority::foreground);
  answers<Create, Transaction, Get>(failure(ReplyCode::node_exists), failure(ReplyCode::node_exists), {});
  answers<Create, List>(created("A-0000000002"), failure(ReplyCode::no_auth));
  expect_refused(RefusalReason::rejected);
  EXPECT_EQ(output_.refusals[0].code, ReplyCode::no_auth);
  EXPECT_EQ(answer<Delete>({}).path, "/P/A-0000000002");
  EXPECT_EQ(engine_.contenders(), 0u);
}

// A release that is under way has its own answer.
TEST_F(EngineToldTest, AListingThatIsRefusedIsNoAnswerToARelease) {
  ask(1, Priority::background);
  answers<Create, Transaction, Get>({}, claimed("B-0000000000", 100), monitor(2, 2, 100));
  ask(2, Priority::background);
  answer<Create>(created("B-0000000002"));
  tick_after(5ms);  // looks at the queue
  ASSERT_TRUE(engine_.release(1, now_));
  answer<List>(failure(ReplyCode::no_auth));
  EXPECT_EQ(output_.refusals.size(), 1u);
  answer<Transaction>(claimed("", 200));
  EXPECT_EQ(output_.releases, std::vector{ReleaseOutcome::released});
  EXPECT_EQ(output_.refusals.size(), 1u);
}

TEST_F(EngineToldTest, AClaimThatIsRefusedLeavesNoNode) {
  join(1, Priority::background, "B-0000000002", listing({"B-0000000002"}, 3));
  answer<Transaction>(failure(ReplyCode::no_auth));
  ASSERT_EQ(output_.refusals.size(), 1u);
  EXPECT_EQ(output_.refusals[0].code, ReplyCode::no_auth);
  while (!output_.sent.empty() && std::holds_alternative<List>(output_.sent.front().request)) {
    answer<List>(listing({"B-0000000002"}, 3));
  }
  EXPECT_EQ(answer<Delete>({}).path, "/P/B-0000000002");
  EXPECT_EQ(engine_.contenders(), 0u);
}

// Whether it was made is not known: the requests behind it tell.
TEST_F(EngineToldTest, AMonitorWhoseCreationHasNoAnswerIsNoRefusal) {
  ask(1, Priority::foreground);
  answers<Create, Transaction>(failure(ReplyCode::server_error), claimed("A-0000000000", 100));
  EXPECT_TRUE(output_.refusals.empty());
  answer<Get>(monitor(2, 2, 100));
  EXPECT_EQ(output_.grants.size(), 1u);
}

TEST_F(EngineToldTest, AMonitorThatCouldNotBeMadeIsMadeByTheNextCall) {
  ask(1, Priority::foreground);
  answer<Create>(failure(ReplyCode::no_auth));
  ASSERT_EQ(output_.refusals.size(), 1u);
  answers<Transaction, Get>(failure(ReplyCode::no_node), failure(ReplyCode::no_node));
  ask(2, Priority::foreground);
  EXPECT_EQ(answer<Create>({}).path, "/P");
}

// Once in a while a server removes an empty container between two requests; ten times in a row something is wrong.
TEST_F(EngineToldTest, AMonitorThatVanishesAgainAndAgainIsGivenUp) {
  ask(1, Priority::foreground);
  int claims = 0;
  while (output_.refusals.empty() && claims < 50) {
    answers<Create, Transaction>({}, failure(ReplyCode::no_node));
    ++claims;
    while (!output_.sent.empty() && !std::holds_alternative<Create>(output_.sent.front().request)) {
      now_ += 1ms;
      const Sent sent = output_.sent.front();
      output_.sent.pop_front();
      engine_.on_reply(sent.tag, failure(ReplyCode::no_node), now_);
      ASSERT_LT(++claims, 200);
    }
  }
  expect_refused(RefusalReason::rejected);
  EXPECT_EQ(output_.refusals[0].code, ReplyCode::no_node);
}

TEST_F(EngineToldTest, ASingleAttemptThatOthersGoBeforeIsRefusedAndLeavesNothing) {
  cold_cycle(1);
  ask(2, Priority::background, true);
  answers<Transaction, List>(claimed("B-0000000003", 200), listing({"A-0000000002", "B-0000000003", "privateLock"}, 5));
  expect_refused(RefusalReason::unavailable);
  const auto freed = answer<Transaction>({});
  ASSERT_EQ(freed.operations.size(), 2u);
  EXPECT_EQ(std::get<Delete>(freed.operations[0]).path, "/P/B-0000000003");
  EXPECT_EQ(std::get<Delete>(freed.operations[1]).path, "/P/privateLock");
  EXPECT_EQ(engine_.contenders(), 0u);
}

// It has a place in the queue by then, and waits until its deadline.
TEST_F(EngineToldTest, ASingleAttemptThatStepsAsideWaitsForItsNextTurn) {
  cold_cycle(1);
  ask(2, Priority::background, true);
  answer<Transaction>(claimed("B-0000000002", 200));
  ASSERT_EQ(output_.grants.size(), 2u);
  ASSERT_TRUE(engine_.step_aside(2, now_ + 1min, now_));
  answers<Transaction, List, Transaction>({}, listing({"B-0000000002"}, 4), claimed("", 300));
  answer<List>(listing({"A-0000000004", "B-0000000002", "privateLock"}, 6));  // it came in between
  EXPECT_TRUE(output_.refusals.empty());
  EXPECT_EQ(answer<Transaction>({}).operations.size(), 2u);  // gives the lock back, and keeps its node
  EXPECT_EQ(engine_.state(2), ContenderState::waiting);
}

}  // namespace
}  // namespace forelock::lock
