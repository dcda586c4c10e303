// Limits and pauses that all loads share.
#pragma once

#include "support/standard.h"

namespace forelock::robustness {

// So long the last removals may take once the faults are over.
inline constexpr std::chrono::seconds settle_patience{60};
// After a call that failed, so that calls that fail at once do not spin.
inline constexpr std::chrono::milliseconds rest_after_failure{40};

// Lets time pass, or less when a stop is requested.
inline void pause(const std::stop_token& stop, std::chrono::steady_clock::duration time) {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::unique_lock guard(mutex);
  changed.wait_for(guard, stop, time, [] { return false; });
}

}  // namespace forelock::robustness
