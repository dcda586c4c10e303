#include "lock/headcount.h"
#include "support/test.h"

#include "lock/limits.h"

namespace forelock::lock {
namespace {

// Numbers are given out by the server: 0, 1, 2, … for the children of a monitor.
class HeadcountTest : public ::testing::Test {
 protected:
  void watch() {
    count_.watch_sent();
    count_.watch_answered(true);
  }

  Headcount count_;
};

TEST_F(HeadcountTest, TheFirstChildOfAMonitorIsAlone) {
  EXPECT_TRUE(count_.node_and_lock_created(0));
  EXPECT_FALSE(count_.node_and_lock_created(2)) << "unwatched, the monitor may be another one by now";
}

TEST_F(HeadcountTest, CountsTheNodeAndTheLockOfEachClaim) {
  count_.watch_sent();
  EXPECT_TRUE(count_.node_and_lock_created(0));
  count_.watch_answered(true);
  EXPECT_TRUE(count_.node_and_lock_created(2));
  EXPECT_TRUE(count_.node_and_lock_created(4));
}

TEST_F(HeadcountTest, ANumberThatIsMissingWasGivenToAnotherProcess) {
  watch();
  EXPECT_TRUE(count_.node_and_lock_created(0));
  EXPECT_FALSE(count_.node_and_lock_created(3));
  EXPECT_FALSE(count_.node_and_lock_created(5)) << "counting begins anew only after a look";
}

TEST_F(HeadcountTest, CountsNodesAndLocksOneByOne) {
  watch();
  count_.was_alone(7);
  EXPECT_TRUE(count_.node_created(7));
  count_.lock_created();
  EXPECT_TRUE(count_.node_created(9));
  EXPECT_FALSE(count_.node_created(11));
  EXPECT_FALSE(count_.node_created(12));
}

TEST_F(HeadcountTest, NothingIsCountedWithoutAWatch) {
  count_.was_alone(7);
  EXPECT_FALSE(count_.node_created(7));
}

TEST_F(HeadcountTest, WhatTellsOfAnotherMonitorEndsTheCount) {
  const auto begin = [this](std::int64_t created) {
    watch();
    count_.was_alone(created);
  };
  begin(4);
  count_.watch_fired();
  EXPECT_FALSE(count_.node_and_lock_created(4));
  begin(6);
  count_.monitor_gone();
  EXPECT_FALSE(count_.node_and_lock_created(6));
  begin(8);
  count_.disconnected();
  EXPECT_FALSE(count_.node_and_lock_created(8));
  begin(10);
  count_.others_seen();
  EXPECT_FALSE(count_.node_and_lock_created(10));
  begin(12);
  count_.watch_sent();
  count_.watch_answered(false);
  EXPECT_FALSE(count_.node_and_lock_created(12));
}

TEST_F(HeadcountTest, AWatchCountsUntilItFiresOrTheMonitorIsCreatedAnew) {
  EXPECT_FALSE(count_.watched());
  count_.watch_sent();
  EXPECT_TRUE(count_.watched());
  EXPECT_TRUE(count_.watch_in_flight());
  EXPECT_FALSE(count_.watch_registered());
  count_.watch_answered(true);
  EXPECT_TRUE(count_.watch_registered());
  count_.disconnected();
  EXPECT_FALSE(count_.watched());
  EXPECT_TRUE(count_.watch_registered()) << "the client sets it again";
  watch();
  count_.monitor_created();
  EXPECT_FALSE(count_.watched());
  watch();
  count_.watch_fired();
  EXPECT_FALSE(count_.watched());
  EXPECT_FALSE(count_.watch_registered());
}

TEST_F(HeadcountTest, ExpectsTheProofWhereItHeldTheLastTime) {
  watch();
  EXPECT_FALSE(count_.likely_alone());
  count_.was_alone(0);
  EXPECT_TRUE(count_.likely_alone());
  EXPECT_FALSE(count_.node_and_lock_created(1));
  count_.was_alone(3);
  EXPECT_FALSE(count_.likely_alone()) << "others use this monitor";
  EXPECT_TRUE(count_.node_and_lock_created(3));
  EXPECT_TRUE(count_.likely_alone());
}

TEST_F(HeadcountTest, NothingIsProvedNearTheCountersEnd) {
  watch();
  count_.was_alone(counter_alarm - 1);
  EXPECT_TRUE(count_.likely_alone());
  EXPECT_TRUE(count_.node_and_lock_created(counter_alarm - 1));
  EXPECT_FALSE(count_.likely_alone());
  count_.was_alone(counter_alarm);
  EXPECT_FALSE(count_.likely_alone());
}

TEST_F(HeadcountTest, TheCountersEndIsToldOnceForAMonitor) {
  watch();
  count_.was_alone(5);
  EXPECT_FALSE(count_.nears_end(counter_alarm - 1));
  EXPECT_TRUE(count_.nears_end(counter_alarm));
  EXPECT_FALSE(count_.likely_alone());
  EXPECT_FALSE(count_.nears_end(counter_alarm + 1));
  count_.monitor_gone();
  EXPECT_TRUE(count_.nears_end(-1)) << "it has overflowed";
}

TEST_F(HeadcountTest, RemembersTheMostThatWasSeenOfOneMonitor) {
  const auto saw = [this](std::int64_t czxid, std::int32_t children, std::int64_t created) {
    coordination::Stat stat;
    stat.czxid = czxid;
    stat.children = children;
    stat.cversion = static_cast<std::int32_t>(2 * created - children);
    ASSERT_EQ(stat.created_children(), created);
    count_.saw(stat);
  };
  saw(100, 1, 5);
  saw(100, 1, 4);
  EXPECT_EQ(count_.at_least().created, 5);
  saw(200, 0, 1);
  EXPECT_EQ(count_.at_least().czxid, 200);
  EXPECT_EQ(count_.at_least().created, 1);
}

}  // namespace
}  // namespace forelock::lock
