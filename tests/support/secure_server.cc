#include "support/secure_server.h"

#include <utility>

#include "support/free_port.h"

namespace forelock::test {

SecureServer::SecureServer(ServerOptions options)
    : authority_(folder_.path(), "good"),
      port_(free_ports(1).front()),
      client_(authority_.issue("client", {})),
      server_(with_tls(std::move(options))) {}

ServerOptions SecureServer::with_tls(ServerOptions options) const {
  const Identity own = authority_.issue("server", {.names = "DNS:localhost,IP:127.0.0.1"});
  for (const std::string& line :
       {"secureClientPort=" + std::to_string(port_), std::string("secureClientPortAddress=127.0.0.1"),
        std::string("serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory"),
        "ssl.keyStore.location=" + joined(own).string(),
        "ssl.trustStore.location=" + authority_.certificate().string()}) {
    options.config_lines.push_back(line);
  }
  return options;
}

}  // namespace forelock::test
