#pragma once

#include <cstdint>
#include <vector>

namespace forelock::test {

// Ports of 127.0.0.1 that were free a moment ago, all different. Somebody else may take one before it is used: whoever
// starts a server on it has to try again then.
std::vector<std::uint16_t> free_ports(int count);

}  // namespace forelock::test
