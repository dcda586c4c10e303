// The contract suite's backend over real ZooKeeper servers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "contract/backend.h"

namespace forelock::contract {

// Each session has a proxy of its own in front of the server. With `chroot` the namespace is a node of its own.
std::unique_ptr<Backend> make_real_backend(std::uint16_t server_port, bool chroot);

}  // namespace forelock::contract
