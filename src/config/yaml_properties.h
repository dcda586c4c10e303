// Reads settings from YAML: the keys of the properties file, nested or dotted or both.
#pragma once

#include <string_view>
#include <vector>

#include "config/problems.h"
#include "config/property.h"

namespace forelock::config {

// Our keys (is_own_key) in the order of the text; a key without a value has the value "". What belongs to the host
// application may be any YAML and is passed over. For our own keys, what is not one plain value (lists, mappings,
// aliases) and keys that appear twice are added to `problems`. Aliases are never expanded. Throws
// ConfigurationException for text that is not UTF-8 or not YAML, with `file` as its name.
std::vector<Property> parse_yaml(std::string_view text, std::string_view file, Problems& problems);

}  // namespace forelock::config
