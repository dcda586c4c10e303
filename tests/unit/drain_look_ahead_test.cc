// The letters that wait for their turn, and how fast their turns come.
#include "drain/look_ahead.h"
#include "drain/replay_run.h"
#include "support/test.h"

namespace forelock::drain {
namespace {

StoredLetter letter(const std::string& monitor, const std::string& id, std::size_t bytes = 10) {
  StoredLetter stored;
  stored.letter.monitor = monitor;
  stored.letter.id = id;
  stored.record.assign(bytes, 'x');
  return stored;
}

std::vector<std::string> ids(const std::vector<StoredLetter>& letters) {
  std::vector<std::string> ids;
  for (const auto& each : letters) ids.push_back(each.letter.id);
  return ids;
}

TEST(LookAheadTest, OneOfAMonitorAtATimeAndInOrder) {
  LookAhead ahead;
  for (const char* id : {"a1", "a2"}) ahead.add(letter("A", id));
  ahead.add(letter("B", "b1"));
  const auto a1 = ahead.take();
  const auto b1 = ahead.take();
  ASSERT_TRUE(a1 && b1);
  EXPECT_EQ(a1->letter.id, "a1");
  EXPECT_EQ(b1->letter.id, "b1") << "the second of A waits for the first";
  EXPECT_FALSE(ahead.can_take());
  EXPECT_FALSE(ahead.take());
  ahead.add(letter("B", "b2"));
  EXPECT_FALSE(ahead.can_take()) << "B is busy";
  ahead.finish(*b1);
  EXPECT_EQ(ahead.take()->letter.id, "b2");
  ahead.finish(*a1);
  EXPECT_EQ(ahead.take()->letter.id, "a2");
}

TEST(LookAheadTest, BlockedMonitorsLoseTheirLettersAndOthersDoNot) {
  LookAhead ahead;
  for (const char* id : {"a1", "a2", "a3"}) ahead.add(letter("A", id));
  ahead.add(letter("B", "b1"));
  const auto a1 = ahead.take();
  EXPECT_THAT(ids(ahead.block(*a1)), ElementsAre("a2", "a3"));
  EXPECT_TRUE(ahead.is_blocked("A"));
  EXPECT_FALSE(ahead.is_blocked("B"));
  EXPECT_EQ(ahead.waiting(), 1u);
  const auto b1 = ahead.take();
  EXPECT_EQ(b1->letter.id, "b1");
  EXPECT_FALSE(ahead.empty()) << "b1 is under way";
  ahead.finish(*b1);
  EXPECT_TRUE(ahead.empty());
}

TEST(LookAheadTest, ManyLettersDoNotFit) {
  LookAhead ahead;
  for (std::size_t i = 0; i < LookAhead::max_letters; ++i) {
    ASSERT_TRUE(ahead.has_room_for(letter("A", "a")));
    ahead.add(letter("A", "a"));
  }
  EXPECT_FALSE(ahead.has_room_for(letter("B", "b")));
  ahead.take();
  EXPECT_TRUE(ahead.has_room_for(letter("B", "b")));
}

TEST(LookAheadTest, LargeLettersDoNotFitExceptAlone) {
  LookAhead ahead;
  const auto huge = [](const char* id) { return letter("A", id, LookAhead::max_bytes); };
  ASSERT_TRUE(ahead.has_room_for(huge("a1"))) << "one always fits";
  ahead.add(huge("a1"));
  EXPECT_FALSE(ahead.has_room_for(letter("B", "b1")));
  const auto taken = ahead.take();
  EXPECT_FALSE(ahead.has_room_for(letter("B", "b1"))) << "under way, it still needs its memory";
  ahead.finish(*taken);
  EXPECT_TRUE(ahead.has_room_for(letter("B", "b1")));
  ahead.add(huge("a2"));
  ahead.add(letter("A", "a3"));
  EXPECT_THAT(ids(ahead.block(*ahead.take())), ElementsAre("a3"));
  EXPECT_TRUE(ahead.has_room_for(huge("b1"))) << "what is dropped needs none";
}

TEST(LookAheadTest, AnyOrderOfEventsKeepsTheOrderOfEachMonitor) {
  std::mt19937 random(20250101);
  LookAhead ahead;
  std::map<std::string, int> given;
  std::map<std::string, int> next;
  std::vector<StoredLetter> under_way;
  for (int i = 0; i < 20000; ++i) {
    const std::string monitor(1, static_cast<char>('A' + random() % 8));
    switch (random() % 3) {
      case 0:
        if (ahead.has_room_for(letter(monitor, ""))) ahead.add(letter(monitor, std::to_string(given[monitor]++)));
        break;
      case 1:
        if (auto taken = ahead.take()) {
          for (const auto& other : under_way) ASSERT_NE(other.letter.monitor, taken->letter.monitor);
          ASSERT_EQ(taken->letter.id, std::to_string(next[taken->letter.monitor]++));
          under_way.push_back(std::move(*taken));
        }
        break;
      default:
        if (!under_way.empty()) {
          std::swap(under_way.back(), under_way[random() % under_way.size()]);
          ahead.finish(under_way.back());
          under_way.pop_back();
        }
    }
  }
  EXPECT_GT(next["A"], 100);
}

TEST(PacerTest, EvenlyAndWithoutBurstsAfterAPause) {
  Pacer pacer(10);
  const Pacer::Clock::time_point start{1000s};
  EXPECT_EQ(pacer.reserve(start), start);
  EXPECT_EQ(pacer.reserve(start), start + 100ms);
  EXPECT_EQ(pacer.reserve(start + 10ms), start + 200ms);
  const auto later = start + 60s;
  EXPECT_EQ(pacer.reserve(later), later);
  EXPECT_EQ(pacer.reserve(later), later + 100ms);
}

TEST(PacerTest, NoRateIsNoWait) {
  Pacer pacer(0);
  const Pacer::Clock::time_point start{1000s};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(pacer.reserve(start), start);
}

}  // namespace
}  // namespace forelock::drain
