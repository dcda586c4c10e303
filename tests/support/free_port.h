#pragma once

#include "support/standard.h"

namespace forelock::test {

// Ports of 127.0.0.1 that were free a moment ago, all different. No connection takes one for its near end, but another
// server may before it is used: whoever starts one on it has to try again then.
std::vector<std::uint16_t> free_ports(int count);

}  // namespace forelock::test
