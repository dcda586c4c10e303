// The order in which every lock set takes its members, in every process.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace forelock::sets {

// The indexes of the names (encoded: lock/monitor_name.h), bytewise by name, each name once.
std::vector<std::size_t> canonical_order(const std::vector<std::string>& names);

}  // namespace forelock::sets
