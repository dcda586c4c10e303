#pragma once

#include <cstdint>
#include <string>

#include "support/certificates.h"
#include "support/temporary_directory.h"
#include "support/test_server.h"

namespace forelock::test {

// A server with a port for mutual TLS beside the one without. Its certificate is for localhost and 127.0.0.1.
class SecureServer {
 public:
  explicit SecureServer(ServerOptions options = {});

  // Of the port for TLS.
  std::uint16_t port() const { return port_; }
  std::string address(const std::string& host = "localhost") const { return host + ":" + std::to_string(port_); }
  const Authority& authority() const { return authority_; }
  // That the server accepts.
  const Identity& client() const { return client_; }
  TestServer& server() { return server_; }
  // For files of the test's own.
  const std::filesystem::path& folder() const { return folder_.path(); }

 private:
  ServerOptions with_tls(ServerOptions options) const;

  TemporaryDirectory folder_;
  Authority authority_;
  std::uint16_t port_;
  Identity client_;
  TestServer server_;
};

}  // namespace forelock::test
