/// \file
/// One server as the settings name it.
#pragma once

#include <cstdint>
#include <string>

namespace forelock {

/// One server of the `zookeeper.servers` list: a host name or a numeric address, and a port.
struct ServerAddress {
  std::string host;        ///< as written, an IPv6 address without its brackets
  std::uint16_t port = 0;  ///< 1 to 65535

  /// As written: names are not resolved.
  friend bool operator==(const ServerAddress&, const ServerAddress&) = default;
};

}  // namespace forelock
