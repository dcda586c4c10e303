// What is listed next of a namespace, and what is watched: cli/serve/look/watch_plan.h.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "cli/serve/look/watch_plan.h"

namespace forelock::cli {
namespace {

using namespace std::chrono_literals;

using Listing = WatchPlan::Listing;

constexpr std::size_t plenty = 1'000'000;

// A plan, and a server that answers all that it asks for.
class PlanTest : public testing::Test {
 protected:
  static WatchPlanOptions options(std::size_t bytes = plenty) {
    WatchPlanOptions options;
    options.pace = 500ms;
    options.settling = 10ms;
    options.refused = 60s;
    options.watched_bytes = bytes;
    return options;
  }

  // What is listed now; `changed`: those that are found changed.
  std::vector<std::string> round(const std::vector<std::string>& changed = {}) {
    std::vector<std::string> listed;
    for (const Listing& listing : plan_.next(now_, 1000)) {
      const bool news = std::find(changed.begin(), changed.end(), listing.name) != changed.end();
      plan_.listed(listing, news, now_, 100us);
      if (listing.name.empty()) plan_.set_names(names_, now_);
      listed.push_back((listing.name.empty() ? "/" : listing.name) + (listing.watch ? "" : " unwatched"));
    }
    std::sort(listed.begin(), listed.end());
    return listed;
  }

  void begin(const std::vector<std::string>& names) {
    names_ = names;
    plan_.session_begins(now_);
    round();
    round();
  }

