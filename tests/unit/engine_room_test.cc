// The room for watches, and for what is remembered of idle monitors: what is counted, and what is forgotten for it.
#include "engine_fixture.h"

namespace forelock::lock {
namespace {

// A watch on "/P" is 6 bytes on the wire, one on "/P/A-0000000000" 19.
EngineOptions room(std::size_t watched_bytes) {
  EngineOptions options;
  options.watched_bytes = watched_bytes;
  return options;
}

class EngineRoomTest : public EngineTest {
 protected:
  explicit EngineRoomTest(EngineOptions options) : EngineTest(std::move(options)) {}

  void acquire_at(ContenderId id, const std::string& monitor_name) {
    AcquireSpec spec = spec_of(id, Priority::foreground);
    spec.monitor = monitor_name;
    engine_.acquire(id, std::move(spec), now_);
  }

  // Acquires and releases in a monitor that is not known. Whether it is watched from then on.
  bool cycle(ContenderId id, const std::string& monitor_name) {
    acquire_at(id, monitor_name);
    answers<Create, Transaction>({}, claimed("A-0000000000", 100));
    const bool watched = answer<Get>(monitor(2, 2, 100)).watch;
    take_back();
    release(id);
    take_back();
    return watched;
  }

  // What the server is asked to watch no longer.
  void take_back() {
    while (!output_.sent.empty() && std::holds_alternative<RemoveDataWatch>(output_.sent.front().request)) {
      const ReplyCode code = taken_back_.empty() ? first_taken_back_ : ReplyCode::ok;
      taken_back_.push_back(answer<RemoveDataWatch>(failure(code)).path);
    }
  }

  // Joins the line of a monitor that is not known. Whether its children are watched from then on.
  bool join_at(ContenderId id, const std::string& monitor_name) {
    acquire_at(id, monitor_name);
    answers<Create, Transaction>(failure(ReplyCode::node_exists), failure(ReplyCode::node_exists));
    EXPECT_TRUE(answer<Get>({}).watch) << monitor_name;
    answer<Create>(created("A-0000000002"));
    return answer<List>(line()).watch;
  }

  ReplyCode first_taken_back_ = ReplyCode::ok;
  std::vector<std::string> taken_back_;

