#include "retry/capped_text.h"

#include "base/utf8.h"

namespace forelock::retry {
namespace {

constexpr std::string_view ellipsis = "…";

}  // namespace

std::string capped(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return std::string(text);
  const std::size_t end = base::cut_between_characters(text, limit - ellipsis.size());
  return std::string(text.substr(0, end)).append(ellipsis);
}

}  // namespace forelock::retry
