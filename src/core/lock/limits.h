// Limits that several parts of the protocol share.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "lock/engine_types.h"

namespace forelock::lock {

// From here on a monitor's sequence counter comes near its end at 2^31 - 1: operators are warned, an empty monitor is
// renewed, and the count of creates is not relied on (the server's cversion, twice as large, overflows).
inline constexpr std::int64_t counter_alarm = std::int64_t{1} << 30;

// The pause after an unknown outcome in a live connection, or a refused clean-up: no hot loop.
inline constexpr Duration look_again_after = std::chrono::milliseconds(100);

// How often a waiting process looks at the queue when there is no room for a watch on it; but looks at all such queues
// together come one after the other, with this time in between at least.
inline constexpr Duration unwatched_interval = std::chrono::milliseconds(250);
inline constexpr Duration between_unwatched_looks = std::chrono::milliseconds(1);

// A queue that is watched is looked at now and then all the same. However many there are, not more often than this.
inline constexpr Duration between_safety_polls = std::chrono::milliseconds(10);

// Where somebody has changed the data of one own node, those of so many others that wait there are read.
inline constexpr std::size_t most_records_read = 1000;

// The data of a monitor's node that a process of ours has made and may remove when it is unused.
inline constexpr std::string_view monitor_mark = "forelock";

// A child that comes and goes in one transaction, and so is seen by watches alone: a process that keeps the lock
// without a caller then releases it.
inline constexpr std::string_view knock_name = "knock";
inline constexpr std::size_t most_knocks_at_once = 500;
inline constexpr std::size_t most_knock_bytes = 64 * 1024;
inline constexpr std::size_t knock_overhead = 64;  // of each of both operations, beside the monitor's path
// How often a request with knocks is sent again without the monitor that was not there.
inline constexpr int most_knocks_in_vain = 8;

// Of unused monitors in one request. All are kept if one of them is in use after all, and the others are asked for
// again.
inline constexpr std::size_t most_removed_at_once = 500;

// The last requests of a session are not asked again, so the first of them are for one monitor each. Of those for more
// all stay if one is in use.
inline constexpr std::size_t most_removed_alone = 1000;
inline constexpr std::size_t most_removed_by_last = 50;
inline constexpr std::size_t most_last_removals = most_removed_alone + 100;

// Unused monitors that wait for their removal, for want of a connection. Beyond it the oldest are left to others.
inline constexpr std::size_t most_unused = 65'536;

// A monitor that vanishes again and again between its creation and our claim: something is wrong with the server.
inline constexpr int max_misses = 10;

}  // namespace forelock::lock
