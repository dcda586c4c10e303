// Numbers that several parts of the protocol agree on.
#pragma once

#include <chrono>
#include <cstdint>

#include "lock/engine_types.h"

namespace forelock::lock {

// From here on a monitor's sequence counter comes near its end at 2^31 - 1: people are told, an empty monitor is
// renewed, and the count of creates is not relied on (the server's cversion, twice as large, overflows).
inline constexpr std::int64_t counter_alarm = std::int64_t{1} << 30;

// An unknown outcome within a connection that still stands, or a refused clean-up: look again, but not in a hot loop.
inline constexpr Duration look_again_after = std::chrono::milliseconds(100);

// How often a waiting process looks at the queue when there is no room for a watch on it.
inline constexpr Duration unwatched_interval = std::chrono::milliseconds(250);

}  // namespace forelock::lock
