// The deliberate bugs of the operation machine.
#pragma once

#include "base/mutation.h"

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

FORELOCK_MUTATIONS(FORELOCK_RETRY_MUTATIONS)

}  // namespace forelock::retry
