// Which letters are meant, how they are counted, and what is no letter.
#include "drain/letter_filter.h"
#include "drain/letter_statistics.h"
#include "drain/letter_store.h"
#include "drain/read_letter.h"
#include "support/test.h"

namespace forelock::drain {
namespace {

DeadLetter some_letter() {
  DeadLetter letter;
  letter.id = "id-1";
  letter.monitor = "P1";
  letter.type = "saveContent";
  letter.reason = "lock_timeout";
  letter.failed_at = WallTime(1000s);
  return letter;
}

TEST(LetterFilterTest, NothingSetMatchesEverything) {
  LetterFilter filter;
  EXPECT_TRUE(filter.empty());
  EXPECT_TRUE(filter.matches(some_letter()));
  EXPECT_TRUE(filter.matches(UnreadableLetter{}));
  filter.parked = true;
  EXPECT_TRUE(filter.empty()) << "the place is no condition";
}

TEST(LetterFilterTest, EachConditionAlone) {
  const DeadLetter letter = some_letter();
  for (const auto member :
       {&LetterFilter::ids, &LetterFilter::monitors, &LetterFilter::types, &LetterFilter::reasons}) {
    LetterFilter filter;
    filter.*member = {"another", "id-1", "P1", "saveContent", "lock_timeout"};
    EXPECT_TRUE(filter.matches(letter)) << "one of several values is enough";
    EXPECT_FALSE(filter.empty());
    filter.*member = {"another", "P", "id", "lock"};
    EXPECT_FALSE(filter.matches(letter)) << "the whole value counts";
  }
}

TEST(LetterFilterTest, TimesIncludeTheBeginningAndExcludeTheEnd) {
  const DeadLetter letter = some_letter();
  LetterFilter filter;
  filter.since = WallTime(1000s);
  EXPECT_TRUE(filter.matches(letter));
  filter.since = WallTime(1000s + 1ms);
  EXPECT_FALSE(filter.matches(letter));
  filter.since.reset();
  filter.until = WallTime(1000s);
  EXPECT_FALSE(filter.matches(letter));
  filter.until = WallTime(1000s + 1ms);
  EXPECT_TRUE(filter.matches(letter));
  EXPECT_FALSE(filter.empty());
}

TEST(LetterFilterTest, AllConditionsMustHold) {
  LetterFilter filter;
  filter.monitors = {"P1"};
  filter.types = {"saveContent"};
  EXPECT_TRUE(filter.matches(some_letter()));
  filter.reasons = {"handler_failed"};
  EXPECT_FALSE(filter.matches(some_letter()));
}

TEST(LetterFilterTest, WhatIsNoLetterIsFoundByPositionKeyAndCode) {
  const UnreadableLetter letter{"3/17", "P1", "record_invalid", "no JSON", "{"};
  LetterFilter filter;
  filter.ids = {"3/17"};
  filter.monitors = {"P1"};
  filter.reasons = {"record_invalid"};
  EXPECT_TRUE(filter.matches(letter));
  filter.types = {"saveContent"};
  EXPECT_FALSE(filter.matches(letter)) << "it has no type";
  filter = {};
  filter.since = WallTime{};
  EXPECT_FALSE(filter.matches(letter)) << "it has no time";
}

TEST(LetterStatisticsTest, CountsAndAges) {
  LetterStatistics statistics;
  StoredLetter stored;
  stored.letter = some_letter();
  stored.record = "12345";
  EXPECT_TRUE(statistics.letter(stored));
  stored.letter.monitor = "P2";
  stored.letter.failed_at = WallTime(900s);
  EXPECT_TRUE(statistics.letter(stored));
  stored.letter.failed_at = WallTime(1200s);
  stored.letter.type = "reindex";
  EXPECT_TRUE(statistics.letter(stored));
  EXPECT_TRUE(statistics.unreadable({"0/1", "", "record_invalid", "", "123"}));
  EXPECT_EQ(statistics.letters, 3u);
  EXPECT_EQ(statistics.unreadable_letters, 1u);
  EXPECT_EQ(statistics.bytes, 18u);
  EXPECT_EQ(statistics.oldest, WallTime(900s));
  EXPECT_EQ(statistics.newest, WallTime(1200s));
  EXPECT_THAT(statistics.by_monitor, ElementsAre(Pair("P1", 1), Pair("P2", 2)));
  EXPECT_THAT(statistics.by_type, ElementsAre(Pair("reindex", 1), Pair("saveContent", 2)));
  EXPECT_THAT(statistics.by_reason, ElementsAre(Pair("lock_timeout", 3)));
}

TEST(LetterStatisticsTest, NamesAreLimitedAndNothingIsLeftUncounted) {
  LetterStatistics statistics;
  StoredLetter stored;
  stored.letter = some_letter();
  constexpr std::size_t more = 7;
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < LetterStatistics::max_names + more; ++i) {
      stored.letter.monitor = "P" + std::to_string(i);
      stored.letter.type = "t" + std::to_string(i);
      stored.letter.reason = "r" + std::to_string(i);
      statistics.letter(stored);
    }
  }
  EXPECT_EQ(statistics.by_monitor.size(), LetterStatistics::max_names);
  EXPECT_EQ(statistics.other_monitors, 2 * more);
  EXPECT_EQ(statistics.other_types, 2 * more);
  EXPECT_EQ(statistics.other_reasons, 2 * more);
  EXPECT_EQ(statistics.by_monitor.at("P0"), 2u);
}

TEST(ReadLetterTest, WhatIsNoLetterSaysWhyAndKeepsItsBytes) {
  const std::string garbage("\xff\0{", 3);
  const LetterOrNot read = read_letter("0/7", "P1", garbage);
  const auto* letter = std::get_if<UnreadableLetter>(&read);
  ASSERT_NE(letter, nullptr);
  EXPECT_EQ(letter->position, "0/7");
  EXPECT_EQ(letter->monitor, "P1");
  EXPECT_EQ(letter->code, "record_invalid");
  EXPECT_FALSE(letter->message.empty());
  EXPECT_EQ(letter->record, garbage);
  const LetterOrNot newer = read_letter("0/8", "P1", R"({"schema":2,"id":"x"})");
  ASSERT_TRUE(std::holds_alternative<UnreadableLetter>(newer));
  EXPECT_EQ(std::get<UnreadableLetter>(newer).code, "record_too_new");
}

}  // namespace
}  // namespace forelock::drain
