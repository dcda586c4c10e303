// Values without the blanks around them: a properties file keeps those behind a value, where they are invisible.
#pragma once

#include <cstddef>
#include <string_view>

namespace forelock::config {

inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\n\r\f";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

}  // namespace forelock::config
