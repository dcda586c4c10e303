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

TEST(SeenTokensTest, KnowsWhatWasReadUntilItIsToldOfAChange) {
  SeenTokens seen;
  EXPECT_FALSE(seen.find("/P/privateLock"));
  seen.remember("/P/privateLock", {7, begin}, seen.connection());
  seen.changed("/Q/privateLock");
  ASSERT_TRUE(seen.find("/P/privateLock"));
  EXPECT_EQ(seen.find("/P/privateLock")->token, 7);
  EXPECT_EQ(seen.find("/P/privateLock")->asked, begin);
  seen.changed("/P/privateLock");
  EXPECT_FALSE(seen.find("/P/privateLock"));
}

TEST(SeenTokensTest, WhatOneConnectionHasToldEndsWithIt) {
  SeenTokens seen;
  seen.remember("/P/privateLock", {7, begin}, seen.connection());
  const std::uint64_t before = seen.connection();
  seen.connection_changed();
  EXPECT_FALSE(seen.find("/P/privateLock"));
  seen.remember("/P/privateLock", {7, begin}, before);
  EXPECT_FALSE(seen.find("/P/privateLock")) << "it was asked for over the former one";
}

TEST(SeenTokensTest, RemembersABoundedNumber) {
  SeenTokens seen;
  const auto known = [&seen] {
    std::size_t count = 0;
    for (std::size_t i = 0; i < 3 * SeenTokens::max_remembered; ++i) count += seen.find(std::to_string(i)) ? 1u : 0u;
    return count;
  };
  for (std::size_t i = 0; i < SeenTokens::max_remembered; ++i) seen.remember(std::to_string(i), {}, 0);
  EXPECT_EQ(known(), SeenTokens::max_remembered);
  seen.remember("0", {8, begin}, 0);
  EXPECT_EQ(known(), SeenTokens::max_remembered) << "it was there already";
  for (std::size_t i = 0; i < 3 * SeenTokens::max_remembered; ++i) seen.remember(std::to_string(i), {}, 0);
  EXPECT_LE(known(), SeenTokens::max_remembered);
  EXPECT_TRUE(seen.find(std::to_string(3 * SeenTokens::max_remembered - 1))) << "the last one";
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
