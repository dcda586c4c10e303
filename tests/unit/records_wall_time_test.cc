#include "records/wall_time.h"
#include "support/test.h"

namespace forelock::records {
namespace {

TEST(WallTime, IsWrittenInUtcWithMilliseconds) {
  EXPECT_EQ(format_wall_time(WallTime{}), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(format_wall_time(WallTime{milliseconds(1763732700123)}), "2025-11-21T13:45:00.123Z");
  EXPECT_EQ(format_wall_time(WallTime{milliseconds(951825599999)}), "2000-02-29T11:59:59.999Z");
  EXPECT_EQ(format_wall_time(WallTime{milliseconds(-1)}), "1969-12-31T23:59:59.999Z");
}

TEST(WallTime, IsKeptInsideTheYearsThatHaveFourDigits) {
  EXPECT_EQ(format_wall_time(WallTime::max()), "9999-12-31T23:59:59.999Z");
  EXPECT_EQ(format_wall_time(WallTime::min()), "0000-01-01T00:00:00.000Z");
}

TEST(WallTime, RoundTrips) {
  std::mt19937_64 random(1);  // NOLINT: the same instants in every run
  for (int i = 0; i < 20'000; ++i) {
    const WallTime time{milliseconds(static_cast<std::int64_t>(random() % 310'000'000'000'000) - 62'000'000'000'000)};
    ASSERT_EQ(parse_wall_time(format_wall_time(time)), time);
  }
}

TEST(WallTime, ReadsWhatOthersWrite) {
  const WallTime time{milliseconds(1763732700000)};
  EXPECT_EQ(parse_wall_time("2025-11-21T13:45:00Z"), time);
  EXPECT_EQ(parse_wall_time("2025-11-21T13:45:00.5Z"), time + milliseconds(500));
  EXPECT_EQ(parse_wall_time("2025-11-21T13:45:00.123456789Z"), time + milliseconds(123));
  EXPECT_EQ(parse_wall_time("2025-11-21T15:45:00.000+02:00"), time);
  EXPECT_EQ(parse_wall_time("2025-11-21T08:15:00-05:30"), time);
  EXPECT_EQ(parse_wall_time("2025-11-21T13:44:60Z"), time);
}

TEST(WallTime, IsNoLaterThanTheLastInstant) {
  const WallTime time = WallTime(milliseconds(1'763'732'700'000));
  EXPECT_EQ(later(time, milliseconds(5)), time + milliseconds(5));
  EXPECT_EQ(later(time, milliseconds(-5)), time - milliseconds(5));
  EXPECT_EQ(later(time, milliseconds::max()), WallTime::max());
  EXPECT_EQ(format_wall_time(later(time, milliseconds::max())), "9999-12-31T23:59:59.999Z");
}

TEST(WallTime, RefusesTheRest) {
  for (const std::string_view text :
       {"", "2025", "2025-11-21", "2025-11-21T13:45:00", "2025-11-21 13:45:00Z", "2025-02-29T00:00:00Z",
        "2025-13-01T00:00:00Z", "2025-11-21T24:00:00Z", "2025-11-21T13:60:00Z", "2025-11-21T13:45:61Z",
        "2025-11-21T13:45:00.Z", "2025-11-21T13:45:00Zx", "2025-11-21T13:45:00+2:00", "2025-11-21T13:45:00+24:00",
        "-2025-11-21T13:45:00Z", "2025-11-21T13:45:00,5Z", "20251121T134500Z", "x025-11-21T13:45:00Z"}) {
    EXPECT_FALSE(parse_wall_time(text)) << text;
  }
}

}  // namespace
}  // namespace forelock::records
