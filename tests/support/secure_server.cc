#include "support/secure_server.h"

#include "support/free_port.h"

namespace forelock::test {

SecureServer::SecureServer()
    : authority_(folder_.path(), "good"),
      port_(free_ports(1).front()),
      client_(authority_.issue("client", {})),
      server_(options()) {}

ServerOptions SecureServer::options() const {
  const Identity own = authority_.issue("server", {.names = "DNS:localhost,IP:127.0.0.1"});
  ServerOptions all;
  all.force_sync = false;
  all.config_lines = {"secureClientPort=" + std::to_string(port_), "secureClientPortAddress=127.0.0.1",
                      "serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory",
                      "ssl.keyStore.location=" + joined(own).string(),
                      "ssl.trustStore.location=" + authority_.certificate().string()};
  return all;
}

}  // namespace forelock::test
