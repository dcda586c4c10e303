// Converts the text of a setting to a value of its type, or reports why it is invalid.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "config/option.h"
#include "config/problems.h"

namespace forelock::config {

struct ParsedValue {
  std::string text;         // the same value in its one canonical spelling
  std::int64_t number = 0;  // number, duration (ms), size (bytes); choice: which one, from 0
};

// Blanks around the text do not count.
std::variant<ParsedValue, Fault> parse_value(const Option& option, std::string_view text);

}  // namespace forelock::config
