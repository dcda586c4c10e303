#include "base/utf8.h"

#include <algorithm>

namespace forelock::base {
namespace {

constexpr std::size_t longest_sequence = 4;

constexpr char32_t byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

constexpr bool continues(char32_t byte) {
  return (byte & 0xC0U) == 0x80U;
}

}  // namespace

Utf8Sequence utf8_sequence_at(std::string_view text, std::size_t at) {
  const char32_t first = byte_at(text, at);
  if (first < 0x80) return {1, true, first};
  const std::size_t length = first >= 0xC2 && first <= 0xDF   ? 2
                             : first >= 0xE0 && first <= 0xEF ? 3
                             : first >= 0xF0 && first <= 0xF4 ? 4
                                                              : 0;
  if (length == 0) return {};
  // The second byte's range depends on the first: that keeps out what is not UTF-8 although its form is.
  char32_t low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  char32_t high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  char32_t code_point = first & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if (at + i >= text.size() || byte_at(text, at + i) < low || byte_at(text, at + i) > high) return {i, false, 0};
    code_point = (code_point << 6) | (byte_at(text, at + i) & 0x3FU);
    low = 0x80;
    high = 0xBF;
  }
  return {length, true, code_point};
}

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Sequence sequence = utf8_sequence_at(text, at);
    if (!sequence.valid) return false;
    at += sequence.length;
  }
  return true;
}

std::size_t cut_between_characters(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return text.size();
  std::size_t end = limit;
  for (std::size_t i = 1; i < longest_sequence && end > 0 && continues(byte_at(text, end)); ++i) --end;
  return end;
}

void append_utf8(char32_t code_point, std::string& out) {
  const auto put = [&out](char32_t bits) { out += static_cast<char>(static_cast<unsigned char>(bits)); };
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xC0 | (code_point >> 6));
    put(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    put(0xE0 | (code_point >> 12));
    put(0x80 | ((code_point >> 6) & 0x3F));
    put(0x80 | (code_point & 0x3F));
  } else {
    put(0xF0 | (code_point >> 18));
    put(0x80 | ((code_point >> 12) & 0x3F));
    put(0x80 | ((code_point >> 6) & 0x3F));
    put(0x80 | (code_point & 0x3F));
  }
}

}  // namespace forelock::base
