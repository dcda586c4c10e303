// The names of a monitor's children: contenders and the lock itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace forelock::lock {

// The node whose owner holds the monitor.
inline constexpr std::string_view private_lock_name = "privateLock";

// A contender's node, `<prefix>-<number>`. Refers to the text that was parsed.
struct ChildName {
  std::string_view prefix;  // not empty, does not end in '-'
  std::int64_t number = 0;  // the server's counter: 32 bits, negative once it has overflowed

  friend bool operator==(const ChildName&, const ChildName&) = default;
};

// The number must be written as the server does ("%010d"): ten digits with leading zeros, or '-' and nine or ten. So
// "A-0000000003", "A--000000001" and "A--2147483648" are contenders; "privateLock", "A-3" and "-0000000003" are not.
// A second '-' is always the number's sign, never the end of a prefix.
std::optional<ChildName> parse_contender_name(std::string_view name);

// Whether `a` is served before `b`: by prefix, bytewise, then by number.
bool ranks_before(const ChildName& a, const ChildName& b);

}  // namespace forelock::lock
