#include "lock/unused_monitors.h"

#include "lock/limits.h"
#include "support/test.h"

namespace forelock::lock {
namespace {

constexpr Duration lingering = 1s;

TEST(UnusedMonitorsTest, OneRequestAtATimeAndOfLimitedSize) {
  UnusedMonitors unused(lingering);
  TimePoint now{};
  const auto all = [](const std::string&) { return true; };
  for (std::size_t i = 0; i < most_removed_at_once + 3; ++i) unused.remove("P" + std::to_string(i));
  EXPECT_EQ(unused.take(now, all).size(), most_removed_at_once);
  EXPECT_TRUE(unused.take(now, all).empty()) << "one is under way";
  unused.removed();
  EXPECT_TRUE(unused.take(now, all).empty()) << "a few can wait for others";
  EXPECT_EQ(unused.next_timer(), now + lingering / 4);
  now += lingering / 4;
  EXPECT_EQ(unused.take(now, all).size(), 3u);
}

// Whoever made it anew meanwhile need not be one of ours.
TEST(UnusedMonitorsTest, OneOfARefusedRequestThatHasChangedMeanwhileIsLookedAtFirst) {
  const auto all = [](const std::string&) { return true; };
  UnusedMonitors unused(4ms);
  for (const char* monitor : {"kept", "changed", "third"}) unused.remove(monitor);
  ASSERT_EQ(unused.take(TimePoint() + 1s, all).size(), 3u);
  unused.doubt("changed");
  EXPECT_TRUE(unused.refused(0).empty());
  EXPECT_EQ(unused.take_doubtful(TimePoint() + 2s, all), std::vector<std::string>{"changed"});
  unused.looked("changed");
  EXPECT_EQ(unused.take(TimePoint() + 2s, all), std::vector<std::string>{"third"});
  // Refused again, what has changed is not among those that are asked for one by one.
  unused.doubt("third");
  EXPECT_TRUE(unused.refused(std::nullopt).empty());
  EXPECT_EQ(unused.take_doubtful(TimePoint() + 3s, all), std::vector<std::string>{"third"});
}

TEST(UnusedMonitorsTest, ADoubtStaysWithWhatWasNotedASecondTime) {
  const auto all = [](const std::string&) { return true; };
  UnusedMonitors unused(4ms);
  unused.remove("P1");
  ASSERT_EQ(unused.take(TimePoint() + 1s, all).size(), 1u);
  unused.remove("P1");
  unused.doubt("P1");
  EXPECT_TRUE(unused.refused(0).empty());
  EXPECT_TRUE(unused.take(TimePoint() + 2s, all).empty());
  EXPECT_EQ(unused.take_doubtful(TimePoint() + 3s, all), std::vector<std::string>{"P1"});
}

// The removal itself is told as a change.
TEST(UnusedMonitorsTest, ARemovedMonitorThatComesAgainIsNotInDoubt) {
  const auto all = [](const std::string&) { return true; };
  UnusedMonitors unused(4ms);
  unused.remove("again");
  ASSERT_EQ(unused.take(TimePoint() + 1s, all).size(), 1u);
  unused.doubt("again");
  unused.removed();
  unused.remove("again");
  EXPECT_EQ(unused.take(TimePoint() + 2s, all), std::vector<std::string>{"again"});
}

// What was known of the earlier time counts no more, neither its instant nor that nothing had changed.
TEST(UnusedMonitorsTest, OneThatIsForgottenASecondTimeLingersFromThen) {
  const auto all = [](const std::string&) { return true; };
  const TimePoint begin = TimePoint() + 1h;
  UnusedMonitors unused(lingering);
  unused.let_linger(1, begin);
  unused.forget(1, "P1", UnusedMonitors::Mark::seen);
  unused.let_linger(2, begin + lingering);
  unused.forget(2, "P1", UnusedMonitors::Mark::seen);
  EXPECT_EQ(unused.lingered(begin + lingering * 3 / 2), std::vector<std::uint64_t>{1}) << "of which nothing is known";
  EXPECT_TRUE(unused.take(begin + lingering * 3 / 2, all).empty());
  unused.doubt("P1");
  EXPECT_TRUE(unused.lingered(begin + 3 * lingering).empty());
  EXPECT_TRUE(unused.take(begin + 3 * lingering, all).empty());
  EXPECT_EQ(unused.take_doubtful(begin + 3 * lingering, all), std::vector<std::string>{"P1"});
}

TEST(UnusedMonitorsTest, WhatIsInUseIsLeftOut) {
  UnusedMonitors unused(lingering);
  unused.remove("P1");
  unused.remove("P2");
  EXPECT_EQ(unused.take({}, [](const std::string& name) { return name != "P1"; }), std::vector<std::string>{"P2"});
}

TEST(UnusedMonitorsTest, ThereIsALimitWithoutAConnection) {
  UnusedMonitors unused(lingering);
  for (std::size_t i = 0; i < most_unused + 10; ++i) unused.remove(std::to_string(i));
  EXPECT_EQ(unused.take_last(1, [](const std::string&) { return true; }), std::vector<std::string>{"10"});
}

TEST(UnusedMonitorsTest, SwitchedOffItKeepsNothing) {
  UnusedMonitors unused(Duration{});
  unused.let_linger(1, {});
  unused.remove("P1");
  EXPECT_EQ(unused.next_timer(), never);
  EXPECT_TRUE(unused.lingered(TimePoint{} + 1h).empty());
}

}  // namespace
}  // namespace forelock::lock
