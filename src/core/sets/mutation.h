// The deliberate bugs of lock sets.
#pragma once

#include "base/mutation.h"

namespace forelock::sets {

// Each bug once: its name, and what it does.
// clang-format off
#define FORELOCK_SETS_MUTATIONS(each) \
  each(order_of_the_caller, "members are taken in the order in which the caller names them") \
  each(keeps_those_behind, "a set that waits keeps the members behind the one that it waits for") \
  each(failed_set_keeps_members, "a failed acquisition gives back only what it waits for") \
  each(loss_ignored, "a set is held although one of its members has been lost") \
  each(held_too_early, "a set counts as held when its last member is, whatever became of one before it") \
  each(held_unproved, "nobody asks whether what a set held while it waited is still its own") \
  each(held_with_a_gap, "a member that was given back while the set waited is not taken again")
// clang-format on

FORELOCK_MUTATIONS(FORELOCK_SETS_MUTATIONS)

}  // namespace forelock::sets