  std::vector<std::string> names_;
  WatchPlan plan_{options()};
  WatchPlan::Time now_{1h};
};

using Names = std::vector<std::string>;

TEST_F(PlanTest, ListsAllOnceAndThenNothingWhileNothingChanges) {
  plan_.session_begins(now_);
  EXPECT_FALSE(plan_.complete());
  names_ = {"P1", "P2"};
  EXPECT_EQ(round(), Names{"/"});
  EXPECT_FALSE(plan_.complete());
  EXPECT_EQ(round(), (Names{"P1", "P2"}));
  EXPECT_TRUE(plan_.complete());
  EXPECT_EQ(plan_.watched(), 2U);
  EXPECT_EQ(plan_.due(), WatchPlan::Time::max());
  now_ += 24h;
  EXPECT_EQ(round(), Names{});
  EXPECT_TRUE(plan_.older_than(now_).empty()) << "what is watched is never old";
}

TEST_F(PlanTest, WhatHasChangedIsListedAtOnceAndNotMoreOftenThanThePace) {
  begin({"P1", "P2"});
  now_ += 10s;
  plan_.changed("P1", now_);
  EXPECT_EQ(plan_.due(), now_ + 10ms) << "what belongs to the same change comes with it";
  now_ += 10ms;
  EXPECT_EQ(round(), Names{"P1"});
  now_ += 1ms;
  plan_.changed("P1", now_);
  EXPECT_EQ(plan_.due(), now_ + 499ms);
  EXPECT_EQ(plan_.watched(), 1U);
}

TEST_F(PlanTest, NewNodesAreListedAndThoseThatHaveGoneForgotten) {
  begin({"P1", "P2"});
  now_ += 10s;
  names_ = {"P2", "P3"};
  plan_.changed("", now_);
  now_ += 10ms;
  EXPECT_EQ(round(), Names{"/"});
  EXPECT_EQ(round(), Names{"P3"});
  EXPECT_EQ(plan_.watched(), 2U);
  plan_.changed("P1", now_);
  EXPECT_EQ(plan_.due(), WatchPlan::Time::max()) << "nobody's";
}

TEST_F(PlanTest, WhatChangesAllTheTimeIsSampledUntilItIsQuiet) {
  begin({"busy", "calm"});
  now_ += 10s;
  for (int i = 0; i < 20; ++i) {
    plan_.changed("busy", now_);  // of no effect where it is not watched
    now_ += 500ms;
    round({"busy"});
  }
  EXPECT_EQ(plan_.watched(), 1U);
  EXPECT_EQ(plan_.sampled(), 1U);
  plan_.changed("busy", now_);
  now_ += 500ms;
  EXPECT_EQ(round({"busy"}), Names{"busy unwatched"});
  for (int i = 0; i < WatchPlan::least_quiet; ++i) {
    now_ += 500ms;
    EXPECT_EQ(round(), Names{"busy unwatched"});
  }
  now_ += 500ms;
  EXPECT_EQ(round(), Names{"busy"}) << "watched again";
  EXPECT_EQ(plan_.sampled(), 0U);
}

TEST_F(PlanTest, WhoWasWatchedTooEarlyIsSampledForLonger) {
  begin({"busy"});
  const auto samples_until_watched = [this] {
    int samples = 0;
    while (plan_.watched() > 0) {
      plan_.changed("busy", now_);
      now_ += 500ms;
      round({"busy"});
    }
    while (plan_.watched() == 0) {
      now_ += 500ms;
      round();
      ++samples;
    }
    return samples;
  };
  const int first = samples_until_watched();
  const int second = samples_until_watched();
  EXPECT_GT(second, first);
  for (int i = 0; i < 10; ++i) samples_until_watched();
  EXPECT_LE(samples_until_watched(), WatchPlan::most_quiet + 1);
  now_ += 2 * WatchPlan::forgiven_after;  // quiet for so long: what was before counts no more
  EXPECT_EQ(samples_until_watched(), first);
}

TEST_F(PlanTest, WhatHasNoRoomIsSampled) {
  plan_ = WatchPlan(options(40));
  begin({"P1", "P2", "P3"});
  EXPECT_EQ(plan_.watched() + plan_.sampled(), 3U);
  EXPECT_EQ(plan_.sampled(), 2U) << "the watch of a node and that of its lock take 26 bytes here";
  now_ += 500ms;
  EXPECT_EQ(round().size(), 2U);
  // Room that becomes free is used.
  names_ = {"P2", "P3"};
  plan_.changed("", now_);
  now_ += 600ms;
  round();
  round();
  now_ += 600ms;
  round();
  EXPECT_GE(plan_.watched(), 1U);
}

TEST_F(PlanTest, AnotherSessionHasNoWatches) {
  begin({"P1", "P2"});
  now_ += 10s;
  plan_.session_begins(now_);
  EXPECT_EQ(plan_.watched(), 0U);
  EXPECT_FALSE(plan_.complete());
  EXPECT_EQ(round(), (Names{"/", "P1", "P2"}));
  EXPECT_TRUE(plan_.complete());
}

TEST_F(PlanTest, WhatMayHaveChangedAndWasNotListedSinceIsOld) {
  begin({"P1", "P2"});
  now_ += 10s;
  const auto known = now_;
  plan_.proved(known);
  now_ += 1s;
  plan_.changed("P1", now_);  // perhaps long ago: the event may have been late
  now_ += 3s;
  const auto old = plan_.older_than(now_ - 3s);
  ASSERT_EQ(old.size(), 1U);
  EXPECT_EQ(old[0].first, "P1");
  EXPECT_EQ(old[0].second, known);
  round();
  EXPECT_TRUE(plan_.older_than(now_ - 3s).empty());
}

TEST_F(PlanTest, WhatIsRefusedOrFailsIsAskedForAgain) {
  names_ = {"P1", "P2"};
  plan_.session_begins(now_);
  round();
  for (const Listing& listing : plan_.next(now_, 1000)) {
    if (listing.name == "P1") plan_.refused(listing, now_);
    if (listing.name == "P2") plan_.failed(listing, now_);
  }
  EXPECT_FALSE(plan_.complete());
  now_ += 500ms;
  EXPECT_EQ(round(), Names{"P2"});
  EXPECT_TRUE(plan_.complete());
  now_ += 60s;
  EXPECT_EQ(round(), Names{"P1"});
  EXPECT_EQ(plan_.watched(), 2U);
}

TEST_F(PlanTest, SamplesOfManyTakeATenthOfTheTime) {
  plan_ = WatchPlan(options(0));
  names_.clear();
  for (int i = 0; i < 1000; ++i) names_.push_back("P" + std::to_string(i));
  plan_.session_begins(now_);
  round();
  for (int looks = 0; looks < 5; ++looks) {
    for (const Listing& listing : plan_.next(now_, 1000)) plan_.listed(listing, false, now_, 10ms);
    now_ += plan_.sample_interval() + 1s;
  }
  EXPECT_GT(plan_.sample_interval(), 90s) << "1,000 that take 10 ms each, ten times";
  EXPECT_EQ(plan_.watched(), 0U);
}

TEST_F(PlanTest, NoMoreAreListedThanIsAskedForTheLongestDueFirst) {
  begin({"P1", "P2", "P3"});
  now_ += 10s;
  plan_.changed("P2", now_);
  plan_.changed("P1", now_ + 1ms);
  plan_.changed("P3", now_ + 2ms);
  now_ += 1s;
  const auto first = plan_.next(now_, 2);
  EXPECT_EQ(first, (std::vector<Listing>{{"P2", true}, {"P1", true}}));
  EXPECT_EQ(plan_.next(now_, 2), (std::vector<Listing>{{"P3", true}}));
}

}  // namespace
}  // namespace forelock::cli
