// Data of waiting contenders' nodes that somebody else has changed: when they are read, and what is told of them.
#include "engine_fixture.h"

namespace forelock::lock {
namespace {

class EngineWishesTest : public EngineTest {
 protected:
  explicit EngineWishesTest(EngineOptions options = {}) : EngineTest(std::move(options)) {}

  // Everything that is asked for is answered: nodes by their version, the line as it is. Until that long has passed.
  void serve(Duration time) {
    const TimePoint end = now_ + time;
    for (;;) {
      answer_heartbeats();
      if (!output_.sent.empty()) {
        serve_one();
      } else if (engine_.next_timer() < end) {
        wait();
      } else {
        now_ = end;
        return engine_.tick(now_);
      }
    }
  }

  void serve_one() {
    const Sent sent = output_.sent.front();
    output_.sent.pop_front();
    Reply reply;
    if (const auto* get = std::get_if<Get>(&sent.request)) {
      reply = node("changed", our_session);
      reply.stat.version = versions_[get->path];
      ++reads_[get->path];
      if (get->watch) watched_.insert(get->path);
    } else if (std::holds_alternative<List>(sent.request)) {
      reply = line_;
    } else {
      ADD_FAILURE() << "another kind of request: " << sent.request.index();
    }
    engine_.on_reply(sent.tag, std::move(reply), now_);
  }

  void change(const std::string& path) {
    ++versions_[path];
    if (watched_.erase(path) > 0) event(coordination::WatchEvent::Kind::data_changed, path);
    serve(1ms);
  }

  void join_behind_another_process() { join(1, Priority::background, "B-0000000003", line_); }

  // Contender 2 waits behind it, of the same process.
  void join_as_second() {
    ask(2, Priority::background);
    answer<Create>(created("B-0000000004"));
    line_ = listing({"A-0000000002", "privateLock", "B-0000000003", "B-0000000004"}, 5);
  }

  Reply line_ = listing({"A-0000000002", "privateLock", "B-0000000003"}, 4);
  std::map<std::string, std::int32_t> versions_;
  std::map<std::string, int> reads_;
  std::set<std::string> watched_;
  const std::string first_ = "/P/B-0000000003";
  const std::string second_ = "/P/B-0000000004";
};

TEST_F(EngineWishesTest, AChangeOfTheFirstOnesNodeIsTold) {
  join_behind_another_process();
  serve(1500ms);
  ASSERT_TRUE(watched_.contains(first_));
  EXPECT_TRUE(output_.changed_records.empty()) << "nobody has changed it";
  change(first_);
  EXPECT_EQ(output_.changed_records, std::vector<ContenderId>{1});
  EXPECT_TRUE(watched_.contains(first_)) << "another one is told as well";
  change(first_);
  EXPECT_EQ(output_.changed_records.size(), 2u);
  serve(1min - 2s);
  EXPECT_EQ(output_.changed_records.size(), 2u) << "each once";
}

TEST_F(EngineWishesTest, SoIsOneBeforeItWasWatched) {
  join_behind_another_process();
  change(first_);
  EXPECT_TRUE(output_.changed_records.empty());
  serve(1500ms);
  EXPECT_EQ(output_.changed_records, std::vector<ContenderId>{1});
}

TEST_F(EngineWishesTest, TheOthersOfItsProcessAreReadWithIt) {
  join_behind_another_process();
  serve(1ms);
  join_as_second();
  serve(1500ms);
  change(second_);
  EXPECT_TRUE(output_.changed_records.empty()) << "its node is not watched";
  change(first_);
  EXPECT_EQ(output_.changed_records, (std::vector<ContenderId>{1, 2}));
  EXPECT_FALSE(watched_.contains(second_));
  change(first_);
  EXPECT_EQ(output_.changed_records, (std::vector<ContenderId>{1, 2, 1}));
}

TEST_F(EngineWishesTest, AHolderIsNotToldButThoseOfItsProcessThatWait) {
  cold_cycle(1);
  acquire(2, Priority::foreground);
  answer<Transaction>(claimed("A-0000000002", 200));
  line_ = listing({"A-0000000002", "privateLock"}, 4);
  serve(100ms);
  ASSERT_TRUE(watched_.contains("/P/A-0000000002"));
  ask(3, Priority::background);
  answer<Create>(created("B-0000000004"));
  line_ = listing({"A-0000000002", "privateLock", "B-0000000004"}, 5);
  change("/P/B-0000000004");
  change("/P/A-0000000002");
  EXPECT_EQ(output_.changed_records, std::vector<ContenderId>{3});
}

TEST_F(EngineWishesTest, AfterAMoveItIsAnotherNode) {
  join_behind_another_process();
  serve(1500ms);
  change(first_);
  ASSERT_TRUE(engine_.set_priority(1, Priority::foreground, {}, now_));
  Reply moved;
  moved.operations.resize(2);
  moved.operations[0].path = "/P/A-0000000004";
  answer<Transaction>(std::move(moved));
  line_ = listing({"A-0000000002", "privateLock", "A-0000000004"}, 5);
  serve(3s);
  EXPECT_EQ(output_.changed_records.size(), 1u);
  change("/P/A-0000000004");
  EXPECT_EQ(output_.changed_records.size(), 2u) << "its first version, and not the former node's";
}

// While it claims nothing is told. Should it have to wait on, it is told then.
TEST_F(EngineWishesTest, WhoClaimsIsToldWhenItHasToWaitOn) {
  join(1, Priority::foreground, "A-0000000003", listing({"A-0000000002", "privateLock", "A-0000000003"}, 4));
  line_ = listing({"A-0000000002", "privateLock", "A-0000000003"}, 4);
  serve(1500ms);
  const std::string node = "/P/A-0000000003";
  ASSERT_TRUE(watched_.contains(node));
  event(coordination::WatchEvent::Kind::deleted, "/P/A-0000000002");
  const Sent claim = output_.sent.front();
  ASSERT_TRUE(std::holds_alternative<Transaction>(claim.request));
  output_.sent.pop_front();
  ++versions_[node];
  event(coordination::WatchEvent::Kind::data_changed, node);
  while (!output_.sent.empty()) serve_one();
  EXPECT_TRUE(output_.changed_records.empty());
  engine_.on_reply(claim.tag, failure(ReplyCode::node_exists), now_);
  serve(3s);
  EXPECT_EQ(output_.changed_records, std::vector<ContenderId>{1});
}

class NoRoomForWishesTest : public EngineWishesTest {
 protected:
  static EngineOptions options() {
    EngineOptions options;
    options.watched_bytes = 0;
    return options;
  }
  NoRoomForWishesTest() : EngineWishesTest(options()) {}
};

TEST_F(NoRoomForWishesTest, WithoutRoomForAWatchTheNodeIsReadNowAndThen) {
  join_behind_another_process();
  serve(20s);
  EXPECT_GE(reads_[first_], 1);
  EXPECT_LE(reads_[first_], 2) << "not with each look at the queue";
  change(first_);
  serve(11s);
  EXPECT_EQ(output_.changed_records, std::vector<ContenderId>{1});
}

}  // namespace
}  // namespace forelock::lock
