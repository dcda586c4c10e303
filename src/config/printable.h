// Text of a user's file inside a message: on one line, of bounded length, in quotes.
#pragma once

#include <string>
#include <string_view>

namespace forelock::config {

// Control characters become \xNN, and what is longer than about 60 bytes is cut: a message goes to terminals and logs.
std::string printable(std::string_view text);

// The same in single quotes.
std::string in_quotes(std::string_view text);

}  // namespace forelock::config
