// What is remembered of letters that are done with, and of those that are not yet.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "drain/hashed_key.h"
#include "drain/resolution_state.h"
#include "drain/resolution_table.h"

namespace forelock::drain {
namespace {

using Kind = ResolutionState::Kind;

TEST(ResolutionStateTest, TextsAreStable) {
  EXPECT_EQ(to_text({Kind::replayed, 0, 0}), "replayed");
  EXPECT_EQ(to_text({Kind::parked, 0, 0}), "parked");
  EXPECT_EQ(to_text({Kind::purged, 0, 0}), "purged");
  EXPECT_EQ(to_text({Kind::open, 2, 0}), "trying 2");
  EXPECT_EQ(to_text({Kind::parked, 2, 0}), "parked 2");
  EXPECT_EQ(to_text({Kind::replayed, 0, 3}), "replayed #3");
  EXPECT_EQ(to_text({Kind::open, 0, 1}), "trying 0 #1");
}

TEST(ResolutionStateTest, WhatIsWrittenIsRead) {
  for (const Kind kind : {Kind::open, Kind::parked, Kind::replayed, Kind::purged}) {
    for (const unsigned tries : {0u, 1u, 65535u}) {
      for (const unsigned generation : {0u, 1u, 65535u}) {
        ResolutionState state{kind, static_cast<std::uint16_t>(tries), static_cast<std::uint16_t>(generation)};
        if (kind == Kind::replayed || kind == Kind::purged) state.tries = 0;
        EXPECT_EQ(parse_resolution(to_text(state)), state) << to_text(state);
      }
    }
  }
}

TEST(ResolutionStateTest, AnythingElseIsNotUnderstood) {
  for (const char* text :
       {"", " ", "replay", "Replayed", "replayed 1", "replayed#1", "replayed #", "replayed #x", "replayed #1 more",
        "trying", "trying x", "trying -1", "trying 65536", "trying 1 2", "parked #65536", "expired"}) {
    EXPECT_FALSE(parse_resolution(text)) << text;
  }
}

TEST(ResolutionStateTest, ALetterLeavesTheQueueWhenItIsParkedOrDone) {
  EXPECT_FALSE((ResolutionState{}.has_left_queue(0)));
  EXPECT_FALSE((ResolutionState{Kind::open, 5, 0}.has_left_queue(0)));
  for (const Kind kind : {Kind::parked, Kind::replayed, Kind::purged}) {
    const ResolutionState state{kind, 0, 0};
    EXPECT_TRUE(state.has_left_queue(0));
    EXPECT_EQ(state.stands_parked(0), kind == Kind::parked);
    EXPECT_EQ(state.is_done(0), kind != Kind::parked);
  }
}

// Replayed into a topic it may fail again, and comes back with the same id: that is not done with.
TEST(ResolutionStateTest, AnOperationThatCameBackIsOpenAgain) {
  const ResolutionState replayed{Kind::replayed, 0, 0};
  EXPECT_FALSE(replayed.has_left_queue(1));
  const ResolutionState trying_again{Kind::open, 2, 1};
  EXPECT_TRUE(trying_again.has_left_queue(0)) << "the earlier letter stays closed";
  EXPECT_FALSE(trying_again.stands_parked(0));
  EXPECT_TRUE(trying_again.is_done(0));
  EXPECT_FALSE(trying_again.is_done(1));
  EXPECT_EQ(trying_again.tries_of(1), 2u);
  EXPECT_EQ(trying_again.tries_of(2), 0u) << "each generation counts its own";
  EXPECT_TRUE((ResolutionState{Kind::replayed, 0, 65535}.has_left_queue(4'000'000'000u)));
}

TEST(HashedKeyTest, KnownValues) {
  // Of the reference implementation's test vectors.
  EXPECT_EQ(hash_key(""), (HashedKey{0x6c62272e07bb0142, 0x62b821756295c58d}));
  EXPECT_EQ(hash_key("a"), (HashedKey{0xd228cb696f1a8caf, 0x78912b704e4a8964}));
}

TEST(ResolutionTableTest, RemembersVeryMany) {
  constexpr std::size_t count = 200'000;
  ResolutionTable table;
  const auto state_for = [](std::size_t i) {
    return ResolutionState{static_cast<Kind>(i % 4), static_cast<std::uint16_t>(i % 100), 0};
  };
  for (std::size_t i = 0; i < count; ++i) ASSERT_TRUE(table.put(hash_key("id-" + std::to_string(i)), state_for(i)));
  EXPECT_EQ(table.size(), count);
  for (std::size_t i = 0; i < count; ++i) {
    ASSERT_EQ(table.state_of(hash_key("id-" + std::to_string(i))), state_for(i));
  }
  EXPECT_EQ(table.state_of(hash_key("another")), ResolutionState{});
  EXPECT_FALSE(table.contains(hash_key("another")));
}

TEST(ResolutionTableTest, TheLastCounts) {
  ResolutionTable table;
  table.put(hash_key("x"), {Kind::open, 1, 0});
  table.put(hash_key("x"), {Kind::replayed, 0, 0});
  EXPECT_EQ(table.state_of(hash_key("x")).kind, Kind::replayed);
  EXPECT_EQ(table.size(), 1u);
}

TEST(ResolutionTableTest, ADuplicateIsSeenOnce) {
  ResolutionTable table;
  EXPECT_TRUE(table.first_sight(hash_key("x"), 0));
  EXPECT_FALSE(table.first_sight(hash_key("x"), 0));
  EXPECT_TRUE(table.first_sight(hash_key("x"), 2)) << "it came back";
  EXPECT_FALSE(table.first_sight(hash_key("x"), 1));
  EXPECT_TRUE(table.first_sight(hash_key("y"), 0));
  table.put(hash_key("y"), {Kind::open, 1, 0});
  EXPECT_FALSE(table.first_sight(hash_key("y"), 0)) << "its state has nothing to do with that";
}

TEST(ResolutionTableTest, AKeyOfZerosIsAKey) {
  ResolutionTable table;
  EXPECT_FALSE(table.contains({}));
  table.put({}, {Kind::purged, 0, 0});
  EXPECT_EQ(table.state_of({}).kind, Kind::purged);
}

TEST(ResolutionTableTest, FullItRefusesWhatIsNewAndKeepsWhatItHas) {
  ResolutionTable table(2);
  EXPECT_TRUE(table.put(hash_key("a"), {Kind::open, 1, 0}));
  EXPECT_TRUE(table.first_sight(hash_key("b"), 0));
  EXPECT_FALSE(table.put(hash_key("c"), {Kind::replayed, 0, 0}));
  EXPECT_TRUE(table.put(hash_key("a"), {Kind::replayed, 0, 0}));
  EXPECT_TRUE(table.first_sight(hash_key("c"), 0));
  EXPECT_TRUE(table.first_sight(hash_key("c"), 0)) << "visited twice rather than not at all";
  EXPECT_FALSE(table.first_sight(hash_key("b"), 0));
}

}  // namespace
}  // namespace forelock::drain
