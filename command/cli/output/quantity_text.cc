#include "cli/output/quantity_text.h"

#include <CLI/CLI.hpp>
#include <array>
#include <chrono>
#include <cstdint>

#include "config/quantity.h"
#include "records/wall_time.h"

namespace forelock::cli {
namespace {

constexpr std::int64_t longest_days = 36'500;

std::optional<std::chrono::milliseconds> unit_of(char letter) {
  switch (letter) {
    case 's':
      return std::chrono::seconds(1);
    case 'm':
      return std::chrono::minutes(1);
    case 'h':
      return std::chrono::hours(1);
    case 'd':
      return std::chrono::days(1);
    default:
      return std::nullopt;
  }
}

// Command lines are parsed once in a process, before any thread.
std::vector<std::string> doubts;

// Other programs take seconds.
void doubt_small_number(const std::string& option, const std::string& text) {
  constexpr std::int64_t rather_seconds = 100;
  const std::optional<std::int64_t> number = config::parse_number(text);
  if (!number || *number == 0 || *number >= rather_seconds) return;
  doubts.push_back(option + ' ' + text + " is " + text + " ms; for seconds write " + text + 's');
}

}  // namespace

std::string size_text(std::uint64_t bytes) {
  constexpr std::uint64_t step = 1024;
  if (bytes < step) return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
  constexpr std::array units = {"KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  std::uint64_t tenths = bytes * 10 / step;  // a store is far smaller than 2^60 bytes
  for (; tenths >= step * 10 && unit + 1 < units.size(); ++unit) tenths /= step;
  const std::string fraction = tenths % 10 == 0 || tenths >= 1000 ? "" : '.' + std::to_string(tenths % 10);
  return std::to_string(tenths / 10) + fraction + ' ' + units[unit];
}

std::optional<WallTime> parse_instant(std::string_view text, WallTime now) {
  if (const auto instant = records::parse_wall_time(text)) return instant;
  if (text.empty()) return std::nullopt;
  const auto unit = unit_of(text.back());
  const auto number = config::parse_number(text.substr(0, text.size() - 1));
  if (!unit || !number || *number > std::chrono::days(longest_days) / *unit) return std::nullopt;
  return now - *number * *unit;
}

std::string duration_text(std::chrono::milliseconds duration) {
  const auto ms = duration.count();
  const auto pair = [](std::int64_t major, const char* major_unit, std::int64_t minor, const char* minor_unit) {
    return std::to_string(major) + ' ' + major_unit + ' ' + std::to_string(minor) + ' ' + minor_unit;
  };
  if (ms < 1000) return std::to_string(ms) + " ms";
  if (ms < 60'000) return std::to_string(ms / 1000) + '.' + std::to_string(ms % 1000 / 100) + " s";
  if (ms < 3'600'000) return pair(ms / 60'000, "min", ms / 1000 % 60, "s");
  if (ms < 86'400'000) return pair(ms / 3'600'000, "h", ms / 60'000 % 60, "min");
  return pair(ms / 86'400'000, "d", ms / 3'600'000 % 24, "h");
}

std::string latency_text(std::chrono::microseconds latency) {
  constexpr std::chrono::microseconds few{10'000};
  if (latency < few) return std::to_string(latency.count()) + " µs";
  return duration_text(std::chrono::round<std::chrono::milliseconds>(latency));
}

CLI::Option* add_duration(CLI::App& app, const std::string& names, std::optional<std::chrono::milliseconds>& target,
                          const std::string& help) {
  const auto parse = [&target, option = names.substr(0, names.find(','))](const std::string& text) {
    target = config::parse_duration(text);
    if (!target) {
      throw CLI::ValidationError("'" + text +
                                 "' is not a duration: a number of milliseconds, or 250ms, 2s, 1.5s, 5m, 1h, 3d");
    }
    doubt_small_number(option, text);
  };
  return app.add_option_function<std::string>(names, parse, help)->type_name("MS");
}

const std::vector<std::string>& duration_doubts() {
  return doubts;
}

}  // namespace forelock::cli
