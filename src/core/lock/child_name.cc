#include "lock/child_name.h"

#include <cstddef>
#include <limits>

namespace forelock::lock {
namespace {

constexpr std::size_t width = 10;  // of "%010d", a sign included
constexpr std::int64_t highest = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t lowest = std::numeric_limits<std::int32_t>::min();

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::size_t trailing_digits(std::string_view text) {
  std::size_t count = 0;
  while (count < text.size() && is_digit(text[text.size() - 1 - count])) ++count;
  return count;
}

std::int64_t value_of(std::string_view digits) {
  std::int64_t value = 0;
  for (const char c : digits) value = value * 10 + (c - '0');
  return value;
}

}  // namespace

std::optional<ChildName> parse_contender_name(std::string_view name) {
  const std::size_t count = trailing_digits(name);
  if (count != width && count != width - 1) return std::nullopt;
  const std::string_view digits = name.substr(name.size() - count);
  std::string_view rest = name.substr(0, name.size() - count);

  const bool negative = rest.ends_with("--");
  // A negative number of ten digits needs no leading zeros, so it has none; a positive one has always ten digits.
  if (negative ? (count == width && digits.front() == '0') : count != width) return std::nullopt;
  const std::int64_t number = negative ? -value_of(digits) : value_of(digits);
  if (number < lowest || number > highest || (negative && number == 0)) return std::nullopt;

  if (negative) rest.remove_suffix(1);
  if (!rest.ends_with('-')) return std::nullopt;
  rest.remove_suffix(1);
  if (rest.empty() || rest.ends_with('-')) return std::nullopt;
  return ChildName{rest, number};
}

bool ranks_before(const ChildName& a, const ChildName& b) {
  const int order = a.prefix.compare(b.prefix);
  return order != 0 ? order < 0 : a.number < b.number;
}

}  // namespace forelock::lock
