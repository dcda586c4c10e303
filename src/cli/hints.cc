#include "cli/hints.h"

#include <algorithm>
#include <string_view>

namespace forelock::cli {
namespace {

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_-.:@+,/").find(c) != std::string_view::npos || static_cast<unsigned char>(c) >= 0x80;
}

}  // namespace

std::string show_hint(const std::string& monitor) {
  return "forelock show " + std::string(monitor.starts_with('-') ? "-- " : "") + shell_quoted(monitor);
}

std::string dead_letter_hint(const std::string& id) {
  return "forelock dlq show " + std::string(id.starts_with('-') ? "-- " : "") + shell_quoted(id);
}

std::string shell_quoted(const std::string& text) {
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + '\'';
}

}  // namespace forelock::cli
