#include "support/free_port.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace forelock::test {
namespace {

constexpr int first_candidate = 10'000;

// Any port from here on may become the near end of somebody's connection, also while a server that had it is away.
int first_ephemeral() {
  int first = 32'768;
  std::ifstream("/proc/sys/net/ipv4/ip_local_port_range") >> first;
  return first;
}

bool take(int socket, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
}

}  // namespace

std::vector<std::uint16_t> free_ports(int count) {
  static thread_local std::mt19937 random{std::random_device{}()};
  const int last = std::max(first_ephemeral() - 1, first_candidate + 1'000);
  std::uniform_int_distribution<int> candidates(first_candidate, last);
  std::vector<int> sockets;
  std::vector<std::uint16_t> ports;
  int error = 0;
  // All stay open until the last is found, so that none comes twice.
  while (static_cast<int>(ports.size()) < count && error == 0) {
    sockets.push_back(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const auto port = static_cast<std::uint16_t>(candidates(random));
    if (take(sockets.back(), port)) {
      ports.push_back(port);
    } else if (errno != EADDRINUSE) {
      error = errno;
    }
  }
  for (const int each : sockets) close(each);
  if (error != 0) throw std::system_error(error, std::generic_category(), "no free port");
  return ports;
}

}  // namespace forelock::test
