#include "zookeeper/peer_name.h"

#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace forelock::zookeeper {

std::vector<std::string> names_of_address(const std::vector<ResolvedServer>& servers, const std::string& address,
                                          std::uint16_t port) {
  std::vector<std::string> names;
  for (const ResolvedServer& each : servers) {
    const std::vector<std::string>& numeric = each.addresses.numeric;
    if (each.server.port != port || std::find(numeric.begin(), numeric.end(), address) == numeric.end()) continue;
    if (std::find(names.begin(), names.end(), each.server.host) == names.end()) names.push_back(each.server.host);
  }
  return names;
}

PeerName name_of_peer(const NameLookup& names, const sockaddr_storage& server) {
  const socklen_t size = server.ss_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  char host[NI_MAXHOST] = "";
  char service[NI_MAXSERV] = "";
  getnameinfo(reinterpret_cast<const sockaddr*>(&server), size, host, sizeof(host), service, sizeof(service),
              NI_NUMERICHOST | NI_NUMERICSERV);
  std::uint16_t port = 0;
  std::from_chars(service, service + std::strlen(service), port);
  PeerName peer{names_of_address(names.latest(), host, port), {}};
  if (peer.names.empty()) peer.names.emplace_back(host);
  peer.text = to_string(ServerName{peer.names.front(), port});
  if (peer.names.front() != host) peer.text += " (" + std::string(host) + ")";
  return peer;
}

}  // namespace forelock::zookeeper
