// The deliberate bugs of the wiring, for the proof that the simulator would notice them. They exist only in the
// test-only build of this room (FORELOCK_MUTATION_BUILD); in every other build mutated() is a constant false and leaves
// no trace.
#pragma once

#include <string_view>

namespace forelock::agent {

// Each bug once: its name, and what it does.
// clang-format off
#define FORELOCK_AGENT_MUTATIONS(each) \
  each(writes_outlive_sections, "a lock lingers although a write that is guarded by it is under way") \
  each(uncertain_lock_lingers, "a lock stays with the process although the session is not proved alive") \
  each(uncertain_lock_taken, "a lock that lingers is handed out although the session is not proved alive") \
  each(given_up_kept, "a lock that lingers and is wanted by others is not released") \
  each(changes_untold, "nobody tells the locks that linger of a change in their queues") \
  each(outage_untold, "nobody tells the locks that linger that the connection is gone") \
  each(contention_untold, "nobody tells the locks that linger that a contender waits behind them") \
  each(given_back_lingers, "a member that a set gives back for another one stays with the process") \
  each(proof_without_end, "a set whose members are being proved does not end at its deadline") \
  each(danger_ahead, "a holder is told of danger when it is granted")
// clang-format on

#define FORELOCK_ENUMERATOR(name, text) name,
enum class Mutation { none, FORELOCK_AGENT_MUTATIONS(FORELOCK_ENUMERATOR) count_ };
#undef FORELOCK_ENUMERATOR

constexpr std::string_view name_of(Mutation mutation) {
#define FORELOCK_NAME(name, text) \
  if (mutation == Mutation::name) return #name;
  FORELOCK_AGENT_MUTATIONS(FORELOCK_NAME)
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

}  // namespace forelock::agent
