// The deliberate bugs of lingering locks.
#pragma once

#include "base/mutation.h"

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

FORELOCK_MUTATIONS(FORELOCK_LINGER_MUTATIONS)

}  // namespace forelock::linger
