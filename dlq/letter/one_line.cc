#include "letter/one_line.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/utf8.h"

namespace forelock::letter {
namespace {

using Json = nlohmann::json;

bool is_printable(char c) {
  return c >= 0x20 && c <= 0x7E;
}

bool is_control(char c) {
  return (c >= 0 && c < 0x20) || c == 0x7F;
}

// U+0080 to U+009F, as bytes.
bool is_c1_control(std::string_view text, std::size_t at) {
  return text.substr(at, 1) == "\xC2" && at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) < 0xA0;
}

std::string repaired(std::string_view text) {
  return Json::parse(Json(text).dump(-1, ' ', false, Json::error_handler_t::replace)).get<std::string>();
}

}  // namespace

std::string one_line(std::string_view text, std::size_t limit) {
  if (std::all_of(text.begin(), text.end(), is_printable)) return std::string(text.substr(0, limit));
  const std::string whole = repaired(text);
  std::string line;
  line.reserve(whole.size());
  for (std::size_t at = 0; at < whole.size(); ++at) {
    if (is_c1_control(whole, at)) {
      line += ' ';
      ++at;
    } else {
      line += is_control(whole[at]) ? ' ' : whole[at];
    }
  }
  line.resize(base::cut_between_characters(line, limit));
  return line;
}

}  // namespace forelock::letter
