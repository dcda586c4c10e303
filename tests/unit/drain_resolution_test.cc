// What is remembered of letters that are done with, and of those that are not yet.
#include "drain/hashed_key.h"
#include "drain/resolution_state.h"
#include "drain/resolution_table.h"
#include "support/test.h"

namespace forelock::drain {
namespace {

using Kind = ResolutionState::Kind;
using Put = ResolutionTable::Put;

TEST(ResolutionStateTest, TextsAreStable) {
  EXPECT_EQ(to_text({Kind::replayed, 0, 0}), "replayed");
  EXPECT_EQ(to_text({Kind::parked, 0, 0}), "parked");
  EXPECT_EQ(to_text({Kind::purged, 0, 0}), "purged");
  EXPECT_EQ(to_text({Kind::open, 2, 0}), "trying 2");
  EXPECT_EQ(to_text({Kind::parked, 2, 0}), "parked 2");
  EXPECT_EQ(to_text({Kind::replayed, 0, 4294967301}), "replayed @4294967301");
  EXPECT_EQ(to_text({Kind::open, 0, 1}), "trying 0 @1");
  EXPECT_EQ(to_text({Kind::open, 3, 7}, kafka::RecordPlace{2, 4711}), "trying 3 from 2/4711 @7");
}

TEST(ResolutionStateTest, WhatIsWrittenIsRead) {
  for (const Kind kind : {Kind::open, Kind::parked, Kind::replayed, Kind::purged}) {
    for (const unsigned tries : {0u, 1u, 65535u}) {
      for (const std::uint64_t writer :
           {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{4294967301}, ~std::uint64_t{0}}) {
        ResolutionState state{kind, static_cast<std::uint16_t>(tries), writer};
        if (kind == Kind::replayed || kind == Kind::purged) state.tries = 0;
        const auto parsed = parse_resolution(to_text(state));
        ASSERT_TRUE(parsed) << to_text(state);
        EXPECT_EQ(parsed->state, state) << to_text(state);
        EXPECT_FALSE(parsed->put_back);
      }
    }
  }
}

TEST(ResolutionStateTest, WhereALetterWasPutBackIsRead) {
  for (const std::int64_t offset : {std::int64_t{0}, std::int64_t{4711}, std::numeric_limits<std::int64_t>::max()}) {
    for (const std::uint64_t writer : {std::uint64_t{0}, std::uint64_t{9}}) {
      const kafka::RecordPlace place{63, offset};
      const auto parsed = parse_resolution(to_text({Kind::open, 1, writer}, place));
      ASSERT_TRUE(parsed);
      EXPECT_EQ(parsed->state, (ResolutionState{Kind::open, 1, writer}));
      EXPECT_EQ(parsed->put_back, place);
    }
  }
}

TEST(ResolutionStateTest, AnythingElseIsNotUnderstood) {
  for (const char* text : {"",
                           " ",
                           "replay",
                           "Replayed",
                           "replayed 1",
                           "replayed@1",
                           "replayed @",
                           "replayed @x",
                           "replayed @-1",
                           "replayed @1 more",
                           "replayed #1",
                           "trying",
                           "trying x",
                           "trying -1",
                           "trying 65536",
                           "trying 1 2",
                           "parked @18446744073709551616",
                           "expired",
                           "trying 1 from",
                           "trying 1 from 2",
                           "trying 1 from 2/",
                           "trying 1 from /3",
                           "trying 1 from 2/-3",
                           "trying 1 from 2/3 @",
                           "parked 1 from 2/3",
                           "replayed from 2/3"}) {
    EXPECT_FALSE(parse_resolution(text)) << text;
  }
}

TEST(ResolutionStateTest, ALetterLeavesTheQueueWhenItIsParkedOrDone) {
  EXPECT_FALSE((ResolutionState{}.has_left_queue()));
  EXPECT_FALSE((ResolutionState{Kind::open, 5, 0}.has_left_queue()));
  for (const Kind kind : {Kind::parked, Kind::replayed, Kind::purged}) {
    const ResolutionState state{kind, 0, 0};
    EXPECT_TRUE(state.has_left_queue());
    EXPECT_EQ(state.stands_parked(), kind == Kind::parked);
    EXPECT_EQ(state.is_done(), kind != Kind::parked);
  }
}

// An id may be used again, and what was replayed into a topic may fail again: that is not done with.
TEST(ResolutionKeyTest, WhatFailsLaterIsAnotherLetter) {
  DeadLetter letter;
  letter.id = "nightly-export";
  letter.failed_at = WallTime(std::chrono::milliseconds(1'764'000'000'123));
  const std::string first = resolution_key(letter);
  EXPECT_EQ(first, "nightly-export@2025-11-24T16:00:00.123Z");
  EXPECT_EQ(resolution_key(letter), first);
  letter.replay_count = 2;
  EXPECT_EQ(resolution_key(letter), first + "#2");
  letter.replay_count = 0;
  letter.failed_at += std::chrono::milliseconds(1);
  EXPECT_NE(resolution_key(letter), first);
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
  for (std::size_t i = 0; i < count; ++i)
    ASSERT_EQ(table.put(hash_key("id-" + std::to_string(i)), state_for(i)), Put::done);
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

// A drainer that was stopped for longer than its session lives may write behind the next one.
TEST(ResolutionTableTest, ALaterDrainerIsNotOverruled) {
  ResolutionTable table;
  EXPECT_EQ(table.put(hash_key("x"), {Kind::open, 1, 7}), Put::done);
  EXPECT_EQ(table.put(hash_key("x"), {Kind::parked, 0, 9}), Put::done);
  EXPECT_EQ(table.put(hash_key("x"), {Kind::open, 0, 7}), Put::overruled);
  EXPECT_EQ(table.put(hash_key("x"), {Kind::replayed, 0, 0}), Put::overruled) << "that of nobody, too";
  EXPECT_EQ(table.state_of(hash_key("x")), (ResolutionState{Kind::parked, 0, 9}));
  EXPECT_EQ(table.put(hash_key("x"), {Kind::parked, 1, 9}), Put::done);
  EXPECT_EQ(table.state_of(hash_key("x")).tries, 1u);
  EXPECT_EQ(table.put(hash_key("y"), {Kind::open, 1, 7}), Put::done) << "each key has its own";
  EXPECT_EQ(table.reset(hash_key("x")), Put::done);
  EXPECT_EQ(table.put(hash_key("x"), {Kind::open, 1, 7}), Put::done) << "a tombstone says that nothing is known";
}

TEST(ResolutionTableTest, ADuplicateIsSeenOnce) {
  ResolutionTable table;
  EXPECT_TRUE(table.first_sight(hash_key("x")));
  EXPECT_FALSE(table.first_sight(hash_key("x")));
  EXPECT_TRUE(table.first_sight(hash_key("y")));
  table.put(hash_key("y"), {Kind::open, 1, 0});
  EXPECT_FALSE(table.first_sight(hash_key("y"))) << "its state has nothing to do with that";
}

TEST(ResolutionTableTest, AKeyOfZerosIsAKey) {
  ResolutionTable table;
  EXPECT_FALSE(table.contains({}));
  table.put({}, {Kind::purged, 0, 0});
  EXPECT_EQ(table.state_of({}).kind, Kind::purged);
}

TEST(ResolutionTableTest, FullItRefusesWhatIsNewAndKeepsWhatItHas) {
  ResolutionTable table(2);
  EXPECT_EQ(table.put(hash_key("a"), {Kind::open, 1, 0}), Put::done);
  EXPECT_TRUE(table.first_sight(hash_key("b")));
  EXPECT_EQ(table.put(hash_key("c"), {Kind::replayed, 0, 0}), Put::full);
  EXPECT_EQ(table.reset(hash_key("c")), Put::full);
  EXPECT_EQ(table.put(hash_key("a"), {Kind::replayed, 0, 0}), Put::done);
  EXPECT_TRUE(table.first_sight(hash_key("c")));
  EXPECT_TRUE(table.first_sight(hash_key("c"))) << "visited twice rather than not at all";
  EXPECT_FALSE(table.first_sight(hash_key("b")));
}

}  // namespace
}  // namespace forelock::drain
