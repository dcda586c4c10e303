#include "base/shell_word.h"

#include <algorithm>
#include <string_view>

namespace forelock::base {
namespace {

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_-.:@+,/").find(c) != std::string_view::npos || static_cast<unsigned char>(c) >= 0x80;
}

}  // namespace

std::string shell_quoted(const std::string& text) {
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + '\'';
}

std::string shell_argument(const std::string& text) {
  return std::string(text.starts_with('-') ? "-- " : "") + shell_quoted(text);
}

}  // namespace forelock::base
