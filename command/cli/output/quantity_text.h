// Sizes, durations and instants as text: as people read them, and as they are written on a command line.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "forelock/owner_record.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace forelock::cli {

// "512 bytes", "12.3 KiB", "256 MiB".
std::string size_text(std::uint64_t bytes);

// An ISO 8601 instant such as 2025-11-21T03:00:00Z, or an age such as 90s, 15m, 2h or 3d: so long before `now`. Nothing
// for anything else.
std::optional<WallTime> parse_instant(std::string_view text, WallTime now);

// "412 ms", "3.2 s", "4 min 10 s", "2 h 5 min", "3 d 4 h".
std::string duration_text(std::chrono::milliseconds duration);

// "412 µs", "20 ms", "3.2 s".
std::string latency_text(std::chrono::microseconds latency);

// Declares an option that takes a duration: a plain number is milliseconds; 250ms, 2s, 1.5s, 5m, 1h, 3d.
CLI::Option* add_duration(CLI::App& app, const std::string& names, std::optional<std::chrono::milliseconds>& target,
                          const std::string& help);

// What is to be said about the durations that were parsed so far: a small plain number was rather meant in seconds.
const std::vector<std::string>& duration_doubts();

}  // namespace forelock::cli
