// What the engine does of its own accord: heartbeats, how many and of which kind, and the deadlines that it keeps.
#include "engine_fixture.h"

namespace forelock::lock {
namespace {

class EngineTimeTest : public EngineTest {
 protected:
  explicit EngineTimeTest(EngineOptions options = {}) : EngineTest(std::move(options)) {}

  static constexpr Duration timeout = 4000ms;

  void hold() {
    cold_cycle(1);
    acquire(2, Priority::foreground);
    answer<Transaction>(claimed("A-0000000002", 200));
    ASSERT_EQ(output_.grants.size(), 2u);
  }

  struct Beats {
    int writes = 0;
    int syncs = 0;
    Duration least_ahead = Duration::max();
  };

  // Time goes on as for a driver that is never late; everything is answered after a millisecond, heartbeats by `code`.
  // What is looked at is the lock of hold(). With `reads`, the driver has reads of its own answered all the time.
  Beats run(Duration span, bool reads = false, ReplyCode code = ReplyCode::ok) {
    Beats beats;
    const TimePoint end = now_ + span;
    while (true) {
      TimePoint next = engine_.next_timer();
      if (reads) next = std::min(next, now_ + 100ms);
      if (next >= end || beats.writes + beats.syncs > 10'000) break;
      now_ = std::max(now_, next);
      beats.least_ahead = std::min(beats.least_ahead, engine_.valid_until() - now_);
      engine_.tick(now_);
      if (reads) engine_.on_answered(now_, false, now_);
      while (!output_.sent.empty()) {
        const Sent sent = output_.sent.front();
        output_.sent.pop_front();
        now_ += 1ms;
        if (!is_heartbeat(sent.request)) {
          engine_.on_reply(sent.tag, holding(sent.request), now_);
          continue;
        }
        ++(std::holds_alternative<Sync>(sent.request) ? beats.syncs : beats.writes);
        engine_.on_reply(sent.tag, failure(code), now_);
      }
    }
    now_ = end;
    return beats;
  }

  static Reply holding(const Request& request) {
    if (std::holds_alternative<List>(request)) return listing({"A-0000000002", "privateLock"}, 4);
    const auto* get = std::get_if<Get>(&request);
    return get && get->path == "/P" ? monitor(2, 4, 200) : node("guid2", our_session);
  }
};

// --- heartbeats ---

TEST_F(EngineTimeTest, WithoutALockASyncGoesOutEveryTenthOfATimeout) {
  cold_cycle(1);
  const TimePoint deadline = engine_.valid_until();
  const Beats beats = run(10 * timeout);
  EXPECT_EQ(beats.writes, 0);
  EXPECT_NEAR(beats.syncs, 100, 2);
  EXPECT_EQ(engine_.valid_until(), deadline);  // a leader that has been deposed answers them, too
}

// Reads are answered by the server that the client is connected to: nobody else hears of them.
TEST_F(EngineTimeTest, ReadsDoNotStandInForHeartbeats) {
  cold_cycle(1);
  EXPECT_NEAR(run(10 * timeout, true).syncs, 100, 5);
  acquire(2, Priority::foreground);
  answer<Transaction>(claimed("A-0000000002", 200));
  ASSERT_EQ(output_.grants.size(), 2u);
  const Beats beats = run(10 * timeout, true);
  EXPECT_NEAR(beats.writes, 100, 5);
  EXPECT_GT(beats.least_ahead, timeout / 3);
}

// Each of them costs the servers a transaction.
TEST_F(EngineTimeTest, AHolderWritesEveryTenthOfATimeout) {
  hold();
  run(timeout);
  const Beats beats = run(10 * timeout);
  EXPECT_NEAR(beats.writes, 100, 2);
  EXPECT_EQ(beats.syncs, 0);
  EXPECT_GT(beats.least_ahead, timeout / 3);
}

// After an outage that leaves just enough for it, the next proof comes as soon as it can, with no more writes than it
// takes.
TEST_F(EngineTimeTest, WithLittleLeftAHolderWritesWhenThatProvesSomething) {
  hold();
  disconnect();
  now_ = engine_.valid_until() - 1400ms;
  connect();
  const Beats beats = run(1300ms);
  EXPECT_GE(beats.writes, 3);
  EXPECT_LE(beats.writes, 8);
  run(timeout);
  EXPECT_TRUE(output_.losses.empty());
}

TEST_F(EngineTimeTest, HeartbeatsThatProveNothingAreNoHotLoop) {
  hold();
  const Beats beats = run(timeout, false, ReplyCode::no_auth);
  EXPECT_EQ(output_.losses, std::vector{LossReason::deadline_passed});
  EXPECT_LE(beats.writes, 64);
}

TEST_F(EngineTimeTest, OneHeartbeatAtATime) {
  hold();
  int heartbeats = 0;
  for (const TimePoint end = engine_.valid_until(); now_ < end; now_ += 10ms) {
    engine_.tick(now_);
    for (const Sent& sent : std::exchange(output_.sent, {})) heartbeats += is_heartbeat(sent.request) ? 1 : 0;
  }
  EXPECT_EQ(heartbeats, 1);
}

// The root may not be the client's to read.
TEST_F(EngineTimeTest, AHoldersHeartbeatChecksItsOwnNode) {
  hold();
  tick_after(timeout / 9);
  std::string checked;
  for (const Sent& sent : output_.sent) {
    if (is_heartbeat(sent.request)) {
      checked = std::get<Check>(std::get<Transaction>(sent.request).operations.front()).path;
    }
  }
  EXPECT_EQ(checked, "/P/A-0000000002");
}

TEST_F(EngineTimeTest, AHeartbeatWithoutAnAnswerProvesNothing) {
  hold();
  const TimePoint deadline = engine_.valid_until();
  run(timeout, false, ReplyCode::connection_loss);
  EXPECT_EQ(engine_.valid_until(), deadline);
  EXPECT_EQ(output_.losses, std::vector{LossReason::deadline_passed});
}

TEST_F(EngineTimeTest, AfterCloseNothingIsDueAndNothingIsSent) {
  hold();
  engine_.close(now_);
  EXPECT_EQ(engine_.next_timer(), never);
  tick_after(timeout);
  EXPECT_TRUE(output_.sent.empty());
}

// --- the session's deadline ---

// Whatever the engine is told at the deadline, the loss is told before it has any effect.
TEST_F(EngineTimeTest, WhateverComesAtTheDeadlineFindsTheLockLost) {
  struct Case {
    const char* name;
    std::function<void(Engine&, const Sent&, TimePoint)> call;
  };
  const std::vector<Case> cases = {
      {"acquire", [this](auto& engine, auto&, auto now) { engine.acquire(9, spec_of(9, Priority::foreground), now); }},
      {"release", [](auto& engine, auto&, auto now) { EXPECT_FALSE(engine.release(2, now)); }},
      {"cancel", [](auto& engine, auto&, auto now) { EXPECT_FALSE(engine.cancel(2, now)); }},
      {"step_aside", [](auto& engine, auto&, auto now) { EXPECT_FALSE(engine.step_aside(2, now + 1min, now)); }},
      {"update_record", [](auto& engine, auto&, auto now) { EXPECT_FALSE(engine.update_record(2, "new", now)); }},
      {"prove", [](auto& engine, auto&, auto now) { EXPECT_FALSE(engine.prove(2, now)); }},
      {"want_contention", [](auto& engine, auto&, auto now) { engine.want_contention(2, now); }},
      {"knock", [](auto& engine, auto&, auto now) { engine.knock({}, now); }},
      {"reply", [](auto& engine, auto& sent, auto now) { engine.on_reply(sent.tag, {}, now); }},
      {"watch",
       [](auto& engine, auto&, auto now) {
         engine.on_watch({WatchEvent::Kind::children_changed, "/P"}, now);
       }},
      {"disconnected",
       [](auto& engine, auto&, auto now) {
         engine.on_session({SessionEvent::Kind::disconnected, 0, 0ms}, now);
       }},
      {"expired",
       [](auto& engine, auto&, auto now) {
         engine.on_session({SessionEvent::Kind::expired, 0, 0ms}, now);
       }},
      {"answered", [](auto& engine, auto&, auto now) { engine.on_answered(now - 1ms, true, now); }},
      {"tick", [](auto& engine, auto&, auto now) { engine.tick(now); }},
      {"close", [](auto& engine, auto&, auto now) { engine.close(now); }},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.name);
    Recorder output;
    Engine engine({}, output);
    TimePoint now = now_;
    const auto reply = [&](Reply answer) {
      const Sent sent = output.sent.front();
      output.sent.pop_front();
      engine.on_reply(sent.tag, std::move(answer), now);
    };
    engine.on_session({SessionEvent::Kind::connected, our_session, 4000ms, now}, now);
    reply({});
    engine.acquire(2, spec_of(2, Priority::foreground), now);
    reply({});
    reply(claimed("A-0000000000", 100));
    reply(monitor(2, 2, 100));
    ASSERT_EQ(output.grants.size(), 1u);
    now += timeout / 10;
    engine.tick(now);  // a heartbeat, among others
    ASSERT_FALSE(output.sent.empty());
    Sent heartbeat;
    for (const Sent& sent : output.sent) {
      if (is_heartbeat(sent.request)) heartbeat = sent;
    }
    now = engine.valid_until();
    one.call(engine, heartbeat, now);
    EXPECT_EQ(output.losses, std::vector{LossReason::deadline_passed});
    EXPECT_TRUE(output.releases.empty());
  }
}

// A time-out that a later server grants is shorter or longer; what counts is the shortest.
TEST_F(EngineTimeTest, ALongerTimeoutAtAReconnectMovesNothing) {
  hold();
  const TimePoint deadline = engine_.valid_until();
  disconnect();
  engine_.on_session({SessionEvent::Kind::connected, our_session, 40'000ms, now_}, now_);
  EXPECT_EQ(engine_.valid_until(), deadline);
  const Beats beats = run(10 * timeout);
  EXPECT_TRUE(output_.losses.empty());
  EXPECT_GT(beats.least_ahead, timeout / 3);
}

// It was asked for before the servers began to count.
TEST_F(EngineTimeTest, ANewSessionCountsFromTheInstantItWasAskedFor) {
  expire();
  EXPECT_LE(engine_.valid_until(), now_);
  now_ += 3s;
  engine_.on_session({SessionEvent::Kind::connected, our_session + 1, 4000ms, now_ - 2s}, now_);
  EXPECT_EQ(engine_.valid_until(), now_ - 2s + timeout);
}

TEST_F(EngineTimeTest, WithoutAConnectionTheLocksDeadlineIsDue) {
  hold();
  disconnect();
  EngineOptions options;
  ASSERT_LT(engine_.valid_until(), now_ + options.give_up_after);
  TimePoint due = engine_.next_timer();
  while (due < engine_.valid_until()) {  // what else is due is done without a connection
    now_ = due;
    engine_.tick(now_);
    ASSERT_GT(engine_.next_timer(), now_);
    due = engine_.next_timer();
  }
  EXPECT_EQ(due, engine_.valid_until());
}

// --- outages ---

TEST_F(EngineTimeTest, WaitersAreGivenUpWhenTheOutageHasLastedLongEnoughAndNotLater) {
  cold_cycle(1);
  disconnect();
  const TimePoint down_since = now_;
  acquire(2, Priority::foreground);
  EXPECT_EQ(engine_.next_timer(), down_since + EngineOptions().give_up_after);
  now_ = down_since + EngineOptions().give_up_after;
  engine_.tick(now_);
  expect_refused(RefusalReason::connection_lost);
  EXPECT_EQ(engine_.next_timer(), never);
  acquire(3, Priority::foreground);  // at once: what has been waited for need not be waited for again
  ASSERT_EQ(output_.refusals.size(), 2u);
  EXPECT_EQ(output_.refusals[1].reason, RefusalReason::connection_lost);
}

TEST_F(EngineTimeTest, TheFirstCallWaitsForWhatIsLeftOfAnOutage) {
  disconnect();
  const TimePoint down_since = now_;
  EXPECT_EQ(engine_.next_timer(), never);  // no caller, nothing to give up
  now_ += 3s;
  acquire(1, Priority::foreground);
  now_ = down_since + EngineOptions().give_up_after;
  engine_.tick(now_);
  expect_refused(RefusalReason::connection_lost);
}

TEST_F(EngineTimeTest, ADeadlineWithoutAConnectionSaysSo) {
  cold_cycle(1);
  disconnect();
  acquire(2, Priority::foreground, 100ms);
  now_ += 100ms;
  EXPECT_EQ(engine_.next_timer(), now_);
  engine_.tick(now_);
  expect_refused(RefusalReason::connection_lost);
}

TEST_F(EngineTimeTest, TheOldestRequestWithoutAnAnswerIsKnown) {
  EXPECT_EQ(engine_.oldest_unanswered(), never);
  const TimePoint first = now_;
  acquire(1, Priority::foreground);
  now_ += 50ms;
  acquire(2, Priority::foreground);
  EXPECT_EQ(engine_.oldest_unanswered(), first);
  while (output_.sent.size() > 1) output_.sent.pop_front();
  EXPECT_EQ(engine_.oldest_unanswered(), first);
  expire();
  EXPECT_EQ(engine_.oldest_unanswered(), never);
}

class UnwatchedTimeTest : public EngineTimeTest {
 protected:
  static EngineOptions options() {
    EngineOptions options;
    options.watched_bytes = 0;
    return options;
  }
  UnwatchedTimeTest() : EngineTimeTest(options()) {}
};

// A waiter without room for a watch reads all the time. Of that the leader hears nothing.
TEST_F(UnwatchedTimeTest, ReadsOfTheEnginesOwnProveNothing) {
  const Reply line = listing({"A-0000000000", "privateLock", "A-0000000002"}, 3);
  join(1, Priority::foreground, "A-0000000002", line);
  const TimePoint deadline = engine_.valid_until();
  for (const TimePoint end = now_ + 2s; now_ < end; now_ += 50ms) {
    engine_.tick(now_);
    for (const Sent& sent : std::exchange(output_.sent, {})) {
      if (is_heartbeat(sent.request)) continue;  // never answered
      engine_.on_reply(sent.tag, std::holds_alternative<List>(sent.request) ? line : Reply(), now_);
    }
  }
  engine_.on_answered(now_, true, now_ + 1ms);
  EXPECT_EQ(engine_.valid_until(), deadline);
}

// --- grants after an outage ---

// While the servers answer soon, what has been granted stays: however much of the session was left.
// What is asked has changed nothing, so there is nothing to be found out either.
TEST_F(EngineTimeTest, AProofThatAServerHasNoTimeForIsAskedForAgain) {
  hold();
  output_.sent.clear();
  ASSERT_TRUE(engine_.prove(2, now_));
  answer<Transaction>(failure(ReplyCode::throttled));
  EXPECT_TRUE(output_.sent.empty());
  tick_after(1s);
  ASSERT_FALSE(output_.sent.empty());
  EXPECT_TRUE(output_.proofs.empty());
  for (Sent& sent : std::exchange(output_.sent, {})) engine_.on_reply(sent.tag, {}, now_);
  EXPECT_EQ(output_.proofs, std::vector<ContenderId>{2});
}

class EngineOutageTest : public EngineTimeTest, public ::testing::WithParamInterface<Duration> {
 protected:
  static Reply answer_to(const Request& request) {
    const auto* transaction = std::get_if<Transaction>(&request);
    const bool claims = transaction && transaction->operations.size() == 3;
    return claims ? claimed("A-0000000002", 200) : holding(request);
  }

  // Each answer takes as long as the parameter says.
  static void go_on(Engine& engine, Recorder& output, TimePoint now, Duration span) {
    std::deque<std::pair<TimePoint, Sent>> under_way;
    for (const TimePoint end = now + span; now < end;) {
      for (Sent& sent : std::exchange(output.sent, {})) under_way.emplace_back(now + GetParam(), std::move(sent));
      now = std::max(now, engine.next_timer());
      if (!under_way.empty() && under_way.front().first <= now) {
        now = under_way.front().first;
        const Sent sent = std::move(under_way.front().second);
        under_way.pop_front();
        engine.on_reply(sent.tag, answer_to(sent.request), now);
      } else {
        engine.tick(now);
      }
    }
  }
};

TEST_P(EngineOutageTest, NoOutageEndsInALockThatIsLostAtOnce) {
  for (Duration outage = 100ms; outage < timeout; outage += 20ms) {
    SCOPED_TRACE(std::chrono::duration_cast<std::chrono::milliseconds>(outage).count());
    Recorder output;
    Engine engine({}, output);
    TimePoint now = now_;
    engine.on_session({SessionEvent::Kind::connected, our_session, 4000ms, now}, now);
    for (const Sent& sent : std::exchange(output.sent, {})) engine.on_reply(sent.tag, {}, now);
    now += 1ms;
    engine.on_session({SessionEvent::Kind::disconnected, 0, 0ms}, now);
    now += outage;
    engine.on_session({SessionEvent::Kind::connected, our_session, 4000ms, now}, now);
    engine.acquire(2, spec_of(2, Priority::foreground), now);
    go_on(engine, output, now, 2 * timeout);
    EXPECT_EQ(output.grants.size(), 1u);
    EXPECT_TRUE(output.losses.empty());
  }
}

// A lock set is told as held when its members are proved, and then not lost for an outage that is over.
TEST_P(EngineOutageTest, NoOutageEndsInAProofBehindWhichTheLockIsLost) {
  std::size_t proofs = 0;
  for (Duration outage = 100ms; outage < timeout; outage += 20ms) {
    SCOPED_TRACE(std::chrono::duration_cast<std::chrono::milliseconds>(outage).count());
    Recorder output;
    Engine engine({}, output);
    TimePoint now = now_;
    engine.on_session({SessionEvent::Kind::connected, our_session, 4000ms, now}, now);
    engine.acquire(2, spec_of(2, Priority::foreground), now);
    while (!output.sent.empty()) {
      const Sent sent = output.sent.front();
      output.sent.pop_front();
      engine.on_reply(sent.tag, answer_to(sent.request), now);
    }
    ASSERT_TRUE(engine.prove(2, now));
    engine.on_session({SessionEvent::Kind::disconnected, 0, 0ms}, now);
    for (const Sent& sent : std::exchange(output.sent, {})) {
      engine.on_reply(sent.tag, failure(ReplyCode::connection_loss), now);
    }
    now += outage;
    engine.on_session({SessionEvent::Kind::connected, our_session, 4000ms, now}, now);
    go_on(engine, output, now, 2 * timeout);
    EXPECT_EQ(output.proofs.size() + output.losses.size(), 1u);
    proofs += output.proofs.size();
  }
  EXPECT_GT(proofs, 90u);
}

// It cannot know before whether the other one gets the lock.
TEST_P(EngineOutageTest, ASingleAttemptIsRefusedAsSoonAsALateGrantIsTold) {
  bool has_waited = false;
  for (Duration outage = 100ms; outage < timeout; outage += 20ms) {
    SCOPED_TRACE(std::chrono::duration_cast<std::chrono::milliseconds>(outage).count());
    Recorder output;
    Engine engine({}, output);
    TimePoint now = now_;
    engine.on_session({SessionEvent::Kind::connected, our_session, 4000ms, now}, now);
    for (const Sent& sent : std::exchange(output.sent, {})) engine.on_reply(sent.tag, {}, now);
    engine.on_session({SessionEvent::Kind::disconnected, 0, 0ms}, now);
    now += outage;
    engine.on_session({SessionEvent::Kind::connected, our_session, 4000ms, now}, now);
    engine.acquire(2, spec_of(2, Priority::foreground), now);
    AcquireSpec once = spec_of(3, Priority::foreground);
    once.try_once = true;
    engine.acquire(3, std::move(once), now);
    const TimePoint end = now + timeout;
    while (now < end && output.grants.empty()) {
      has_waited = has_waited || output.sent.empty();
      now += GetParam();
      engine.tick(now);
      for (Sent& sent : std::exchange(output.sent, {})) {
        const auto* transaction = std::get_if<Transaction>(&sent.request);
        const bool claims = transaction && transaction->operations.size() == 3;
        engine.on_reply(sent.tag, claims ? claimed("A-0000000002", 200) : holding(sent.request), now);
      }
    }
    ASSERT_EQ(output.grants.size(), 1u);
    ASSERT_EQ(output.refusals.size(), 1u);
    EXPECT_EQ(output.refusals.front().reason, RefusalReason::unavailable);
  }
  EXPECT_TRUE(has_waited) << "for the session to be proved";
}

// How long each answer takes, in a session of 4 s.
INSTANTIATE_TEST_SUITE_P(Answers, EngineOutageTest, ::testing::Values(80ms, 150ms, 200ms));

TEST_F(EngineTimeTest, ARefusalSaysWhoStoodBeforeAndHowLongThereWasNoConnection) {
  const auto part = [&](Duration time) {
    disconnect();
    now_ += time;
    connect();
  };
  const Reply line = listing({"B-0000000001", "A-0000000004", "A-0000000005", "B-0000000006", "privateLock"}, 7);
  part(900ms);  // before it comes
  join(1, Priority::background, "B-0000000006", line);
  for (const auto time : {300ms, 400ms}) {
    part(time);
    while (!output_.sent.empty()) {
      const Sent asked = output_.sent.front();
      output_.sent.pop_front();
      engine_.on_reply(asked.tag, std::holds_alternative<List>(asked.request) ? line : node("guid1", our_session),
                       now_);
    }
    now_ += 1s;
  }
  tick_after(1min);
  ASSERT_EQ(output_.refusals.size(), 1u);
  const Refusal& refusal = output_.refusals[0];
  EXPECT_EQ(refusal.reason, RefusalReason::timed_out);
  ASSERT_TRUE(refusal.position);
  EXPECT_EQ(refusal.position->place, 3u) << "the holder's node is no place in the queue";
  EXPECT_EQ(refusal.before[Priority::foreground], 2u);
  EXPECT_EQ(refusal.before[Priority::background], 1u);
  EXPECT_EQ(refusal.disconnected, 700ms);
}

}  // namespace
}  // namespace forelock::lock
