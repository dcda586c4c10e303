// The text that names the servers: "host:port,host:port[/chroot]".
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace forelock::zookeeper {

struct ServerName {
  std::string host;  // a name or an address; IPv6 without brackets
  std::uint16_t port = 2181;

  bool operator==(const ServerName&) const = default;
};

// "host:port", with brackets around an IPv6 address.
std::string to_string(const ServerName& server);

struct ConnectString {
  std::vector<ServerName> servers;  // at least one
  std::string chroot;               // absolute, or empty when there is none
};

// What is wrong with the text, and what it should look like.
class ConnectStringError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

// Blanks around the parts and empty parts between commas are tolerated. Throws ConnectStringError.
ConnectString parse_connect_string(std::string_view text);

}  // namespace forelock::zookeeper
