#include "records/json_text.h"

#include <array>

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

struct Sequence {
  std::size_t length;  // in bytes, at least 1
  bool valid;          // else the bytes are to be replaced as a whole
};

// The multi-byte sequence at `at`: Unicode table 3-7. An invalid one ends before the first byte that cannot belong to
// it.
Sequence sequence_at(std::string_view text, std::size_t at) {
  const unsigned first = byte_at(text, at);
  const std::size_t length = first >= 0xC2 && first <= 0xDF   ? 2
                             : first >= 0xE0 && first <= 0xEF ? 3
                             : first >= 0xF0 && first <= 0xF4 ? 4
                                                              : 0;
  if (length == 0) return {1, false};
  unsigned low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  unsigned high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  for (std::size_t i = 1; i < length; ++i) {
    if (at + i >= text.size() || byte_at(text, at + i) < low || byte_at(text, at + i) > high) return {i, false};
    low = 0x80;
    high = 0xBF;
  }
  return {length, true};
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
      const Sequence sequence = sequence_at(text, at);
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
