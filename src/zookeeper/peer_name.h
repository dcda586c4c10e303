// The name of a server whose address is known: the C client knows nothing else.
#pragma once

#include <sys/socket.h>

#include <string>
#include <vector>

#include "zookeeper/name_lookup.h"

namespace forelock::zookeeper {

struct PeerName {
  std::vector<std::string> names;  // those by which the address was found: none, where that is nobody's
  std::string text;                // for messages: "zk1:2181 (10.0.0.1)"
};

// The bare address is no name: whoever has it by now could show a certificate for it.
PeerName name_of_peer(const NameLookup& names, const sockaddr_storage& server);

}  // namespace forelock::zookeeper
