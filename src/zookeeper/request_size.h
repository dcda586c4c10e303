// The size of a request on the wire, in bytes.
#pragma once

#include <cstddef>

#include "coordination/request.h"

namespace forelock::zookeeper {

// The length that the server compares with its limit: the packet without its own four-byte length. `acl_bytes` is the
// size of one access control list. Paths count as they are, so they have to be absolute already.
std::size_t request_size(const coordination::Request& request, std::size_t acl_bytes);

}  // namespace forelock::zookeeper
