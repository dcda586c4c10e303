// The deliberate bugs of lock sets, for the proof that the simulator would notice them. They exist only in the
// test-only build of this room (FORELOCK_MUTATION_BUILD); in every other build mutated() is a constant false and leaves
// no trace.
#pragma once

#include <string_view>

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

#define FORELOCK_ENUMERATOR(name, text) name,
enum class Mutation { none, FORELOCK_SETS_MUTATIONS(FORELOCK_ENUMERATOR) count_ };
#undef FORELOCK_ENUMERATOR

constexpr std::string_view name_of(Mutation mutation) {
#define FORELOCK_NAME(name, text) \
  if (mutation == Mutation::name) return #name;
  FORELOCK_SETS_MUTATIONS(FORELOCK_NAME)
#undef FORELOCK_NAME
  return "none";
}

#ifdef FORELOCK_MUTATION_BUILD
// The bug that is switched on in this thread.
Mutation& active_mutation();
inline bool mutated(Mutation mutation) {
  return active_mutation() == mutation;
}
#else
constexpr bool mutated(Mutation) {
  return false;
}
#endif

}  // namespace forelock::sets
