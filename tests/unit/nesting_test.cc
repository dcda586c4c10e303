// Who waits inside of what: agent/nesting.h.
#include "agent/nesting.h"

#include <gtest/gtest.h>

namespace forelock::agent {
namespace {

using namespace std::chrono_literals;
using Pairs = std::vector<Nesting::Pair>;

constexpr lock::TimePoint begin{1h};

TEST(Nesting, AnOuterOneIsLookedAtForEachThatWaits) {
  Nesting nesting;
  EXPECT_TRUE(nesting.empty());
  EXPECT_EQ(nesting.next(), lock::never);
  nesting.add(2, 1, begin + 100ms);
  nesting.add(2, 1, begin);  // known
  nesting.add(4, 3, begin + 200ms);
  nesting.add(5, 3, begin + 300ms);
  EXPECT_EQ(nesting.next(), begin + 100ms);
  EXPECT_EQ(nesting.take_due(begin + 99ms), Pairs());
  EXPECT_EQ(nesting.take_due(begin + 250ms), (Pairs{{2, 1}, {4, 3}}));
  EXPECT_EQ(nesting.next(), begin + 300ms);
  nesting.look_again({4, 3}, begin + 280ms);
  EXPECT_EQ(nesting.take_due(begin + 400ms), (Pairs{{4, 3}, {5, 3}}));
}

TEST(Nesting, WhoWaitsNoLongerIsForgotten) {
  Nesting nesting;
  nesting.add(2, 1, begin);
  nesting.add(3, 1, begin);
  nesting.remove(2);
  EXPECT_EQ(nesting.take_due(begin), (Pairs{{3, 1}}));
  nesting.look_again({2, 1}, begin);
  EXPECT_EQ(nesting.next(), lock::never);
  nesting.remove(1);
  nesting.look_again({3, 1}, begin);
  EXPECT_EQ(nesting.next(), lock::never) << "the outer one is not held any more";
  EXPECT_TRUE(nesting.empty());
}

TEST(Nesting, OneMayBeInsideOfSeveral) {
  Nesting nesting;
  nesting.add(9, 1, begin);
  nesting.add(9, 2, begin);
  nesting.remove(1);
  EXPECT_EQ(nesting.take_due(begin), (Pairs{{9, 2}}));
  nesting.remove(9);
  EXPECT_TRUE(nesting.empty());
}

}  // namespace
}  // namespace forelock::agent
