#include "lock/contender_state.h"
#include "support/test.h"

namespace forelock::lock {
namespace {

using enum ContenderState;

TEST(ContenderState, OnlyAClaimThatWasProvedIsHeld) {
  for (const ContenderState from : {idle, enqueueing, waiting, yielding, held, releasing, resolving}) {
    EXPECT_FALSE(may_move(from, held, false)) << name_of(from);
    EXPECT_FALSE(may_move(from, held, true)) << name_of(from);
  }
  EXPECT_TRUE(may_move(claiming, held, false));
}

TEST(ContenderState, AReleaseIsNeverTakenBack) {
  for (const ContenderState to : {idle, enqueueing, waiting, claiming, yielding, held, resolving}) {
    EXPECT_FALSE(may_move(releasing, to, false)) << name_of(to);
  }
}

TEST(ContenderState, OfAHeldLockOnlyTheHolderDisposes) {
  for (const ContenderState to : {idle, enqueueing, waiting, claiming, resolving}) {
    EXPECT_FALSE(may_move(held, to, false)) << name_of(to);
  }
  EXPECT_TRUE(may_move(held, releasing, false));
  EXPECT_TRUE(may_move(held, yielding, false));
}

TEST(ContenderState, WhatIsLeftOfAnAbandonedContenderIsRemoved) {
  for (const ContenderState from : {enqueueing, claiming, yielding, held, releasing, resolving}) {
    EXPECT_TRUE(may_move(from, waiting, true)) << name_of(from);
  }
}

}  // namespace
}  // namespace forelock::lock
