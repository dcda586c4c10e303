// Texts of others as parts of a URL.
#pragma once

#include <string>
#include <string_view>

namespace forelock::http {

// Everything but letters, digits, '-' and '_' as %XX: no text can end a segment or a parameter, or be one of the
// segments "." and "..", which some servers take out.
std::string percent_encoded(std::string_view text);

}  // namespace forelock::http
