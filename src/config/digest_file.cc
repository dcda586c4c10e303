#include "config/digest_file.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "config/printable.h"
#include "config/private_file.h"

namespace forelock::config {
namespace {

constexpr std::size_t longest_digest = 4096;

bool is_digest(std::string_view line) {
  const std::size_t colon = line.find(':');
  return colon != std::string_view::npos && colon > 0 && colon + 1 < line.size() &&
         std::none_of(line.begin(), line.end(),
                      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
}

}  // namespace

std::variant<std::string, Fault> read_digest(const std::filesystem::path& path) {
  std::variant<std::string, Fault> text = read_private_file(path, longest_digest, "the line user:password");
  const std::string* const line = std::get_if<std::string>(&text);
  if (line != nullptr && (line->size() > longest_digest || !is_digest(*line))) {
    return Fault{in_quotes(path.native()) + " does not contain one line user:password", "write exactly that one line"};
  }
  return text;
}

}  // namespace forelock::config
