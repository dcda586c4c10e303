#include "lock/monitor_name.h"

#include <cstdint>

#include "base/utf8.h"

namespace forelock::lock {
namespace {

constexpr std::string_view hex_digits = "0123456789ABCDEF";

constexpr std::uint32_t byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

// The rules of org.apache.zookeeper.common.PathUtils.validatePath, which looks at UTF-16 units.
constexpr bool must_be_escaped(std::uint32_t c) {
  return c <= 0x1F || c == '/' || c == '%' || (c >= 0x7F && c <= 0x9F) || (c >= 0xD800 && c <= 0xF8FF) || c >= 0xFFF0;
}

void append_escaped(std::string_view bytes, std::string& out) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    out += '%';
    out += hex_digits[byte_at(bytes, i) >> 4];
    out += hex_digits[byte_at(bytes, i) & 0xFU];
  }
}

// How many first bytes of an id are escaped because the id as a whole means something else to the server.
constexpr std::size_t reserved_bytes(std::string_view id) {
  if (id == "." || id == "..") return id.size();
  return id == "zookeeper" ? 1 : 0;
}

// Every %XX replaced by its byte; nothing where a '%' does not begin one.
std::optional<std::string> unescaped(std::string_view name) {
  std::string id;
  id.reserve(name.size());
  for (std::size_t at = 0; at < name.size(); ++at) {
    if (name[at] != '%') {
      id += name[at];
      continue;
    }
    if (name.size() - at < 3) return std::nullopt;
    const std::size_t high = hex_digits.find(name[at + 1]);
    const std::size_t low = hex_digits.find(name[at + 2]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    id += static_cast<char>(static_cast<unsigned char>(high << 4 | low));
    at += 2;
  }
  return id;
}

}  // namespace

EncodedName encode_monitor_name(std::string_view id) {
  if (id.empty()) return {std::nullopt, "is empty"};
  // Encoding never shortens: such an id need not be looked at, however long.
  if (id.size() > max_monitor_name_bytes) return {std::nullopt, "is longer than 255 bytes"};
  std::string name;
  name.reserve(id.size());
  const std::size_t reserved = reserved_bytes(id);
  for (std::size_t at = 0; at < id.size();) {
    const base::Utf8Sequence c = base::utf8_sequence_at(id, at);
    if (!c.valid) return {std::nullopt, "is not valid UTF-8 (byte " + std::to_string(at + 1) + ")"};
    const std::string_view bytes = id.substr(at, c.length);
    if (at < reserved || must_be_escaped(c.code_point)) {
      append_escaped(bytes, name);
    } else {
      name += bytes;
    }
    at += c.length;
  }
  if (name.size() > max_monitor_name_bytes) return {std::nullopt, "is longer than 255 bytes once encoded"};
  return {std::move(name), {}};
}

std::string decode_monitor_name(std::string_view name) {
  if (name.find('%') != std::string_view::npos) {
    const std::optional<std::string> id = unescaped(name);
    // Only what encode would have written: "%41" is a foreign name, not another spelling of "A".
    if (id && encode_monitor_name(*id).name == name) return *id;
  }
  return std::string(name);
}

}  // namespace forelock::lock
