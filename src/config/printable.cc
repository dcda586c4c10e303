#include "config/printable.h"

#include <cstddef>

#include "base/utf8.h"

namespace forelock::config {

std::string printable(std::string_view text) {
  constexpr std::size_t longest = 60;
  constexpr std::string_view digits = "0123456789abcdef";
  const bool cut = text.size() > longest;
  text = text.substr(0, base::cut_between_characters(text, longest));
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) {
      out += "\\x";
      out += digits[byte >> 4];
      out += digits[byte & 0xF];
    } else {
      out += c;
    }
  }
  return cut ? out + "..." : out;
}

std::string in_quotes(std::string_view text) {
  return "'" + printable(text) + "'";
}

}  // namespace forelock::config
