#include "retry/capped_text.h"

namespace forelock::retry {
namespace {

constexpr std::string_view ellipsis = "…";
constexpr std::size_t longest_character = 4;

constexpr bool continues(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

}  // namespace

std::string capped(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return std::string(text);
  std::size_t end = limit - ellipsis.size();
  // What is no UTF-8 has no characters to keep whole.
  for (std::size_t i = 1; i < longest_character && end > 0 && continues(text[end]); ++i) --end;
  return std::string(text.substr(0, end)).append(ellipsis);
}

}  // namespace forelock::retry
