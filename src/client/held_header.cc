#include "client/held_header.h"

#include <string_view>

#include "forelock/error.h"

namespace forelock::client {
namespace {

bool is_plain_in_header(unsigned char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

void append_encoded(std::string_view monitor, std::string& text) {
  constexpr char digits[] = "0123456789ABCDEF";
  for (const char letter : monitor) {
    const auto c = static_cast<unsigned char>(letter);
    if (is_plain_in_header(c)) {
      text += letter;
    } else {
      text += {'%', digits[c >> 4], digits[c & 15]};
    }
  }
}

}  // namespace

std::string held_header(const std::vector<MemberToken>& tokens) {
  std::string text;
  for (const MemberToken& one : tokens) {
    if (one.token == 0) {
      throw RequestRejectedException(ErrorCode::invalid_argument, one.monitor,
                                     "the lock on " + one.monitor + " was never granted: there is no token");
    }
    if (!text.empty()) text += ", ";
    append_encoded(one.monitor, text);
    text += '=' + std::to_string(one.token);
  }
  return text;
}

}  // namespace forelock::client
