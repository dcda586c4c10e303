// What the client knows about its session beside the protocol: who is to be warned, and whether it is worth keeping.
#include "agent/danger_watch.h"
#include "client/answer_watch.h"
#include "client/seen_tokens.h"
#include "support/test.h"

namespace forelock::client {
namespace {

using lock::TimePoint;

constexpr TimePoint begin{1h};

TEST(DangerWatchTest, TellsEachOnceWhenItsMarginIsReached) {
  agent::DangerWatch watch;
  EXPECT_EQ(watch.next(begin, begin + 10s), lock::never);
  watch.add(1, 1s);
  watch.add(2, 3s);
  EXPECT_EQ(watch.next(begin, begin + 10s), begin + 7s);
  EXPECT_THAT(watch.due(begin + 6s, begin + 10s), IsEmpty());
  EXPECT_THAT(watch.due(begin + 7s, begin + 10s), ElementsAre(2));
  EXPECT_THAT(watch.due(begin + 8s, begin + 10s), IsEmpty());
  EXPECT_EQ(watch.next(begin + 8s, begin + 10s), begin + 9s);
  EXPECT_THAT(watch.due(begin + 9500ms, begin + 10s), ElementsAre(1));
  EXPECT_EQ(watch.next(begin + 9500ms, begin + 10s), lock::never);
}

TEST(DangerWatchTest, TellsAgainAfterTheDeadlineHasMovedOn) {
  agent::DangerWatch watch;
  watch.add(1, 1s);
  watch.add(2, 3s);
  EXPECT_THAT(watch.due(begin + 9s, begin + 10s), ElementsAre(2, 1));
  EXPECT_THAT(watch.due(begin + 9s, begin + 11s), IsEmpty()) << "2 s left: enough for one of them";
  EXPECT_THAT(watch.due(begin + 10s, begin + 11s), ElementsAre(1));
  EXPECT_EQ(watch.next(begin + 10s, begin + 20s), begin + 17s);
  EXPECT_THAT(watch.due(begin + 19s, begin + 20s), ElementsAre(2, 1));
}

TEST(DangerWatchTest, ForgetsWhatIsNotHeldAnyMore) {
  agent::DangerWatch watch;
  watch.add(1, 1s);
  watch.add(2, 1s);
  watch.remove(1);
  watch.remove(7);
  EXPECT_THAT(watch.due(begin + 9s, begin + 10s), ElementsAre(2));
  watch.add(2, 1s);  // granted again
  EXPECT_THAT(watch.due(begin + 9s, begin + 10s), ElementsAre(2));
  watch.remove(2);
  EXPECT_THAT(watch.due(begin + 9s, begin + 20s), IsEmpty());
  EXPECT_EQ(watch.next(begin + 9s, begin + 20s), lock::never);
}

class SeenTokensTest : public ::testing::Test {
 protected:
  void read(const std::string& path, std::int64_t token = 7) {
    seen_.end(path, seen_.begin(path), SeenTokens::Seen{token, begin});
  }
  std::int64_t known(const std::string& path) const { return seen_.find(path).value_or(SeenTokens::Seen{}).token; }

  SeenTokens seen_;
};

TEST_F(SeenTokensTest, KnowsWhatWasReadUntilItIsToldOfAChange) {
  EXPECT_FALSE(seen_.find("/P"));
  read("/P");
  seen_.changed("/Q");
  EXPECT_EQ(known("/P"), 7);
  EXPECT_EQ(seen_.find("/P")->asked, begin);
  seen_.changed("/P");
  EXPECT_FALSE(seen_.find("/P"));
}

TEST_F(SeenTokensTest, AReadThatLeavesNoWatchIsNotRemembered) {
  seen_.end("/P", seen_.begin("/P"), std::nullopt);
  EXPECT_FALSE(seen_.find("/P"));
  read("/P");
  seen_.end("/P", seen_.begin("/P"), std::nullopt);
  EXPECT_EQ(known("/P"), 7) << "the former watch is still there";
}

TEST_F(SeenTokensTest, AChangeBetweenTwoReadsLeavesTheLaterOne) {
  read("/P");
  const auto reading = seen_.begin("/P");
  seen_.changed("/P");
  EXPECT_FALSE(seen_.find("/P"));
  seen_.end("/P", reading, SeenTokens::Seen{8, begin});
  EXPECT_EQ(known("/P"), 8);
}

TEST_F(SeenTokensTest, WhatOneConnectionHasToldEndsWithIt) {
  read("/P");
  const auto reading = seen_.begin("/Q");
  seen_.connection_changed();
  EXPECT_FALSE(seen_.find("/P"));
  seen_.end("/Q", reading, SeenTokens::Seen{8, begin});
  EXPECT_FALSE(seen_.find("/Q")) << "it was asked for over the former one";
  read("/P");
  EXPECT_EQ(known("/P"), 7);
}

TEST_F(SeenTokensTest, ASessionThatEndsTakesItsWatchesAlong) {
  read("/P");
  const auto reading = seen_.begin("/P");
  seen_.session_ended();
  EXPECT_FALSE(seen_.find("/P"));
  const auto next = seen_.begin("/P");
  seen_.end("/P", reading, SeenTokens::Seen{8, begin});
  EXPECT_FALSE(seen_.find("/P")) << "of the former session";
  seen_.end("/P", next, SeenTokens::Seen{9, begin});
  EXPECT_EQ(known("/P"), 9);
}

// Those that have not fired are registered again with each connection, also of what nobody asks for any more.
TEST_F(SeenTokensTest, WatchesAreFew) {
  const auto path = [](std::size_t i) { return "/" + std::to_string(i) + std::string(200, 'x'); };
  const std::size_t enough = SeenTokens::max_bytes / 200;
  std::size_t watched = 0;
  for (std::size_t i = 0; i < enough; ++i) {
    const auto reading = seen_.begin(path(i));
    watched += reading.watch ? 1u : 0u;
    seen_.end(path(i), reading, SeenTokens::Seen{7, begin});
  }
  EXPECT_GT(watched, enough / 2);
  EXPECT_LT(watched, enough);
  seen_.connection_changed();
  EXPECT_FALSE(seen_.begin(path(enough)).watch) << "they are still there";
  seen_.changed(path(0));
  EXPECT_TRUE(seen_.begin(path(enough)).watch);
  EXPECT_FALSE(seen_.begin(path(enough + 1)).watch);
  seen_.session_ended();
  EXPECT_TRUE(seen_.begin(path(enough + 1)).watch);
}

TEST(AnswerWatchTest, ASessionThatConnectsInVainIsUseless) {
  AnswerWatch watch;
  watch.opened(begin);
  for (int i = 0; i < AnswerWatch::max_fruitless - 1; ++i) watch.disconnected();
  EXPECT_FALSE(watch.is_useless(begin + 1h, 4s)) << "that may be an outage";
  watch.disconnected();
  EXPECT_FALSE(watch.is_useless(begin + 4s, 4s));
  EXPECT_TRUE(watch.is_useless(begin + 5s, 4s));
  watch.answered(begin + 6s);
  EXPECT_FALSE(watch.is_useless(begin + 1h, 4s));
}

}  // namespace
}  // namespace forelock::client
