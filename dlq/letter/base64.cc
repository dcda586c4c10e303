#include "letter/base64.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace forelock::letter {
namespace {

constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t no_digit = 0xFF;

constexpr std::array<std::uint8_t, 256> digit_values = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(no_digit);
  for (std::size_t i = 0; i < alphabet.size(); ++i) {
    values[static_cast<unsigned char>(alphabet[i])] = static_cast<std::uint8_t>(i);
  }
  return values;
}();

std::uint32_t byte_at(std::string_view bytes, std::size_t at) {
  return static_cast<unsigned char>(bytes[at]);
}

char digit(std::uint32_t value) {
  return alphabet[value & 0x3F];
}

char low_byte(std::uint32_t value) {
  return static_cast<char>(static_cast<unsigned char>(value & 0xFF));
}

}  // namespace

void append_base64(std::string_view bytes, std::string& out) {
  const std::size_t begin = out.size();
  out.resize(begin + (bytes.size() + 2) / 3 * 4, '=');
  char* to = out.data() + begin;
  std::size_t at = 0;
  for (; at + 3 <= bytes.size(); at += 3) {
    const std::uint32_t group = byte_at(bytes, at) << 16 | byte_at(bytes, at + 1) << 8 | byte_at(bytes, at + 2);
    *to++ = digit(group >> 18);
    *to++ = digit(group >> 12);
    *to++ = digit(group >> 6);
    *to++ = digit(group);
  }
  if (at == bytes.size()) return;
  const bool two = at + 2 == bytes.size();
  const std::uint32_t group = byte_at(bytes, at) << 16 | (two ? byte_at(bytes, at + 1) << 8 : 0);
  *to++ = digit(group >> 18);
  *to++ = digit(group >> 12);
  if (two) *to = digit(group >> 6);
}

std::optional<std::string> decode_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
  const std::string_view digits = text.substr(0, text.size() - padding);
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  std::uint32_t group = 0;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const std::uint8_t value = digit_values[static_cast<unsigned char>(digits[i])];
    if (value == no_digit) return std::nullopt;
    group = group << 6 | value;
    if (i % 4 != 3) continue;
    bytes += low_byte(group >> 16);
    bytes += low_byte(group >> 8);
    bytes += low_byte(group);
    group = 0;
  }
  if (padding == 1) {  // three digits: two bytes and two bits
    if ((group & 0x3) != 0) return std::nullopt;
    bytes += low_byte(group >> 10);
    bytes += low_byte(group >> 2);
  } else if (padding == 2) {  // two digits: one byte and four bits
    if ((group & 0xF) != 0) return std::nullopt;
    bytes += low_byte(group >> 4);
  }
  return bytes;
}

}  // namespace forelock::letter
