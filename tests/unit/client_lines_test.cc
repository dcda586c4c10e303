// The ZooKeeper client's own lines.
#include "client/line_limiter.h"
#include "support/test.h"

namespace forelock::client {
namespace {

std::string line_of(const std::string& function, const std::string& text) {
  return "2026-11-22 06:11:00,513:5460(0x7fb51dffb6c0):ZOO_ERROR@" + function + "@2985: " + text;
}

TEST(LineLimiterTest, OneOfAKindPassesAndTheOthersAreCounted) {
  LineLimiter limiter;
  const lock::TimePoint begin{1h};
  EXPECT_EQ(limiter.pass(line_of("check_events", "Socket 127.0.0.1:1: refused"), begin),
            "ZooKeeper client: Socket 127.0.0.1:1: refused");
  EXPECT_EQ(limiter.pass(line_of("check_events", "Socket 127.0.0.1:2: refused"), begin + 1s), std::nullopt);
  EXPECT_EQ(limiter.pass(line_of("check_events", "Socket 127.0.0.1:3: refused"), begin + 2s), std::nullopt);
  EXPECT_EQ(limiter.pass(line_of("other", "Something: else"), begin + 2s), "ZooKeeper client: Something: else");
  EXPECT_EQ(limiter.pass(line_of("check_events", "Socket 127.0.0.1:1: refused"), begin + LineLimiter::interval),
            "ZooKeeper client: Socket 127.0.0.1:1: refused (and 2 like it since the last such line)");
}

TEST(LineLimiterTest, OtherLinesAreOneKind) {
  LineLimiter limiter;
  const lock::TimePoint begin{1h};
  EXPECT_EQ(limiter.pass("without a form", begin), "ZooKeeper client: without a form");
  EXPECT_EQ(limiter.pass("@", begin), std::nullopt);
}

// However many kinds there are, few are remembered.
TEST(LineLimiterTest, KindsAreLimited) {
  LineLimiter limiter;
  const lock::TimePoint begin{1h};
  int passed = 0;
  for (int i = 0; i < 1000; ++i) {
    if (limiter.pass(line_of("function" + std::to_string(i), "x"), begin)) ++passed;
  }
  EXPECT_LT(passed, 100);
}

}  // namespace
}  // namespace forelock::client
