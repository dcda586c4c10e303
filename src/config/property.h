// One key of a configuration file, its value, and the line where it begins.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace forelock::config {

struct Property {
  std::string key;    // UTF-8
  std::string value;  // UTF-8
  int line = 0;       // 1-based

  friend bool operator==(const Property&, const Property&) = default;
};

// A value without the blanks around it: a properties file keeps those behind a value, where they are invisible.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\n\r\f";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

}  // namespace forelock::config
