// How many bytes a session's watches take, and when there is no room for another one.
#include "lock/watch_ledger.h"
#include "support/test.h"

namespace forelock::lock {
namespace {

using Kind = WatchLedger::Kind;

constexpr std::size_t root = 10;
constexpr std::size_t cost = 3 + root + 4;  // of "/P1": the chroot and the length prefix come on top

TEST(WatchLedgerTest, CountsWhatIsSetAsOnTheWire) {
  WatchLedger ledger(10 * cost, root);
  EXPECT_TRUE(ledger.reserve(Kind::data, "/P1"));
  EXPECT_EQ(ledger.bytes(), cost);
  ledger.settle(Kind::data, "/P1", true);
  EXPECT_EQ(ledger.bytes(), cost);
  EXPECT_EQ(ledger.count(), 1u);
}

TEST(WatchLedgerTest, TheTwoKindsAreTwoWatches) {
  WatchLedger ledger(10 * cost, root);
  for (const Kind kind : {Kind::data, Kind::children}) {
    EXPECT_TRUE(ledger.reserve(kind, "/P1"));
    ledger.settle(kind, "/P1", true);
  }
  EXPECT_EQ(ledger.count(), 2u);
  ledger.remove(Kind::children, "/P1");
  EXPECT_EQ(ledger.bytes(), cost);
  ledger.remove(Kind::children, "/P1");
  EXPECT_EQ(ledger.bytes(), cost);
}

TEST(WatchLedgerTest, TheSameWatchTwiceIsOne) {
  WatchLedger ledger(10 * cost, root);
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(ledger.reserve(Kind::data, "/P1"));
    ledger.settle(Kind::data, "/P1", true);
  }
  EXPECT_EQ(ledger.bytes(), cost);
  ledger.remove(Kind::data, "/P1");
  EXPECT_EQ(ledger.bytes(), 0u);
}

TEST(WatchLedgerTest, AWatchThatCouldNotBeSetTakesNoRoom) {
  WatchLedger ledger(10 * cost, root);
  EXPECT_TRUE(ledger.reserve(Kind::data, "/P1"));
  ledger.settle(Kind::data, "/P1", false);
  EXPECT_EQ(ledger.bytes(), 0u);
}

// The event of the watch before comes before the answer that sets it again.
TEST(WatchLedgerTest, AWatchThatFiresWhileItIsSetAgainIsCountedOnce) {
  WatchLedger ledger(10 * cost, root);
  EXPECT_TRUE(ledger.reserve(Kind::data, "/P1"));
  ledger.settle(Kind::data, "/P1", true);
  EXPECT_TRUE(ledger.reserve(Kind::data, "/P1"));
  ledger.remove(Kind::data, "/P1");
  ledger.settle(Kind::data, "/P1", true);
  EXPECT_EQ(ledger.bytes(), cost);
}

TEST(WatchLedgerTest, RefusesWhatWouldPassTheLimitExactly) {
  WatchLedger ledger(2 * cost, root);
  EXPECT_TRUE(ledger.reserve(Kind::data, "/P1"));
  EXPECT_TRUE(ledger.reserve(Kind::data, "/P2"));
  EXPECT_FALSE(ledger.reserve(Kind::data, "/P3"));
  EXPECT_EQ(ledger.bytes(), 2 * cost);
  ledger.settle(Kind::data, "/P1", true);
  EXPECT_TRUE(ledger.reserve(Kind::data, "/P1"));  // is there already
  ledger.settle(Kind::data, "/P1", true);
  ledger.settle(Kind::data, "/P2", false);
  EXPECT_TRUE(ledger.reserve(Kind::data, "/P3"));
}

TEST(WatchLedgerTest, AWatchThatWasNotTakenBackIsCountedAgainOnce) {
  WatchLedger ledger(cost, root);
  EXPECT_TRUE(ledger.reserve(Kind::data, "/P1"));
  ledger.settle(Kind::data, "/P1", true);
  ledger.remove(Kind::data, "/P1");
  ledger.restore(Kind::data, "/P1");
  ledger.restore(Kind::data, "/P1");
  EXPECT_EQ(ledger.bytes(), cost);
  EXPECT_FALSE(ledger.reserve(Kind::data, "/P2"));
}

TEST(WatchLedgerTest, AQuarterBeforeItsLimitItIsNearlyFull) {
  WatchLedger ledger(8 * cost, root);
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(ledger.reserve(Kind::data, "/P" + std::to_string(i)));
  EXPECT_FALSE(ledger.nearly_full());
  EXPECT_TRUE(ledger.reserve(Kind::data, "/P6"));
  EXPECT_TRUE(ledger.nearly_full());
  ledger.clear();
  EXPECT_EQ(ledger.bytes(), 0u);
  EXPECT_EQ(ledger.count(), 0u);
}

}  // namespace
}  // namespace forelock::lock
