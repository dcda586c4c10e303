// The contract suite's backend over real ZooKeeper servers.
#pragma once

#include "contract/backend.h"
#include "zookeeper/tls_context.h"

namespace forelock::contract {

// A port for TLS of the same server.
struct SecurePort {
  std::uint16_t port = 0;
  std::shared_ptr<const zookeeper::TlsContext> tls;  // nullptr: TLS is not used
  // With another certificate: a server takes the subject of one for an identity, as it does a credential.
  std::shared_ptr<const zookeeper::TlsContext> of_owner;
};

// Each session has a proxy of its own in front of the server. With `chroot` the namespace is a node of its own.
std::unique_ptr<Backend> make_real_backend(std::uint16_t server_port, bool chroot, const SecurePort& secure = {});

}  // namespace forelock::contract
