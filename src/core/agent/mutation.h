// The deliberate bugs of the wiring.
#pragma once

#include "base/mutation.h"

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
  each(outer_waiters_unknown, "nobody asks who of other processes waits for an outer lock") \
  each(danger_ahead, "a holder is told of danger when it is granted")
// clang-format on

FORELOCK_MUTATIONS(FORELOCK_AGENT_MUTATIONS)

}  // namespace forelock::agent
