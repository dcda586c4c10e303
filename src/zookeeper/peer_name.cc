#include "zookeeper/peer_name.h"

#include <netdb.h>
#include <netinet/in.h>

#include <charconv>
#include <cstring>

namespace forelock::zookeeper {

PeerName name_of_peer(const NameLookup& names, const sockaddr_storage& server) {
  const socklen_t size = server.ss_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  char host[NI_MAXHOST] = "";
  char service[NI_MAXSERV] = "";
  getnameinfo(reinterpret_cast<const sockaddr*>(&server), size, host, sizeof(host), service, sizeof(service),
              NI_NUMERICHOST | NI_NUMERICSERV);
  std::uint16_t port = 0;
  std::from_chars(service, service + std::strlen(service), port);
  PeerName peer{names.names_of(host, port), {}};
  const std::string shown = peer.names.empty() ? host : peer.names.front();
  peer.text = to_string(ServerName{shown, port});
  if (shown != host) peer.text += " (" + std::string(host) + ")";
  return peer;
}

}  // namespace forelock::zookeeper
