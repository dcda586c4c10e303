// Bytes as text: base64 of RFC 4648, section 4, with padding.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace forelock::letter {

void append_base64(std::string_view bytes, std::string& out);

// Strict: one encoding for each value. Nothing for other characters, white space, missing or wrong padding, or bits
// behind the last byte that are not zero.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace forelock::letter
