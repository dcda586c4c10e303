// The name of a server whose address is known: the C client knows nothing else.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <vector>

#include "zookeeper/name_lookup.h"

namespace forelock::zookeeper {

// By which names the servers of this address and port were found; the address itself if that was asked for.
std::vector<std::string> names_of_address(const std::vector<ResolvedServer>& servers, const std::string& address,
                                          std::uint16_t port);

struct PeerName {
  std::vector<std::string> names;  // at least one
  std::string text;                // for messages: "zk1:2181 (10.0.0.1)"
};

// A name that was found and then moved away leaves none: the address stands for itself.
PeerName name_of_peer(const NameLookup& names, const sockaddr_storage& server);

}  // namespace forelock::zookeeper
