#include "cli/instant_text.h"

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

}  // namespace

std::optional<WallTime> parse_instant(std::string_view text, WallTime now) {
  if (const auto instant = records::parse_wall_time(text)) return instant;
  if (text.empty()) return std::nullopt;
  const auto unit = unit_of(text.back());
  const auto number = config::parse_number(text.substr(0, text.size() - 1));
  if (!unit || !number || *number > std::chrono::days(longest_days) / *unit) return std::nullopt;
  return now - *number * *unit;
}

}  // namespace forelock::cli
