// The list of ZooKeeper servers: host:port,host:port/chroot, for several ensembles with a '|' between them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/problems.h"
#include "forelock/server_address.h"

namespace forelock::config {

inline constexpr std::size_t most_ensembles = 16;

struct ServerList {
  std::vector<std::vector<ServerAddress>> ensembles;  // at least one, in the order of the list
  std::vector<ServerAddress> servers;                 // of all of them
  std::string chroot;                                 // "" or "/path"; the same in each ensemble

  // The list as the setting's value: every port and every chroot written out, IPv6 addresses in brackets.
  std::string to_string() const;
};

// Names, IPv4 addresses and bracketed IPv6 addresses; a missing port is 2181. Blanks around an item are ignored. A
// chroot of "/" is none. No server is in two ensembles.
std::variant<ServerList, Fault> parse_server_list(std::string_view text);

}  // namespace forelock::config
