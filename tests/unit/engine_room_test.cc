// The room for watches, and for what is remembered of idle monitors: what is counted, and what is forgotten for it.
#include <chrono>
#include <string>
#include <variant>
#include <vector>

#include "engine_fixture.h"

namespace forelock::lock {
namespace {

using namespace std::chrono_literals;
using coordination::Create;
using coordination::Get;
using coordination::List;
using coordination::RemoveDataWatch;
using coordination::Transaction;
using coordination::WatchEvent;

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
    answer<Create>({});
    answer<Transaction>(claimed("A-0000000000", 100));
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
    answer<Create>(failure(ReplyCode::node_exists));
    answer<Transaction>(failure(ReplyCode::node_exists));
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

TEST_F(RoomForFourTest, ANewSessionHasNoWatches) {
  for (const char* name : {"P", "Q", "R"}) EXPECT_TRUE(cycle(1, name));
  engine_.on_session({SessionEvent::Kind::expired, 0, 0ms}, now_);
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
  engine_.on_session({SessionEvent::Kind::expired, 0, 0ms}, now_);
  engine_.on_session({SessionEvent::Kind::connected, our_session + 1, 4000ms, now_}, now_);
  answer_heartbeat({});
  now_ += 400ms;
  engine_.tick(now_);
  answer_heartbeat({});
}

// Two watches on a monitor that waits: on its node and on its children.
class RoomForTwoTest : public EngineRoomTest {
 protected:
  RoomForTwoTest() : EngineRoomTest(room(12)) {}
};

TEST_F(RoomForTwoTest, WithAMonitorAllItsWatchesGo) {
  EXPECT_TRUE(join_at(1, "P"));
  ASSERT_TRUE(engine_.cancel(1, now_));
  output_.sent.clear();
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
    answer<Create>(failure(ReplyCode::node_exists));
    answer<Transaction>(failure(ReplyCode::node_exists));
    answer<Get>({});
    answer<Create>(created("A-0000000002"));
    answer<List>(line());
  }
};

TEST_F(NoRoomAtAllTest, OneThatIsNotNextLooksInIntervals) {
  const Reply line = listing({"A-0000000000", "privateLock", "A-0000000001", "B-0000000001", "B-0000000002"}, 3);
  join(1, Priority::background, "B-0000000002", line);
  for (int look = 0; look < 3; ++look) {
    EXPECT_TRUE(output_.sent.empty());
    now_ += 250ms;
    engine_.tick(now_);
    answer_heartbeats();
    answer<List>(line);
  }
}

TEST_F(NoRoomAtAllTest, OneThatWantsToKnowItsPlaceLooksInIntervals) {
  const Reply line = listing({"A-0000000000", "privateLock", "B-0000000002"}, 3);
  acquire(1, Priority::background);
  answer<Create>(failure(ReplyCode::node_exists));
  answer<Transaction>(failure(ReplyCode::node_exists));
  answer<Get>({});
  answer<Create>(created("B-0000000002"));
  answer<List>(line);
  for (int look = 0; look < 3; ++look) {
    EXPECT_TRUE(output_.sent.empty());
    now_ += 250ms;
    engine_.tick(now_);
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
