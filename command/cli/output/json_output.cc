#include "cli/output/json_output.h"

#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "cli/output/message_writer.h"

namespace forelock::cli {
namespace {

// Of the control character in front, in UTF-8; 0 if there is none.
std::size_t length_of_control(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first == 0x7F) return 1;
  const bool c1 = first == 0xC2 && text.size() > 1 && (static_cast<unsigned char>(text[1]) & 0xE0U) == 0x80;
  return c1 ? 2 : 0;
}

}  // namespace

std::string escaped_json(std::string json) {
  constexpr std::string_view digits = "0123456789abcdef";
  if (json.find_first_of("\x7F\xC2") == std::string::npos) return json;
  std::string out;
  out.reserve(json.size());
  for (std::size_t i = 0; i < json.size();) {
    const std::size_t length = length_of_control(std::string_view(json).substr(i));
    if (length == 0) {
      out += json[i++];
      continue;
    }
    i += length;
    const auto last = static_cast<unsigned char>(json[i - 1]);
    out += "\\u00";
    out += digits[last >> 4U];
    out += digits[last & 0xFU];
  }
  return out;
}

std::string json_text(const nlohmann::ordered_json& json) {
  return escaped_json(json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

void write_json_to_stderr(const nlohmann::ordered_json& json) {
  MessageWriter::of_stderr().write(json_text(json) + '\n');
}

}  // namespace forelock::cli
