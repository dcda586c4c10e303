#include "support/secure_server.h"

#include <stdexcept>
#include <utility>

#include "support/text_of.h"
#include "support/wait_until.h"
#include "zookeeper/probe.h"

namespace forelock::test {

std::vector<std::string> secure_lines(const Authority& authority, const std::string& names) {
  const Identity own = authority.issue("server", {.names = names});
  return {"serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory",
          "ssl.keyStore.location=" + joined(own).string(),
          "ssl.trustStore.location=" + authority.certificate().string()};
}

std::vector<std::string> quorum_lines(const Authority& authority) {
  const Identity own = authority.issue("member", {.names = "IP:127.0.0.1"});
  return {"sslQuorum=true", "ssl.quorum.keyStore.location=" + joined(own).string(),
          "ssl.quorum.trustStore.location=" + authority.certificate().string()};
}

zookeeper::TlsOptions client_tls(const Authority& authority, const Identity& client) {
  const zookeeper::TlsFiles files{.authorities = text_of(authority.certificate()),
                                  .certificate = text_of(client.certificate),
                                  .key = text_of(client.key)};
  zookeeper::TlsOptions options;
  options.read = [files] { return files; };
  return options;
}

SecureServer::SecureServer(ServerOptions options)
    : host_(options.listen_address),
      authority_(folder_.path(), "good"),
      client_(authority_.issue("client", {})),
      server_(with_tls(std::move(options))) {
  // A virtual machine takes its time for its first handshake: seconds on a busy machine.
  const zookeeper::TlsContext context(client_tls(authority_, client_));
  const auto speaks_tls = [&] {
    return zookeeper::four_letter_word(host_, port(), "ruok", std::chrono::seconds(10), {&context, host_}).has_value();
  };
  if (!wait_until(speaks_tls, std::chrono::seconds(60))) throw std::runtime_error("no TLS:\n" + server_.log_tail());
}

ServerOptions SecureServer::with_tls(ServerOptions options) const {
  options.secure_lines = secure_lines(authority_, "DNS:localhost,IP:127.0.0.1,IP:::1");
  return options;
}

}  // namespace forelock::test
