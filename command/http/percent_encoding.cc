#include "http/percent_encoding.h"

namespace forelock::http {
namespace {

bool is_plain(unsigned char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

}  // namespace

std::string percent_encoded(std::string_view text) {
  constexpr char digits[] = "0123456789ABCDEF";
  std::string result;
  for (const char letter : text) {
    const auto c = static_cast<unsigned char>(letter);
    if (is_plain(c)) {
      result += letter;
    } else {
      result += '%';
      result += digits[c >> 4];
      result += digits[c & 15];
    }
  }
  return result;
}

}  // namespace forelock::http
