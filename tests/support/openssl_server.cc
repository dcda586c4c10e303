#include "support/openssl_server.h"

#include <chrono>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "support/free_port.h"
#include "support/wait_until.h"
#include "zookeeper/probe.h"

namespace forelock::test {

OpensslServer::OpensslServer(const std::filesystem::path& folder, const Identity& identity,
                             const std::vector<std::string>& more) {
  const std::filesystem::path log = folder / "openssl_server.log";
  for (int attempt = 0; attempt < 5; ++attempt) {
    port_ = free_ports(1).front();
    std::vector<std::string> command = {"openssl",
                                        "s_server",
                                        "-accept",
                                        "127.0.0.1:" + std::to_string(port_),
                                        "-quiet",
                                        "-naccept",
                                        "1000",
                                        "-cert",
                                        identity.certificate,
                                        "-key",
                                        identity.key};
    command.insert(command.end(), more.begin(), more.end());
    process_ = std::make_unique<ChildProcess>(command, log);
    const auto up = [&] {
      return !process_->running() || zookeeper::probe_connection("127.0.0.1", port_, std::chrono::seconds(1)).connected;
    };
    if (wait_until(up) && process_->running()) return;
  }
  std::ifstream said(log);
  throw std::runtime_error("openssl serves nothing: " + std::string(std::istreambuf_iterator<char>(said), {}));
}

}  // namespace forelock::test
