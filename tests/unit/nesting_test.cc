// Who waits inside of what: agent/nesting.h.
#include "agent/nesting.h"
#include "support/test.h"

namespace forelock::agent {
namespace {

using Contenders = std::vector<lock::ContenderId>;

std::vector<Nesting::Outer> outer(std::initializer_list<lock::ContenderId> contenders) {
  std::vector<Nesting::Outer> all;
  for (const lock::ContenderId contender : contenders) all.push_back({contender, 0});
  return all;
}

constexpr lock::TimePoint begin{1h};

TEST(Nesting, WhoWaitsIsLookedAtAgainAndAgain) {
  Nesting nesting;
  EXPECT_TRUE(nesting.empty());
  EXPECT_EQ(nesting.next(), lock::never);
  nesting.add(2, outer({1}), begin + 100ms);
  nesting.add(5, outer({3, 4}), begin + 200ms);
  EXPECT_EQ(nesting.next(), begin + 100ms);
  EXPECT_EQ(nesting.take_due(begin + 99ms, begin + 150ms), Contenders());
  EXPECT_EQ(nesting.take_due(begin + 100ms, begin + 201ms), Contenders({2}));
  EXPECT_EQ(nesting.next(), begin + 200ms);
  EXPECT_EQ(nesting.take_due(begin + 300ms, begin + 400ms), Contenders({5, 2}));
  EXPECT_EQ(nesting.take_due(begin + 399ms, begin + 500ms), Contenders()) << "once for each time that it is due";
  EXPECT_EQ(nesting.outer_ones(5), outer({3, 4}));
}

TEST(Nesting, WhoWaitsNoLongerIsForgotten) {
  Nesting nesting;
  nesting.add(2, outer({1}), begin);
  nesting.add(3, outer({1}), begin);
  nesting.remove(2);
  nesting.remove(2);
  EXPECT_EQ(nesting.take_due(begin, begin + 1s), Contenders({3}));
  nesting.remove(3);
  EXPECT_EQ(nesting.outer_ones(3), outer({}));
  EXPECT_EQ(nesting.next(), lock::never);
  EXPECT_TRUE(nesting.empty());
}

TEST(Nesting, WhatIsAddedTwiceKeepsItsFirstTime) {
  Nesting nesting;
  nesting.add(2, outer({1}), begin);
  nesting.add(2, outer({7}), begin + 1s);
  EXPECT_EQ(nesting.outer_ones(2), outer({1}));
  EXPECT_EQ(nesting.take_due(begin + 2s, begin + 3s), Contenders({2}));
}

}  // namespace
}  // namespace forelock::agent
