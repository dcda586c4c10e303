#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/certificates.h"
#include "support/temporary_directory.h"
#include "support/test_server.h"
#include "zookeeper/tls_context.h"

namespace forelock::test {

// Lines for servers that show certificates of this authority for these names ("DNS:a.example,IP:127.0.0.1") and accept
// those of clients that it has signed: ServerOptions::secure_lines.
std::vector<std::string> secure_lines(const Authority& authority, const std::string& names);
// For the members of an ensemble, that they speak TLS among themselves, and accept each other by such certificates:
// ServerOptions::config_lines.
std::vector<std::string> quorum_lines(const Authority& authority);

// As a client speaks to such servers.
zookeeper::TlsOptions client_tls(const Authority& authority, const Identity& client);

// A server with a port for mutual TLS beside the one without. Its certificate is for localhost, 127.0.0.1 and ::1.
class SecureServer {
 public:
  explicit SecureServer(ServerOptions options = {});

  // Of the port for TLS.
  std::uint16_t port() const { return server_.secure_port(); }
  std::string address(const std::string& host = "localhost") const { return host + ":" + std::to_string(port()); }
  const Authority& authority() const { return authority_; }
  // That the server accepts.
  const Identity& client() const { return client_; }
  TestServer& server() { return server_; }
  // For files of the test's own.
  const std::filesystem::path& folder() const { return folder_.path(); }

 private:
  ServerOptions with_tls(ServerOptions options) const;

  const std::string host_;
  TemporaryDirectory folder_;
  Authority authority_;
  Identity client_;
  TestServer server_;
};

}  // namespace forelock::test
