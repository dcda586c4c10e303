#include "records/session_text.h"

#include <array>
#include <charconv>

namespace forelock::records {

std::string session_text(std::int64_t session) {
  std::array<char, 16> digits{};
  const auto end =
      std::to_chars(digits.data(), digits.data() + digits.size(), static_cast<std::uint64_t>(session), 16).ptr;
  return "0x" + std::string(digits.data(), end);
}

}  // namespace forelock::records
