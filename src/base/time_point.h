// Instants in the pure rooms. They use only the type of the steady clock: the time is passed to them.
#pragma once

#include <chrono>

namespace forelock::base {

using TimePoint = std::chrono::steady_clock::time_point;
using Duration = std::chrono::steady_clock::duration;

inline constexpr TimePoint never = TimePoint::max();

// `time` + `duration`, at most `never`. The duration is not negative.
constexpr TimePoint later(TimePoint time, Duration duration) {
  return time > never - duration ? never : time + duration;
}

}  // namespace forelock::base