  static Reply line() { return listing({"A-0000000000", "privateLock", "A-0000000002"}, 3); }
};

class RoomForFourTest : public EngineRoomTest {
 protected:
  RoomForFourTest() : EngineRoomTest(room(24)) {}
};

TEST_F(RoomForFourTest, AQuarterBeforeTheEndIdleMonitorsGoWithTheirWatches) {
  for (const char* name : {"P", "Q", "R"}) EXPECT_TRUE(cycle(1, name));
  EXPECT_TRUE(taken_back_.empty());
  EXPECT_TRUE(cycle(2, "S"));
  EXPECT_EQ(taken_back_, std::vector<std::string>{"/P"});
  EXPECT_EQ(engine_.monitors(), 3u);
}

TEST_F(RoomForFourTest, AWatchThatTheServerDoesNotTakeBackIsCountedOn) {
  first_taken_back_ = ReplyCode::server_error;
  for (const char* name : {"P", "Q", "R", "S"}) EXPECT_TRUE(cycle(1, name));
  engine_.tick(now_);
  take_back();
  EXPECT_EQ(taken_back_, (std::vector<std::string>{"/P", "/Q"}));
}

TEST_F(RoomForFourTest, AWatchThatWasNotSentTakesNoRoom) {
  output_.holds_back = true;
  for (ContenderId id = 1; id < 10; ++id) {
    acquire_at(id, "P");
    ASSERT_TRUE(engine_.cancel(id, now_));
  }
  EXPECT_EQ(output_.forgotten_count, 9);
  output_.holds_back = false;
  output_.sent.clear();
  EXPECT_TRUE(cycle(10, "Q"));
}

TEST_F(RoomForFourTest, ANewSessionHasNoWatches) {
  for (const char* name : {"P", "Q", "R"}) EXPECT_TRUE(cycle(1, name));
  expire();
  engine_.on_session({SessionEvent::Kind::connected, our_session + 1, 4000ms, now_}, now_);
  answer_heartbeat({});
  for (const char* name : {"S", "T", "U"}) EXPECT_TRUE(cycle(2, name));
  EXPECT_TRUE(taken_back_.empty());
}

// What is sent when the session ends is never answered, the heartbeat among it.
TEST_F(RoomForFourTest, ANewSessionHasHeartbeatsOfItsOwn) {
  now_ = engine_.next_timer();
  engine_.tick(now_);
  ASSERT_EQ(output_.sent.size(), 1u);
  output_.sent.clear();
  expire();
  engine_.on_session({SessionEvent::Kind::connected, our_session + 1, 4000ms, now_}, now_);
  answer_heartbeat({});
  tick_after(400ms);
  answer_heartbeat({});
}

// A waiter's watches, on the monitor's node, on its children and on the node before it, leave no quarter free.
class RoomForEightTest : public EngineRoomTest {
 protected:
  RoomForEightTest() : EngineRoomTest(room(48)) {}
};

TEST_F(RoomForEightTest, WithAMonitorAllItsWatchesGo) {
  EXPECT_TRUE(join_at(1, "P"));
  EXPECT_TRUE(answer<Get>({}).watch);
  ASSERT_TRUE(engine_.cancel(1, now_));
  output_.sent.clear();
  event(WatchEvent::Kind::deleted, "/P/A-0000000000");
  event(WatchEvent::Kind::deleted, "/P");
  output_.sent.clear();
  EXPECT_TRUE(join_at(2, "Q"));
}

// One waiter has a watch on the monitor, one on its children and one on the node before it: 6 + 6 + 19.
class RoomForAWaiterTest : public EngineRoomTest {
 protected:
  RoomForAWaiterTest() : EngineRoomTest(room(31)) {
    EXPECT_TRUE(join_at(1, "P"));
    EXPECT_TRUE(answer<Get>({}).watch);
  }
};

TEST_F(RoomForAWaiterTest, WhenTheLineChangesTheWatchOnItIsUsedUpAndNoOther) {
  event(WatchEvent::Kind::children_changed, "/P");
  ASSERT_TRUE(output_.sent.empty());
  EXPECT_FALSE(join_at(2, "Q"));  // there is room for the first of its watches
}

// A quarter of it is taken by one waiter; the next one has a watch on its monitor, and one on the node before it.
class RoomToSpareTest : public EngineRoomTest {
 protected:
  RoomToSpareTest() : EngineRoomTest(room(100)) {
    EXPECT_TRUE(join_at(1, "P"));
    EXPECT_TRUE(answer<Get>({}).watch);
    tick_after(1s);
    answer_heartbeats();
    EXPECT_EQ(answer<List>(line()).path, "/P");
    EXPECT_EQ(answer<Get>({}).path, "/P/A-0000000000") << "nor is its own node watched";
    EXPECT_FALSE(join_at(2, "Q")) << "the line is not watched";
  }
};

TEST_F(RoomToSpareTest, BeyondAQuarterOneWatchHasToDoForAWaiter) {
  const Get before = answer<Get>({});
  EXPECT_EQ(before.path, "/Q/A-0000000000");
  EXPECT_TRUE(before.watch);
  tick_after(5s);
  answer_heartbeats();
  EXPECT_TRUE(output_.sent.empty()) << "its own node is not watched, and it does not look instead";
  event(WatchEvent::Kind::deleted, "/Q/A-0000000000");
  answer<Transaction>(claimed("A-0000000002", 100));
}

TEST_F(RoomToSpareTest, OneThatIsNotNextHasAWatchAsWell) {
  answer<Get>({});
  event(WatchEvent::Kind::data_changed, "/Q/A-0000000000");
  answer<List>(listing({"A-0000000000", "privateLock", "A-0000000001", "A-0000000002"}, 4));
  const Get before = answer<Get>({});
  EXPECT_EQ(before.path, "/Q/A-0000000001");
  EXPECT_TRUE(before.watch);
}

TEST_F(RoomToSpareTest, ALostEventDelaysIt) {
  answer<Get>({});
  tick_after(10s);
  answer_heartbeats();
  for (const std::string monitor : {"/P", "/Q"}) {
    const Get own = answer<Get>(node("", our_session));
    EXPECT_EQ(own.path, monitor + "/A-0000000002");
    EXPECT_FALSE(own.watch) << "it is read for what others may wish";
    EXPECT_EQ(answer<List>(line()).path, monitor);
  }
}

// What is left is for watches on which a waiter depends.
class LastRoomTest : public EngineRoomTest {
 protected:
  LastRoomTest() : EngineRoomTest(room(62)) {
    for (const char* name : {"P", "Q"}) {
      join_at(static_cast<ContenderId>(name[0]), name);
      EXPECT_TRUE(answer<Get>({}).watch) << name;
    }
  }
};

TEST_F(LastRoomTest, IsNotForMonitors) {
  acquire_at(1, "R");
  answers<Create, Transaction>(failure(ReplyCode::node_exists), failure(ReplyCode::node_exists));
  EXPECT_FALSE(answer<Get>({}).watch);
}

class FewBytesTest : public EngineRoomTest {
 protected:
  static EngineOptions options() {
    EngineOptions options;
    options.remembered_bytes = 4;
    return options;
  }
  FewBytesTest() : EngineRoomTest(options()) {}
};

TEST_F(FewBytesTest, TheNamesOfIdleMonitorsTakeRoom) {
  cycle(1, "P");
  cycle(2, "Q");
  EXPECT_TRUE(taken_back_.empty());
  cycle(3, "R");
  EXPECT_EQ(taken_back_, std::vector<std::string>{"/P"});
  EXPECT_EQ(engine_.monitors(), 2u);
}

TEST_F(FewBytesTest, AMonitorThatIsUsedAgainAndAgainTakesItsRoomOnce) {
  cycle(1, "P");
  for (ContenderId id = 2; id < 6; ++id) {
    acquire_at(id, "P");
    answer<Transaction>(claimed("A-000000000" + std::to_string(2 * (id - 1)), 100 + static_cast<Token>(id)));
    release(id);
    EXPECT_TRUE(output_.sent.empty());
  }
  EXPECT_EQ(engine_.monitors(), 1u);
}

class NoRoomAtAllTest : public EngineRoomTest {
 protected:
  NoRoomAtAllTest() : EngineRoomTest(room(0)) {}

