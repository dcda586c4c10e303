// The list of ZooKeeper servers: host:port,host:port/chroot.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/problems.h"
#include "forelock/server_address.h"

namespace forelock::config {

struct ServerList {
  std::vector<ServerAddress> servers;  // at least one, in the order of the list
  std::string chroot;                  // "" or "/path"

  // The list as the setting's value: every port written out, IPv6 addresses in brackets.
  std::string to_string() const;
};

// Names, IPv4 addresses and bracketed IPv6 addresses; a missing port is 2181. Blanks around an item are ignored. A
// chroot of "/" is none.
std::variant<ServerList, Fault> parse_server_list(std::string_view text);

}  // namespace forelock::config
