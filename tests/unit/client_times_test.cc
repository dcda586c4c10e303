// How long waits and holds take, by class.
#include "client/lock_times.h"
#include "support/test.h"

namespace forelock::client {
namespace {

constexpr lock::TimePoint day_of_times{24h};

std::uint64_t total(const DurationHistogram& histogram) {
  return std::accumulate(histogram.counts.begin(), histogram.counts.end(), std::uint64_t{0});
}

ClientStatistics counted(const LockTimes& times) {
  ClientStatistics statistics;
  times.fill(statistics);
  return statistics;
}

TEST(LockTimesTest, WaitAndHoldAreCountedInTheirClass) {
  LockTimes times;
  times.begins(1, Priority::background, day_of_times);
  times.granted(1, day_of_times + 7ms);
  times.ended(1, day_of_times + 7ms + 90s);
  const ClientStatistics statistics = counted(times);
  EXPECT_EQ(statistics.background.wait.counts[3], 1u) << "up to 10 ms";
  EXPECT_EQ(statistics.background.wait.sum, 7ms);
  EXPECT_EQ(statistics.background.hold.counts[15], 1u) << "up to 5 min";
  EXPECT_EQ(statistics.background.hold.sum, 90s);
  EXPECT_EQ(total(statistics.foreground.wait) + total(statistics.foreground.hold), 0u);
  EXPECT_EQ(times.size(), 0u);
}

TEST(LockTimesTest, BoundsBelongToTheBucketBelow) {
  LockTimes times;
  for (const auto wait : {0us, 1000us, 1001us}) {
    times.begins(1, Priority::foreground, day_of_times);
    times.granted(1, day_of_times + wait);
  }
  times.begins(1, Priority::foreground, day_of_times);
  times.granted(1, day_of_times + 2h);
  const DurationHistogram wait = counted(times).foreground.wait;
  EXPECT_EQ(wait.counts.front(), 2u);
  EXPECT_EQ(wait.counts[1], 1u);
  EXPECT_EQ(wait.counts.back(), 1u) << "beyond all bounds";
}

TEST(LockTimesTest, WhoIsRefusedHasNoWaitAndNoHold) {
  LockTimes times;
  times.begins(1, Priority::foreground, day_of_times);
  times.ended(1, day_of_times + 1s);
  times.ended(1, day_of_times + 2s);
  times.granted(2, day_of_times);
  const ClientStatistics statistics = counted(times);
  EXPECT_EQ(total(statistics.foreground.wait) + total(statistics.foreground.hold), 0u);
}

TEST(LockTimesTest, ALockThatLingersIsHeldOnlyWhileACallerHasIt) {
  LockTimes times;
  times.begins(1, Priority::foreground, day_of_times);
  times.granted(1, day_of_times + 1ms);
  times.ended(1, day_of_times + 2ms);  // it lingers
  times.taken_again(1, Priority::background, day_of_times + 1h);
  times.ended(1, day_of_times + 1h + 5ms);
  const ClientStatistics statistics = counted(times);
  EXPECT_EQ(statistics.foreground.hold.sum, 1ms);
  EXPECT_EQ(statistics.background.wait.counts.front(), 1u);
  EXPECT_EQ(statistics.background.hold.sum, 5ms);
}

TEST(LockTimesTest, SteppingAsideIsTheEndOfAHoldAndTheBeginOfAWait) {
  LockTimes times;
  times.begins(1, Priority::background, day_of_times);
  times.granted(1, day_of_times);
  times.stepped_aside(1, day_of_times + 3ms);
  times.moved(1, Priority::foreground);
  times.granted(1, day_of_times + 10ms);
  times.moved(1, Priority::background);  // too late
  times.ended(1, day_of_times + 12ms);
  const ClientStatistics statistics = counted(times);
  EXPECT_EQ(statistics.background.hold.sum, 3ms);
  EXPECT_EQ(statistics.foreground.wait.sum, 7ms);
  EXPECT_EQ(statistics.foreground.hold.sum, 2ms);
}

}  // namespace
}  // namespace forelock::client
