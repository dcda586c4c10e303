// Text for people from outside the library, at most so long.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace forelock::retry {

// At most `limit` bytes of the text (3 or more); one that is longer ends in "…", and is cut between two characters of
// UTF-8.
std::string capped(std::string_view text, std::size_t limit);

}  // namespace forelock::retry
