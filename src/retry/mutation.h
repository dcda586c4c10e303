// The deliberate bugs of the operation machine, for the proof that the simulator would notice them. They exist only in
// the test-only build of this room (FORELOCK_MUTATION_BUILD); in every other build mutated() is a constant false and
// leaves no trace.
#pragma once

#include <string_view>

namespace forelock::retry {

// Each bug once: its name, and what it does.
// clang-format off
#define FORELOCK_RETRY_MUTATIONS(each) \
  each(refused_letter_forgotten, "a sink that refuses counts as one that took the letter") \
  each(withdrawn_while_given_up, "a stop request fails the operation while the sink is taking its letter") \
  each(uncertain_success_counts, "a handler that returned has succeeded, whatever became of the lock") \
  each(deadline_ignored, "retries begin after the deadline") \
  each(one_retry_too_many, "elastic.request.retry.count counts one short")
// clang-format on

#define FORELOCK_ENUMERATOR(name, text) name,
enum class Mutation { none, FORELOCK_RETRY_MUTATIONS(FORELOCK_ENUMERATOR) count_ };
#undef FORELOCK_ENUMERATOR

constexpr std::string_view name_of(Mutation mutation) {
#define FORELOCK_NAME(name, text) \
  if (mutation == Mutation::name) return #name;
  FORELOCK_RETRY_MUTATIONS(FORELOCK_NAME)
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

}  // namespace forelock::retry
