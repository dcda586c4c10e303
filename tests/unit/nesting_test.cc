// Who waits inside of what: agent/nesting.h.
#include "agent/nesting.h"

#include <gtest/gtest.h>

namespace forelock::agent {
namespace {

using namespace std::chrono_literals;
using lock::ContenderId;
using Ids = std::vector<ContenderId>;

constexpr lock::TimePoint begin{1h};

TEST(Nesting, KnowsWhatIsInside) {
  Nesting nesting;
  EXPECT_TRUE(nesting.empty());
  EXPECT_EQ(nesting.next(), lock::never);
  nesting.add(2, 1, begin);
  nesting.add(3, 1, begin);
  nesting.add(3, 1, begin);
  EXPECT_EQ(nesting.inside(1), (Ids{2, 3}));
  EXPECT_EQ(nesting.inside(2), Ids());
  nesting.remove(2);
  EXPECT_EQ(nesting.inside(1), Ids{3});
  nesting.remove(1);
  EXPECT_EQ(nesting.inside(1), Ids());
  EXPECT_TRUE(nesting.empty());
}

TEST(Nesting, AnOuterOneIsDueOnceForEachThatWaits) {
  Nesting nesting;
  nesting.add(2, 1, begin + 100ms);
  nesting.add(4, 3, begin + 200ms);
  nesting.add(5, 3, begin + 300ms);
  EXPECT_EQ(nesting.next(), begin + 100ms);
  EXPECT_EQ(nesting.take_due(begin + 99ms), Ids());
  EXPECT_EQ(nesting.take_due(begin + 250ms), (Ids{1, 3}));
  EXPECT_EQ(nesting.inside(3), (Ids{4, 5})) << "they wait on";
  EXPECT_EQ(nesting.next(), begin + 300ms);
  nesting.remove(5);
  EXPECT_EQ(nesting.next(), lock::never) << "nobody waits for whom that has to be known";
}

TEST(Nesting, OneMayBeInsideOfSeveral) {
  Nesting nesting;
  nesting.add(9, 1, begin);
  nesting.add(9, 2, begin);
  nesting.remove(1);
  EXPECT_EQ(nesting.inside(2), Ids{9});
  nesting.remove(9);
  EXPECT_EQ(nesting.inside(2), Ids());
}

}  // namespace
}  // namespace forelock::agent
