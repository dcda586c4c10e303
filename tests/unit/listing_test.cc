#include "lock/listing.h"
#include "support/test.h"

namespace forelock::lock {
namespace {

constexpr ChildName foreground(std::int64_t number) {
  return {"A", number};
}
constexpr ChildName background(std::int64_t number) {
  return {"B", number};
}

class ListingTest : public ::testing::Test {
 protected:
  std::size_t take(const std::vector<std::string>& children, std::int64_t created = 100) {
    coordination::Stat monitor;
    monitor.children = static_cast<std::int32_t>(children.size());
    monitor.cversion = static_cast<std::int32_t>(2 * created) - monitor.children;
    return listing_.take(children, monitor, own_);
  }

  std::unordered_map<std::string, Contender*> own_;
  Listing listing_;
};

TEST_F(ListingTest, KeepsOthersInTheOrderInWhichTheyAreServed) {
  take({"B-0000000001", "A-0000000007", "privateLock", "A-0000000003", "lost+found"});
  ASSERT_EQ(listing_.others().size(), 3u);
  EXPECT_EQ(listing_.others()[0].name, "A-0000000003");
  EXPECT_EQ(listing_.others()[1].name, "A-0000000007");
  EXPECT_EQ(listing_.others()[2].name, "B-0000000001");
  EXPECT_TRUE(listing_.lock_seen());
  take({"lost+found"});
  EXPECT_TRUE(listing_.others().empty());
  EXPECT_FALSE(listing_.lock_seen());
  EXPECT_FALSE(listing_.shows_nothing()) << "a node that is no contender's keeps the monitor from being empty";
}

TEST_F(ListingTest, CountsOwnNodesAndLeavesThemOut) {
  own_ = {{"A-0000000003", nullptr}, {"B-0000000009", nullptr}};
  EXPECT_EQ(take({"A-0000000003", "A-0000000004"}), 1u);
  ASSERT_EQ(listing_.others().size(), 1u);
  EXPECT_EQ(listing_.others()[0].name, "A-0000000004");
}

TEST_F(ListingTest, TellsWhoGoesBefore) {
  take({"A-0000000003", "A-0000000007", "B-0000000001"});
  EXPECT_EQ(listing_.count_before(foreground(2)), 0u);
  EXPECT_EQ(listing_.last_before(foreground(2)), nullptr);
  EXPECT_EQ(listing_.count_before(foreground(5)), 1u);
  EXPECT_EQ(listing_.last_before(foreground(5))->name, "A-0000000003");
  EXPECT_EQ(listing_.count_before(background(0)), 2u) << "foreground goes first, whatever the numbers";
  EXPECT_EQ(listing_.last_before(background(2))->name, "B-0000000001");
}

TEST_F(ListingTest, WhoJoinedAfterAClaimThatCreatedItsNodeWasNotThereBefore) {
  take({"A-0000000009"});
  EXPECT_TRUE(listing_.shows_before_claim(background(5), false));
  EXPECT_FALSE(listing_.shows_before_claim(background(5), true));
  EXPECT_TRUE(listing_.shows_before_claim(background(9), true)) << "at the counter's end equal numbers tell nothing";
  EXPECT_FALSE(listing_.shows_before_claim(foreground(5), false));
}

TEST_F(ListingTest, ShowsAContenderFirstOnlyIfItWasThere) {
  EXPECT_FALSE(listing_.shows_first(foreground(5)));
  take({"B-0000000001"}, 5);
  EXPECT_FALSE(listing_.shows_first(foreground(5))) << "taken before number 5 was given";
  take({"B-0000000001"}, 6);
  EXPECT_TRUE(listing_.shows_first(foreground(5)));
  take({"A-0000000004"}, 6);
  EXPECT_FALSE(listing_.shows_first(foreground(5)));
  listing_.remove("A-0000000004");
  EXPECT_TRUE(listing_.shows_first(foreground(5)));
  listing_.forget();
  EXPECT_FALSE(listing_.shows_first(foreground(5)));
}

TEST_F(ListingTest, ANodeThatWentTookThePrivateLockWithIt) {
  take({"A-0000000003", "privateLock"});
  listing_.remove("A-0000000003");
  EXPECT_FALSE(listing_.lock_seen());
  EXPECT_EQ(listing_.count_before(background(0)), 0u);
}

TEST_F(ListingTest, IsFreshWhileItsWatchHasNotFired) {
  listing_.watch_answered(true);
  EXPECT_TRUE(listing_.children_watched());
  EXPECT_FALSE(listing_.unwatched());
  listing_.children_changed();
  EXPECT_FALSE(listing_.children_watched());
  listing_.watch_answered(false);
  EXPECT_TRUE(listing_.unwatched()) << "there was no room for a watch";
}

TEST_F(ListingTest, IsFreshForTheContenderWhosePredecessorIsWatched) {
  listing_.keep_fresh_for(12);
  listing_.set_watched_node("A-0000000003");
  EXPECT_TRUE(listing_.fresh_for(12));
  EXPECT_FALSE(listing_.fresh_for(13));
  EXPECT_EQ(listing_.watched_node_changed(), "A-0000000003");
  EXPECT_FALSE(listing_.fresh_for(12));
  EXPECT_EQ(listing_.watched_node(), "");
}

TEST_F(ListingTest, AnotherLookIsNeededOnceItHasExpired) {
  take({"A-0000000003"});
  listing_.watch_answered(true);
  listing_.keep_fresh_for(12);
  listing_.expire();
  EXPECT_FALSE(listing_.children_watched());
  EXPECT_FALSE(listing_.fresh_for(12));
  EXPECT_TRUE(listing_.known()) << "what it showed may still be told";
}

TEST_F(ListingTest, KnowsOfLooksUnderWay) {
  const TimePoint now{std::chrono::seconds(3)};
  EXPECT_FALSE(listing_.in_flight());
  listing_.sent(now);
  listing_.sent(now);
  listing_.answered();
  EXPECT_TRUE(listing_.in_flight());
  EXPECT_EQ(listing_.last_sent(), now);
  listing_.answered();
  EXPECT_FALSE(listing_.in_flight());
}

}  // namespace
}  // namespace forelock::lock
