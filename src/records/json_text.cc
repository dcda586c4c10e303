#include "records/json_text.h"

#include <array>

#include "base/utf8.h"

namespace forelock::records {
namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";
constexpr std::string_view replacement = "\xEF\xBF\xBD";

// Bytes that stand for themselves: ASCII without control characters, quote and backslash.
constexpr std::array<bool, 256> plain = [] {
  std::array<bool, 256> table{};
  for (std::size_t i = 0x20; i < 0x7F; ++i) table[i] = i != '"' && i != '\\';
  return table;
}();

constexpr unsigned byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

bool is_plain(char c) {
  return plain[static_cast<unsigned char>(c)];
}

// The escape for an ASCII character that needs one.
std::string_view escape_of(unsigned char c, std::array<char, 6>& buffer) {
  switch (c) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\b':
      return "\\b";
    case '\f':
      return "\\f";
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      break;
  }
  buffer = {'\\', 'u', '0', '0', hex_digits[c >> 4], hex_digits[c & 0xFU]};
  return {buffer.data(), buffer.size()};
}

}  // namespace

void append_json_text(std::string_view text, std::string& out, std::size_t limit) {
  std::size_t left = limit;
  std::array<char, 6> buffer;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_plain(text[end])) ++end;
    if (end > at) {
      const std::string_view run = text.substr(at, end - at);
      out += run.substr(0, left);
      if (run.size() > left) return;
      left -= run.size();
      at = end;
      continue;
    }
    std::size_t length = 1;
    std::string_view piece;
    if (byte_at(text, at) < 0x80) {
      piece = escape_of(static_cast<unsigned char>(text[at]), buffer);
    } else {
      const base::Utf8Sequence sequence = base::utf8_sequence_at(text, at);
      length = sequence.length;
      piece = sequence.valid ? text.substr(at, length) : replacement;
    }
    if (piece.size() > left) return;
    out += piece;
    left -= piece.size();
    at += length;
  }
}

}  // namespace forelock::records
