// The clock of the client, by which sessions and locks end. The protocol gets the time only from these functions.
//
// It runs while the machine is suspended, like the servers' clocks, and unlike the steady clock of the standard
// library, whose type its instants have. Instants from outside are converted on entry (from_steady), and instants for
// outside, or for a wait on a condition variable, on exit (to_steady).
#pragma once

#include <time.h>

#include <chrono>
#include <cstdint>

#include "lock/engine_types.h"

namespace forelock::client {

inline lock::TimePoint now() {
  timespec time{};
  clock_gettime(CLOCK_BOOTTIME, &time);
  return lock::TimePoint(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

// How far this clock is ahead: the time for which the machine has been suspended. Too much by what passes between the
// two readings, so that a converted deadline is early rather than late.
inline lock::Duration ahead_of_steady() {
  const auto steady = std::chrono::steady_clock::now();
  return now() - steady;
}

inline lock::TimePoint to_steady(lock::TimePoint time) {
  return time == lock::never || time == lock::TimePoint() ? time : time - ahead_of_steady();
}

inline lock::TimePoint from_steady(std::chrono::steady_clock::time_point time) {
  const lock::Duration ahead = ahead_of_steady();
  return time >= lock::never - ahead ? lock::never : time + ahead;
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

}  // namespace forelock::client
