// A ZooKeeper server behind a proxy, for tests that are written in other languages: they start this program, read the
// address from its first line, and have faults made by commands on its standard input. Each is answered with "ok".
//
//   stall | flow          the network between falls silent, and flows on
//   expire SESSION        ends the session on the server, and cuts the connections
//   nodes                 answered with the number of ephemeral nodes
//   (end of input)        ends
#include <cstdint>
#include <iostream>
#include <sstream>
#include <string>

#include "support/session_killer.h"
#include "support/tcp_proxy.h"
#include "support/test_server.h"

namespace {

using forelock::test::TcpProxy;
using forelock::test::TestServer;

std::size_t ephemeral_nodes(const TestServer& server) {
  std::istringstream lines(server.four_letter("dump").value_or(""));
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("\t/")) ++count;
  }
  return count;
}

}  // namespace

int main() {
  forelock::test::ServerOptions options;
  options.force_sync = false;
  const TestServer server(options);
  TcpProxy proxy(server.port());
  std::cout << proxy.connect_string() << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string command;
    words >> command;
    if (command == "stall" || command == "flow") {
      proxy.stall(command == "stall");
    } else if (command == "expire") {
      std::int64_t session = 0;
      words >> session;
      if (!forelock::test::end_session("127.0.0.1", server.port(), session)) {
        std::cout << "the server did not end the session" << std::endl;
        continue;
      }
      proxy.cut_connections();
    } else if (command == "nodes") {
      std::cout << ephemeral_nodes(server) << std::endl;
      continue;
    } else {
      std::cout << "unknown command" << std::endl;
      continue;
    }
    std::cout << "ok" << std::endl;
  }
}
