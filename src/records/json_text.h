// Text as the inside of a JSON string. Written by hand because it is part of every acquisition.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>

namespace forelock::records {

// Appends `text`, escaped, without quotes. What is not UTF-8 becomes U+FFFD. Stops before the first character that
// would make more than `limit` bytes of it.
void append_json_text(std::string_view text, std::string& out,
                      std::size_t limit = std::numeric_limits<std::size_t>::max());

}  // namespace forelock::records
