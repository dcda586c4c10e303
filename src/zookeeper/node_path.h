// Checks paths of nodes.
#pragma once

#include <string_view>

namespace forelock::zookeeper {

// Whether the C client takes the path: absolute, no empty, "." or ".." part, no control character. The server refuses
// more (some Unicode ranges) and says so. A path to which the server appends a number may end in a slash.
bool is_valid_path(std::string_view path, bool sequential = false);

}  // namespace forelock::zookeeper
