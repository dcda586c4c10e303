// Instants as text: ISO 8601, UTC, with milliseconds ("2025-11-21T13:45:00.123Z").
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "forelock/owner_record.h"

namespace forelock::records {

// How long format_wall_time's text is, always.
inline constexpr std::size_t wall_time_bytes = 24;

// The end of the year 9999.
inline constexpr WallTime last_writable{std::chrono::milliseconds(253'402'300'799'999)};

// Now, by this machine's clock.
WallTime wall_time_now();

// So much later, or the last instant that there is.
WallTime later(WallTime time, std::chrono::milliseconds span);

// Instants before the year 0 or after 9999 are shown as the first or last one that can be written.
std::string format_wall_time(WallTime time);
void append_wall_time(WallTime time, std::string& out);

// Takes what format_wall_time writes, and what others write of the same kind: any number of fractional digits or none
// (cut to milliseconds), and an offset such as +02:00 in place of Z. Nothing for anything else.
std::optional<WallTime> parse_wall_time(std::string_view text);

}  // namespace forelock::records