  void join_unwatched(ContenderId id, const std::string& monitor_name) {
    acquire_at(id, monitor_name);
    answers<Create, Transaction, Get>(failure(ReplyCode::node_exists), failure(ReplyCode::node_exists), {});
    answers<Create, List>(created("A-0000000002"), line());
  }
};

TEST_F(NoRoomAtAllTest, OneThatIsNotNextLooksInIntervals) {
  const Reply line = listing({"A-0000000000", "privateLock", "A-0000000001", "B-0000000001", "B-0000000002"}, 3);
  join(1, Priority::background, "B-0000000002", line);
  for (int look = 0; look < 3; ++look) {
    EXPECT_TRUE(output_.sent.empty());
    tick_after(250ms);
    answer_heartbeats();
    answer<List>(line);
  }
}

TEST_F(NoRoomAtAllTest, OneThatWantsToKnowItsPlaceLooksInIntervals) {
  const Reply line = listing({"A-0000000000", "privateLock", "B-0000000002"}, 3);
  acquire(1, Priority::background);
  answers<Create, Transaction, Get>(failure(ReplyCode::node_exists), failure(ReplyCode::node_exists), {});
  answers<Create, List>(created("B-0000000002"), line);
  for (int look = 0; look < 3; ++look) {
    EXPECT_TRUE(output_.sent.empty());
    tick_after(250ms);
    answer_heartbeats();
    answer<List>(line);
  }
}

// However many queues there are: the servers have better things to do than to answer for each of them all the time.
TEST_F(NoRoomAtAllTest, AllQueuesTogetherAreLookedAtOneAfterTheOther) {
  constexpr ContenderId queues = 1000;
  for (ContenderId id = 0; id < queues; ++id) {
    join_unwatched(id + 1, "P" + std::to_string(id));
  }
  std::size_t looks = 0;
  for (const TimePoint end = now_ + 3s; now_ < end; wait()) {
    answer_heartbeats();
    looks += output_.sent.size();
    while (!output_.sent.empty()) {
      const Sent look = output_.sent.front();
      output_.sent.pop_front();
      ASSERT_TRUE(std::holds_alternative<List>(look.request));
      engine_.on_reply(look.tag, line(), now_);
    }
  }
  EXPECT_GT(looks, 2000u);
  EXPECT_LE(looks, 3500u) << "12,000 if each had its own pace";
}

class RoomForAllTest : public EngineRoomTest {
 protected:
  RoomForAllTest() : EngineRoomTest(EngineOptions{}) {}

  // Answers everything until then. How many looks at a queue there were.
  std::size_t looks_until(TimePoint end) {
    std::size_t looks = 0;
    for (; now_ < end; wait()) {
      answer_heartbeats();
      while (!output_.sent.empty()) {
        const Sent sent = output_.sent.front();
        output_.sent.pop_front();
        const bool look = std::holds_alternative<List>(sent.request);
        looks += look ? 1 : 0;
        engine_.on_reply(sent.tag, look ? line() : Reply{}, now_);
      }
    }
    return looks;
  }
};

TEST_F(RoomForAllTest, ManyQueuesThatAreWatchedAreLookedAtAHundredTimesASecondAtMost) {
  constexpr ContenderId queues = 3000;
  for (ContenderId id = 0; id < queues; ++id) {
    join_at(id + 1, "P" + std::to_string(id));
    answer<Get>({});
  }
  looks_until(now_ + 5s);  // the first look comes sooner: from then on their own nodes are watched
  const std::size_t looks = looks_until(now_ + 45s);
  EXPECT_GE(looks, queues);
  EXPECT_LE(looks, 4500u + queues);
}

TEST_F(NoRoomAtAllTest, TurnsOfWaitsThatHaveEndedDelayNobody) {
  constexpr ContenderId ended = 5000;
  for (ContenderId id = 1; id <= ended; ++id) {
    join_unwatched(id, "P" + std::to_string(id));
    ASSERT_TRUE(engine_.cancel(id, now_));
    answer<coordination::Delete>({});
  }
  join_unwatched(ended + 1, "Q");
  ASSERT_TRUE(output_.sent.empty());
  for (const TimePoint end = now_ + 1s; now_ < end && output_.sent.empty(); wait()) answer_heartbeats();
  answer<List>(line());
}

}  // namespace
}  // namespace forelock::lock
