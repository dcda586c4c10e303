// The clocks of the client. The protocol is told the time by these functions alone.
#pragma once

#include <time.h>

#include <chrono>
#include <cstdint>

#include "lock/engine_types.h"

namespace forelock::client {

inline lock::TimePoint now() {
  return std::chrono::steady_clock::now();
}

// The end of a time-out that begins now; `never` if that is beyond the clock.
inline lock::TimePoint deadline_after(std::chrono::milliseconds timeout) {
  const lock::TimePoint time = now();
  if (timeout >= std::chrono::floor<std::chrono::milliseconds>(lock::never - time)) return lock::never;
  return time + timeout;
}

inline std::int64_t nanoseconds(lock::TimePoint time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

// An upper bound of the steady clock, at a quarter of its price: the kernel's coarse clock lags by less than its
// resolution. Reading the exact clock would be most of the cost of healthy().
inline std::int64_t nanoseconds_at_most() {
  static const std::int64_t resolution = [] {
    timespec step{};
    clock_getres(CLOCK_MONOTONIC_COARSE, &step);
    return std::int64_t{step.tv_sec} * 1'000'000'000 + step.tv_nsec;
  }();
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec + resolution;
}

}  // namespace forelock::client
