#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "support/certificates.h"
#include "support/child_process.h"

namespace forelock::test {

// openssl's TLS server on a port of 127.0.0.1: it can show what no real server would.
class OpensslServer {
 public:
  // With this certificate, and more of openssl's options; its output goes into the folder. Serves when it is made;
  // throws std::runtime_error with what openssl says.
  OpensslServer(const std::filesystem::path& folder, const Identity& identity,
                const std::vector<std::string>& more = {});

  std::uint16_t port() const { return port_; }

 private:
  std::uint16_t port_ = 0;
  std::unique_ptr<ChildProcess> process_;
};

}  // namespace forelock::test
