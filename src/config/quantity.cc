#include "config/quantity.h"

#include <charconv>
#include <limits>
#include <span>
#include <system_error>

namespace forelock::config {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t factor;
};

constexpr Unit duration_units[] = {{"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}};
constexpr Unit size_units[] = {{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}};

std::optional<std::int64_t> parse_with_unit(std::string_view text, std::span<const Unit> units) {
  std::int64_t factor = 1;
  for (const Unit& unit : units) {
    if (text.ends_with(unit.name)) {
      text.remove_suffix(unit.name.size());
      factor = unit.factor;
      break;  // "ms" stands before "s" and "m"
    }
  }
  const std::optional<std::int64_t> number = parse_number(text);
  if (!number || *number > std::numeric_limits<std::int64_t>::max() / factor) return std::nullopt;
  return *number * factor;
}

// "1.5" of a unit, if that is a whole number of the smallest.
std::optional<std::int64_t> parse_fraction(std::string_view text, std::int64_t factor) {
  constexpr std::size_t most_digits = 6;  // more say nothing of any unit
  const std::size_t point = text.find('.');
  const std::string_view fraction = text.substr(point + 1);
  const std::optional<std::int64_t> whole = parse_number(text.substr(0, point));
  std::optional<std::int64_t> part = fraction.size() <= most_digits ? parse_number(fraction) : std::nullopt;
  if (!whole || !part || *whole > std::numeric_limits<std::int64_t>::max() / factor - 1) return std::nullopt;
  std::int64_t digits = 1;
  for (std::size_t i = 0; i < fraction.size(); ++i) digits *= 10;
  if (*part * factor % digits != 0) return std::nullopt;
  return *whole * factor + *part * factor / digits;
}

}  // namespace

std::optional<std::int64_t> parse_number(std::string_view text) {
  std::int64_t number = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  if (error != std::errc{} || end != last || text.front() == '-') return std::nullopt;
  return number;
}

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
  std::optional<std::int64_t> number = parse_with_unit(text, duration_units);
  for (const Unit& unit : duration_units) {
    if (number || !text.ends_with(unit.name) || text.find('.') == std::string_view::npos) continue;
    number = parse_fraction(text.substr(0, text.size() - unit.name.size()), unit.factor);
    break;  // "ms" stands before "s" and "m"
  }
  if (!number) return std::nullopt;
  return std::chrono::milliseconds(*number);
}

std::optional<std::int64_t> parse_size(std::string_view text) {
  const std::size_t space = text.find(' ');
  if (space == std::string_view::npos) return parse_with_unit(text, size_units);
  // Only one space, and only before a unit.
  const std::string_view unit = text.substr(space + 1);
  for (const Unit& known : size_units) {
    if (unit != known.name) continue;
    const std::optional<std::int64_t> number = parse_number(text.substr(0, space));
    if (!number || *number > std::numeric_limits<std::int64_t>::max() / known.factor) return std::nullopt;
    return *number * known.factor;
  }
  return std::nullopt;
}

}  // namespace forelock::config
