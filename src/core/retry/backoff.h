// The wait before a retry: exponential, with full jitter, capped. From "Exponential Backoff And Jitter", AWS
// Architecture Blog.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/time_point.h"

namespace forelock::retry {

using base::Duration;
using base::later;
using base::never;
using base::TimePoint;

// Immutable. The same random number gives the same wait.
class Backoff {
 public:
  // Bounds beyond this are cut to it.
  static constexpr std::chrono::hours longest{24};

  // `initial` bounds the first wait; the bound doubles with each further one and stops growing at `cap`.
  Backoff(std::chrono::milliseconds initial, std::chrono::milliseconds cap);

  // The longest wait before the retry of this number; 1 is the first.
  Duration bound(std::uint32_t retry) const;
  // Between zero and the bound as `random` is between zero and its largest value.
  Duration wait(std::uint32_t retry, std::uint64_t random) const;

 private:
  Duration initial_;
  Duration cap_;
};

}  // namespace forelock::retry
