// Text from outside the library as one printable line, for headers and keys.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace forelock::letter {

// One line of UTF-8: invalid bytes become U+FFFD, control characters a space; cut to at most `limit` bytes between two
// characters.
std::string one_line(std::string_view text, std::size_t limit);

}  // namespace forelock::letter
