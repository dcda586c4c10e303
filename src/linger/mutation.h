// The deliberate bugs of lingering locks, for the proof that the simulator would notice them. They exist only in the
// test-only build of this room (FORELOCK_MUTATION_BUILD); in every other build mutated() is a constant false and leaves
// no trace.
#pragma once

#include <string_view>

namespace forelock::linger {

// Each bug once: its name, and what it does.
// clang-format off
#define FORELOCK_LINGER_MUTATIONS(each) \
  each(kept_when_contended, "a lingering lock is not given up when a newcomer is seen") \
  each(wanted_in_use_forgotten, "a lock lingers although a newcomer was seen while it was in use") \
  each(given_up_while_used, "a lock that is in use again is still given up when its time ends") \
  each(handed_out_uncertain, "a lock of a session that is not certain to live is handed out") \
  each(handed_out_twice, "a lock that was handed out still counts as lingering") \
  each(kept_over_outages, "a lingering lock is kept when the connection goes") \
  each(kept_before_waiters, "a lock lingers although a contender of the same process waits for it") \
  each(class_ignored, "a lingering lock is handed out to a contender of another class") \
  each(bound_off_by_one, "one lock more than permitted lingers") \
  each(time_never_ends, "a lingering lock is kept until a newcomer comes") \
  each(delay_never_ends, "a delayed release waits for a request, however long that takes") \
  each(unused_lingers, "a lock that a set gives back on its way, or when it steps aside, lingers")
// clang-format on

#define FORELOCK_ENUMERATOR(name, text) name,
enum class Mutation { none, FORELOCK_LINGER_MUTATIONS(FORELOCK_ENUMERATOR) count_ };
#undef FORELOCK_ENUMERATOR

constexpr std::string_view name_of(Mutation mutation) {
#define FORELOCK_NAME(name, text) \
  if (mutation == Mutation::name) return #name;
  FORELOCK_LINGER_MUTATIONS(FORELOCK_NAME)
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

}  // namespace forelock::linger
