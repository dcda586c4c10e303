// Rules of the protocol that one deliberate change each would break: what every request says, and when a caller is
// told.
#include "engine_fixture.h"

namespace forelock::lock {
namespace {

class EngineRulesTest : public EngineTest {
 protected:
  // A lock of a monitor that is known to be empty; `number` as counted.
  void hold(ContenderId id, const std::string& number, Token token) {
    acquire(id, Priority::foreground);
    answer<Transaction>(claimed("A-" + number, token));
    ASSERT_EQ(output_.grants.back(), token);
  }

  // What a resolving finds when nothing of ours is left.
  void answer_that_nothing_is_there() {
    answer_heartbeat({});
    answers<List, Get>(listing({}, 4), failure(ReplyCode::no_node));
  }
};

// --- what requests say ---

TEST_F(EngineRulesTest, TheNodeOfAClaimAtOnceHasItsOwnRecordAndThatOfAWaiterTheWholeOne) {
  const auto record_of = [this](ContenderId id) {
    AcquireSpec spec = spec_of(id, Priority::foreground);
    spec.record = [](RecordUse use, const std::string&) { return use == RecordUse::claiming ? "brief" : "whole"; };
    engine_.acquire(id, std::move(spec), now_);
    const auto* transaction = std::get_if<Transaction>(&output_.sent.front().request);
    return transaction != nullptr ? std::get<Create>(transaction->operations.front()).data
                                  : std::get<Create>(output_.sent.front().request).data;
  };
  cold_cycle(1);
  EXPECT_EQ(record_of(2), "brief");
  answer<Transaction>(claimed("A-0000000002", 200));
  EXPECT_EQ(record_of(3), "whole");
}

TEST_F(EngineRulesTest, ARecordIsReplacedOnlyWhileTheLockIsOurs) {
  cold_cycle(1);
  hold(2, "0000000002", 200);
  for (std::int32_t version = 1; version < 4; ++version) {  // version 1 is the claim's own
    ASSERT_TRUE(engine_.update_record(2, "new", now_));
    const auto update = answer<Transaction>({});
    ASSERT_EQ(update.operations.size(), 2u);
    EXPECT_EQ(std::get<Check>(update.operations[0]).path, "/P/A-0000000002");
    EXPECT_EQ(std::get<SetData>(update.operations[1]).version, version);
  }
}

TEST_F(EngineRulesTest, AReleaseDeletesTheLockAtItsOwnVersion) {
  cold_cycle(1);
  hold(2, "0000000002", 200);
  ASSERT_TRUE(engine_.update_record(2, "new", now_));
  answer<Transaction>({});
  ASSERT_TRUE(engine_.release(2, now_));
  const auto release = answer<Transaction>({});
  ASSERT_EQ(release.operations.size(), 2u);
  EXPECT_EQ(std::get<Delete>(release.operations[0]).path, "/P/A-0000000002");
  EXPECT_EQ(std::get<Delete>(release.operations[1]).path, "/P/privateLock");
  EXPECT_EQ(std::get<Delete>(release.operations[1]).version, 2);
}

TEST_F(EngineRulesTest, AfterAHandOverTheReleaseHasItsVersion) {
  cold_cycle(1);
  hold(2, "0000000002", 200);
  acquire(3, Priority::foreground);
  answer<Create>(created("A-0000000004"));
  ASSERT_TRUE(engine_.release(2, now_));
  Reply handed_over;
  handed_over.operations.resize(3);
  handed_over.operations.back().stat.mzxid = 300;
  handed_over.operations.back().stat.version = 5;
  const auto hand_over = answer<Transaction>(handed_over);
  ASSERT_EQ(hand_over.operations.size(), 3u);
  EXPECT_EQ(std::get<SetData>(hand_over.operations[2]).version, 1);
  ASSERT_EQ(output_.grants.back(), 300);
  ASSERT_TRUE(engine_.release(3, now_));
  const auto release = answer<Transaction>({});
  EXPECT_EQ(std::get<Delete>(release.operations[1]).version, 5);
}

TEST_F(EngineRulesTest, AnOwnerThatStepsAsideDeletesTheLockAtItsOwnVersion) {
  cold_cycle(1);
  hold(2, "0000000002", 200);
  ASSERT_TRUE(engine_.step_aside(2, now_ + 1min, now_));
  const auto yield = answer<Transaction>({});
  ASSERT_EQ(yield.operations.size(), 2u);
  EXPECT_EQ(std::get<Check>(yield.operations[0]).path, "/P/A-0000000002");
  EXPECT_EQ(std::get<Delete>(yield.operations[1]).version, 1);
}

TEST_F(EngineRulesTest, AnEmptyMonitorNearItsCountersEndIsRemovedWithTheRelease) {
  acquire(1, Priority::foreground);
  answers<Create, Transaction>(failure(ReplyCode::node_exists), claimed("A-1073741824", 100));
  answer<Get>(monitor(2, 1073741826, 100));
  ASSERT_EQ(output_.grants.size(), 1u);
  release(1);
  EXPECT_EQ(answer<Delete>({}).path, "/P");
}

TEST_F(EngineRulesTest, AFailedResolvingIsNotRepeatedAtOnce) {
  cold_cycle(1);
  hold(2, "0000000002", 200);
  ASSERT_TRUE(engine_.release(2, now_));
  answer<Transaction>(failure(ReplyCode::no_node));
  answer_heartbeat({});
  answer<List>(failure(ReplyCode::server_error));
  EXPECT_TRUE(output_.sent.empty());
  tick_after(90ms);
  EXPECT_TRUE(output_.sent.empty());
  tick_after(20ms);
  answer_that_nothing_is_there();
  EXPECT_EQ(output_.releases.back(), ReleaseOutcome::gone);
}

// --- what counts as a proof ---

TEST_F(EngineRulesTest, TheCountDoesNotBeginInAMonitorWhoseEndWouldNotBeTold) {
  cold_cycle(1);
  acquire(2, Priority::foreground);
  engine_.on_watch({WatchEvent::Kind::deleted, "/P"}, now_);
  answer<Transaction>(claimed("A-0000000000", 200));  // the first of a new monitor, which is not watched
  ASSERT_EQ(output_.grants.size(), 2u);
  release(2);
  acquire(3, Priority::background);
  answers<Create, Transaction>(failure(ReplyCode::node_exists), claimed("B-0000000002", 300));
  EXPECT_EQ(output_.grants.size(), 2u);
}

// The proof that the session lives comes while the outcome of another request of the monitor is not known.
TEST_F(EngineRulesTest, AGrantThatWaitsForTheSessionWaitsFromTheMomentSomethingIsUnknown) {
  for (const bool unknown : {false, true}) {
    SCOPED_TRACE(unknown);
    Recorder output;
    Engine engine({}, output);
    const TimePoint opened = now_;
    TimePoint now = opened;
    const auto reply = [&](Reply answer) {
      const Sent sent = output.sent.front();
      output.sent.pop_front();
      engine.on_reply(sent.tag, std::move(answer), now);
    };
    engine.on_session({SessionEvent::Kind::connected, our_session, 4000ms, now}, now);
    reply({});
    now = opened + 2s;
    engine.on_answered(now, false, now);
    for (ContenderId id = 2; id < 4; ++id) engine.acquire(id, spec_of(id, Priority::foreground), now);
    now = opened + 4100ms;
    reply({});
    reply(claimed("A-0000000000", 200));
    reply(monitor(2, 2, 200));
    EXPECT_TRUE(output.grants.empty());  // not proved alive
    if (unknown) reply(failure(ReplyCode::server_error));
    for (int write = 0; write < 3; ++write) {
      engine.on_answered(now, true, now + 10ms);
      now += 10ms;
    }
    EXPECT_GT(engine.valid_until(), now + 1s);
    const auto question = std::find_if(output.sent.begin(), output.sent.end(),
                                       [](const Sent& sent) { return is_question(sent.request); });
    EXPECT_EQ(question != output.sent.end(), !unknown);
    if (question != output.sent.end()) engine.on_reply(question->tag, {}, now);
    EXPECT_EQ(output.grants.size(), unknown ? 0u : 1u);
  }
}

// A lock that was granted with the little that is left would be lost before the next proof can come.
TEST_F(EngineRulesTest, AfterALongOutageAGrantWaitsForAProofThatLasts) {
  cold_cycle(1);
  const TimePoint connected = now_;
  disconnect();
  now_ = connected + 3200ms;
  connect();
  acquire(2, Priority::foreground);
  while (now_ < connected + 13s) {
    tick_after(1ms);
    if (output_.sent.empty()) continue;
    if (is_heartbeat(output_.sent.front().request)) {
      answer_heartbeat({});
    } else if (std::holds_alternative<Transaction>(output_.sent.front().request)) {
      answer<Transaction>(claimed("A-0000000002", 200));
    } else if (std::holds_alternative<Get>(output_.sent.front().request)) {
      const bool of_monitor = std::get<Get>(output_.sent.front().request).path == "/P";
      answer<Get>(of_monitor ? monitor(2, 4, 200) : node("guid2", our_session));
    } else {
      answer<List>(listing({"A-0000000002", "privateLock"}, 4));
    }
  }
  EXPECT_EQ(output_.grants.size(), 2u);
  EXPECT_TRUE(output_.losses.empty());
}

// With zookeeper.enableEagerACLCheck the server that the client is connected to says so by itself.
TEST_F(EngineRulesTest, WhatAFollowerRefusesByItselfIsNoWrite) {
  cold_cycle(1);
  hold(2, "0000000002", 200);
  const TimePoint deadline = engine_.valid_until();
  ASSERT_GT(deadline, now_ + 3900ms);
  for (int i = 0; i < 3; ++i) {
    now_ += 1300ms;
    engine_.on_answered(now_, true, now_, ReplyCode::no_auth);
  }
  EXPECT_EQ(engine_.valid_until(), deadline);
}

// --- when a caller is told ---

TEST_F(EngineRulesTest, AHolderHearsAtOnceThatItsMonitorWasDeleted) {
  cold_cycle(1);
  hold(2, "0000000002", 200);
  engine_.on_watch({WatchEvent::Kind::deleted, "/P"}, now_);
  EXPECT_EQ(output_.losses, std::vector{LossReason::removed});
}

TEST_F(EngineRulesTest, AtTheDeadlineItselfTheLockIsLost) {
  cold_cycle(1);
  hold(2, "0000000002", 200);
  now_ = engine_.valid_until() - std::chrono::nanoseconds(1);
  engine_.tick(now_);
  EXPECT_TRUE(output_.losses.empty());
  now_ = engine_.valid_until();
  engine_.tick(now_);
  EXPECT_EQ(output_.losses, std::vector{LossReason::deadline_passed});
}

TEST_F(EngineRulesTest, AnAnswerToTheDriverDoesNotReviveALockWhoseDeadlineHasPassed) {
  cold_cycle(1);
  hold(2, "0000000002", 200);
  const TimePoint sent = engine_.valid_until() - 1ms;
  now_ = engine_.valid_until();
  engine_.on_answered(sent, true, now_);
  EXPECT_EQ(output_.losses, std::vector{LossReason::deadline_passed});
}

TEST_F(EngineRulesTest, AReconnectDoesNotReviveALockWhoseDeadlineHasPassed) {
  cold_cycle(1);
  hold(2, "0000000002", 200);
  disconnect();
  now_ = engine_.valid_until();
  engine_.on_session({SessionEvent::Kind::connected, our_session, 4000ms, now_}, now_);
  EXPECT_EQ(output_.losses, std::vector{LossReason::deadline_passed});
}

// Nor does it move the deadline before a write has been answered: a deposed leader takes sessions back as well.
TEST_F(EngineRulesTest, AReconnectMovesNoDeadlineBeforeAWriteIsAnswered) {
  cold_cycle(1);
  hold(2, "0000000002", 200);
  now_ += 500ms;
  engine_.on_answered(now_, false, now_);
  const TimePoint deadline = engine_.valid_until();
  disconnect();
  engine_.on_session({SessionEvent::Kind::connected, our_session, 4000ms, now_}, now_);
  ASSERT_TRUE(std::holds_alternative<Transaction>(output_.sent.front().request));
  const Sent barrier = output_.sent.front();
  output_.sent.pop_front();
  answers<Get, List>({}, listing({"A-0000000002", "privateLock"}, 4));
  EXPECT_EQ(engine_.valid_until(), deadline);
  engine_.on_reply(barrier.tag, {}, now_);
  EXPECT_GT(engine_.valid_until(), deadline);
}

TEST_F(EngineRulesTest, ALockThatWasRemovedBeforeItsReleaseIsNotReleasedByUs) {
  cold_cycle(1);
  hold(2, "0000000002", 200);
  ASSERT_TRUE(engine_.release(2, now_));
  answer<Transaction>(failure(ReplyCode::no_node));
  answer_that_nothing_is_there();
  EXPECT_EQ(output_.releases.back(), ReleaseOutcome::gone);
}

// The lost reply of the turn before says nothing about this one.
TEST_F(EngineRulesTest, AStepAsideWithALostReplyDoesNotExplainALaterRemoval) {
  cold_cycle(1);
  hold(2, "0000000002", 200);
  ASSERT_TRUE(engine_.step_aside(2, now_ + 1min, now_));
  answers<Transaction, List>(failure(ReplyCode::connection_loss), failure(ReplyCode::connection_loss));
  reconnect();
  answers<Get, List, Get>({}, listing({"A-0000000002"}, 4), node("guid2", our_session));
  answers<Get, Transaction>(failure(ReplyCode::no_node), claimed("", 300));
  ASSERT_EQ(output_.grants.back(), 300);
  ASSERT_TRUE(engine_.release(2, now_));
  answer<Transaction>(failure(ReplyCode::no_node));
  answer_that_nothing_is_there();
  EXPECT_EQ(output_.releases.back(), ReleaseOutcome::gone);
}

TEST_F(EngineRulesTest, ASingleAttemptWaitsForTheClaimOfItsOwnProcess) {
  cold_cycle(1);
  acquire(2, Priority::foreground);
  ask(3, Priority::foreground, true);
  EXPECT_TRUE(output_.refusals.empty());
  answer<Transaction>(claimed("A-0000000002", 200));
  expect_refused(RefusalReason::unavailable);
}

TEST_F(EngineRulesTest, EveryOutageIsWaitedForAnew) {
  cold_cycle(1);
  disconnect();
  tick_after(5s);
  connect();
  disconnect();
  acquire(2, Priority::foreground);
  EXPECT_TRUE(output_.refusals.empty());
  tick_after(5s);
  expect_refused(RefusalReason::connection_lost);
}

// --- what is of no contender any more ---

TEST_F(EngineRulesTest, AStrayLockWhoseRemovalIsLostIsLookedForAgain) {
  claim_lost_with_the_connection(1);
  ASSERT_TRUE(engine_.cancel(1, now_));
  answers<List, Get>(listing({"privateLock"}, 2), node("nobody's", our_session));
  EXPECT_EQ(answer<Delete>(failure(ReplyCode::connection_loss)).path, "/P/privateLock");
  reconnect();
  answers<Get, List, Get>({}, listing({"privateLock"}, 2), node("nobody's", our_session));
  EXPECT_EQ(answer<Delete>({}).path, "/P/privateLock");
  EXPECT_TRUE(output_.sent.empty());
}

// Another process has taken it for its own and changed it: once more, by the version that it has now.
TEST_F(EngineRulesTest, AStrayLockThatHasChangedIsLookedForAgain) {
  claim_lost_with_the_connection(1);
  ASSERT_TRUE(engine_.cancel(1, now_));
  answers<List, Get>(listing({"privateLock"}, 2), node("nobody's", our_session));
  answer<Delete>(failure(ReplyCode::bad_version));
  EXPECT_TRUE(output_.sent.empty());
  tick_after(100ms);
  answer_heartbeat({});
  answer<List>(listing({"privateLock"}, 2));
  Reply changed = node("nobody's", our_session);
  changed.stat.version = 3;
  answer<Get>(changed);
  const Delete removal = answer<Delete>({});
  EXPECT_EQ(removal.path, "/P/privateLock");
  EXPECT_EQ(removal.version, 3);
  EXPECT_TRUE(output_.sent.empty());
}

}  // namespace
}  // namespace forelock::lock
