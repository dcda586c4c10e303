// Reads `.properties` text exactly as java.util.Properties.load(Reader) does, on UTF-8.
//
// One thing differs, because a UTF-8 string cannot hold it: a lone surrogate (\uD83D without its partner) becomes
// U+FFFD. A byte order mark is not skipped, as in Java: it becomes part of the first key.
#pragma once

#include <string_view>
#include <vector>

#include "config/property.h"

namespace forelock::config {

// The keys in the order of their first appearance; of a key that appears again, the last value and its line. Throws
// ConfigurationException for bytes that are not UTF-8 and for a malformed \uxxxx (Java: IllegalArgumentException), with
// `file` as the name of the text.
std::vector<Property> parse_properties(std::string_view text, std::string_view file);

}  // namespace forelock::config
