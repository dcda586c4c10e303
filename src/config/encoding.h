// The encoding of configuration files: UTF-8, with or without a byte order mark.
#pragma once

#include <string_view>

namespace forelock::config {

inline constexpr char32_t replacement_character = 0xFFFD;
inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

// Throws ConfigurationException with the line of the first byte that is not UTF-8: overlong forms, surrogates and
// numbers past U+10FFFF are not.
void check_utf8(std::string_view text, std::string_view file);

}  // namespace forelock::config
