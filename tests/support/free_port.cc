#include "support/free_port.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace forelock::test {

std::vector<std::uint16_t> free_ports(int count) {
  std::vector<int> sockets;
  std::vector<std::uint16_t> ports;
  int error = 0;
  // All stay open until the last is found, so that none comes twice.
  for (int i = 0; i < count && error == 0; ++i) {
    const int each = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(address);
    if (each < 0 || bind(each, reinterpret_cast<sockaddr*>(&address), length) != 0 ||
        getsockname(each, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
      error = errno;
    }
    if (each >= 0) sockets.push_back(each);
    ports.push_back(ntohs(address.sin_port));
  }
  for (const int each : sockets) close(each);
  if (error != 0) throw std::system_error(error, std::generic_category(), "no free port");
  return ports;
}

}  // namespace forelock::test
