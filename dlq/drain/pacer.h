// Rate limiter: evenly spaced, no bursts.
#pragma once

#include <algorithm>
#include <chrono>

namespace forelock::drain {

// Not thread-safe; is told the time. What was not used is not saved up: no bursts after a pause.
class Pacer {
 public:
  using Clock = std::chrono::steady_clock;

  // \param per_second 0: as fast as it goes.
  explicit Pacer(double per_second)
      : interval_(per_second > 0 ? std::chrono::ceil<Clock::duration>(std::chrono::duration<double>(1 / per_second))
                                 : Clock::duration::zero()) {}

  // When the caller may begin: its own slot.
  Clock::time_point reserve(Clock::time_point now) {
    const Clock::time_point slot = std::max(next_, now);
    next_ = slot + interval_;
    return slot;
  }

 private:
  Clock::duration interval_;
  Clock::time_point next_ = Clock::time_point::min();
};

}  // namespace forelock::drain
