// Deliberate bugs of the operation machine, for the proof that the simulator would notice them. They exist only in the
// test-only build of this room (FORELOCK_MUTATION_BUILD); in every other build mutated() is a constant false and leaves
// no trace.
#pragma once

namespace forelock::retry {

enum class Mutation {
  none,
  refused_letter_forgotten,  // a sink that refuses counts as one that took the letter
  withdrawn_while_given_up,  // a stop request fails the operation to the caller while the sink is taking its letter
  uncertain_success_counts,  // a handler that returned has succeeded, whatever became of the lock
  deadline_ignored,          // retries begin after the deadline
  one_retry_too_many,        // elastic.request.retry.count counts one short
  count_
};

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
