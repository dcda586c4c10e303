// Numbers, durations and sizes in the notation of settings and the command line.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace forelock::config {

// Decimal digits, nothing else; no value for anything else, or past the range of the type.
std::optional<std::int64_t> parse_number(std::string_view text);

// A number of milliseconds, or one with a unit right behind it, which may have a fraction: 250ms, 2s, 1.5s, 5m, 1h, 2d.
// No value for anything else, or for what is no whole number of milliseconds.
std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);

// A number of bytes, or one with a unit, a space between them or not: 4096, 256 MiB, 1GiB. No value for anything else.
std::optional<std::int64_t> parse_size(std::string_view text);

}  // namespace forelock::config
