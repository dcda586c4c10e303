#include "lock/child_name.h"
#include "support/test.h"

namespace forelock::lock {
namespace {

// As the server does it.
std::string as_named_by_server(const std::string& prefix, std::int32_t number) {
  char digits[16];
  std::snprintf(digits, sizeof digits, "%010d", number);
  return prefix + "-" + digits;
}

TEST(ChildName, ReadsWhatTheServerWrites) {
  constexpr std::int32_t min = std::numeric_limits<std::int32_t>::min();
  constexpr std::int32_t max = std::numeric_limits<std::int32_t>::max();
  std::vector<std::int32_t> numbers = {0, 1, 7, 999999999, 1000000000, max, -1, -999999999, -1000000000, min, min + 1};
  std::mt19937 random(3);  // NOLINT: the same numbers in every run
  for (int i = 0; i < 10000; ++i) numbers.push_back(static_cast<std::int32_t>(random()));
  for (const std::int32_t number : numbers) {
    for (const std::string prefix : {"A", "B", "x-lock", "7", "_c_1-lock", "privateLock"}) {
      const std::string name = as_named_by_server(prefix, number);
      EXPECT_EQ(parse_contender_name(name), (ChildName{prefix, number})) << name;
    }
  }
}

TEST(ChildName, KnowsTheEndsOfTheCounter) {
  EXPECT_EQ(parse_contender_name("A-2147483647")->number, 2147483647);
  EXPECT_EQ(parse_contender_name("A--2147483648")->number, -2147483648LL);
  EXPECT_EQ(parse_contender_name("A--000000001")->number, -1);
  EXPECT_FALSE(parse_contender_name("A-2147483648"));
  EXPECT_FALSE(parse_contender_name("A--2147483649"));
}

TEST(ChildName, LeavesEverythingElseAlone) {
  for (const std::string name : {"",
                                 "-",
                                 "privateLock",
                                 "A",
                                 "A-",
                                 "A-1",
                                 "A-000000001",
                                 "A-00000000001",
                                 "-0000000001",
                                 "--000000001",
                                 "A--0000000001",
                                 "A--000000000",
                                 "A0000000001",
                                 "A-000000000x",
                                 "A-0000000001 ",
                                 "A-+000000001",
                                 "0000000001",
                                 "A---000000001",
                                 "A-00000-0001",
                                 "A-\xD9\xA0\xD9\xA0\xD9\xA0\xD9\xA0\xD9\xA0"}) {
    EXPECT_FALSE(parse_contender_name(name)) << name;
  }
}

TEST(ChildName, RanksByPrefixThenByNumberAsAnInteger) {
  std::vector<std::string> names = {"B-0000000001",  "A-0000000010",        "A--000000005",  "A-0000000009",
                                    "AA-0000000000", "\xC3\x84-0000000000", "A--2147483648", "a-0000000000"};
  std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
    return ranks_before(*parse_contender_name(a), *parse_contender_name(b));
  });
  EXPECT_EQ(names, (std::vector<std::string>{"A--2147483648", "A--000000005", "A-0000000009", "A-0000000010",
                                             "AA-0000000000", "B-0000000001", "a-0000000000", "\xC3\x84-0000000000"}));
}

TEST(ChildName, NobodyRanksBeforeItself) {
  const ChildName name{"A", 3};
  EXPECT_FALSE(ranks_before(name, name));
}

}  // namespace
}  // namespace forelock::lock
