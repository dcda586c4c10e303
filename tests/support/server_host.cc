// A ZooKeeper server behind a proxy, for tests that are written in other languages: they start this program, read the
// address from its first line, and have faults made by commands on its standard input. Each is answered with "ok".
//
//   stall | flow          the network between falls silent, and flows on
//   expire SESSION        ends the session on the server, and cuts the connections
//   wipe                  the server loses all that it has, as one that is set up anew
//   nodes                 answered with the number of ephemeral nodes
//   (end of input)        ends
//
// With the argument "tls" a server with a port for mutual TLS, without a proxy: the first line is its address, and
// the paths of the authority's certificate, of the client's and of its key. It takes no commands.
//
// With the argument "sasl" the same, and both ports serve only alice and bob, by SASL: the line begins with the address
// of the port without TLS, and ends with the paths of alice's password and of a wrong one.
//
// With the argument "disk" a server as users run it, for measurements: it waits for its disk. It takes no commands.
//
// With the argument "ensemble" three servers, without a proxy:
//
//   kill                  kills the leader, and waits until the others have another one
//   revive                starts it again, and waits until it serves
//   expire, nodes         as above; the session's client notices when it asks next
//   session SESSION       answered with "alive" or "ended"
#include "support/sasl_setup.h"
#include "support/secure_server.h"
#include "support/session_killer.h"
#include "support/tcp_proxy.h"
#include "support/test_ensemble.h"
#include "support/test_server.h"

namespace {

using forelock::test::SaslSetup;
using forelock::test::SecureServer;
using forelock::test::TcpProxy;
using forelock::test::TestEnsemble;
using forelock::test::TestServer;

std::size_t ephemeral_nodes(const TestServer& server) {
  std::istringstream lines(server.four_letter("dump").value_or(""));
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("\t/")) ++count;
  }
  return count;
}

// As the leader says: it alone has all sessions in its list.
bool lives(const TestServer& leader, std::int64_t session) {
  std::ostringstream name;
  name << "0x" << std::hex << session;
  std::istringstream words(leader.four_letter("dump").value_or(""));
  for (std::string word; words >> word;) {
    if (word.substr(0, word.find(':')) == name.str()) return true;
  }
  return false;
}

int host_ensemble(const forelock::test::ServerOptions& options) {
  TestEnsemble ensemble(options);
  std::size_t killed = TestEnsemble::size;
  std::cout << ensemble.connect_string() << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string command;
    words >> command;
    const std::size_t leader = command == "revive" ? TestEnsemble::size : ensemble.leader();
    std::string answer = "ok";
    if (command == "revive") {
      if (killed != TestEnsemble::size) ensemble.server(killed).restart(false);
      killed = TestEnsemble::size;
      if (!ensemble.wait_until_serving(std::chrono::minutes(3))) answer = "the server does not start again";
    } else if (leader == TestEnsemble::size) {
      answer = "the servers have no leader";
    } else if (command == "kill") {
      ensemble.server(leader).kill();
      killed = leader;
      if (ensemble.leader() == TestEnsemble::size) answer = "the servers have no other leader";
    } else if (command == "expire") {
      std::int64_t session = 0;
      words >> session;
      if (!forelock::test::end_session("127.0.0.1", ensemble.server(leader).port(), session)) {
        answer = "the server did not end the session";
      }
    } else if (command == "session") {
      std::int64_t session = 0;
      words >> session;
      answer = lives(ensemble.server(leader), session) ? "alive" : "ended";
    } else if (command == "nodes") {
      answer = std::to_string(ephemeral_nodes(ensemble.server(leader)));
    } else {
      answer = "unknown command";
    }
    std::cout << answer << std::endl;
  }
  return 0;
}

int host_secure(const forelock::test::ServerOptions& options) {
  const SecureServer server(options);
  std::cout << server.address() << ' ' << server.authority().certificate().string() << ' '
            << server.client().certificate.string() << ' ' << server.client().key.string() << std::endl;
  for (std::string line; std::getline(std::cin, line);) std::cout << "unknown command" << std::endl;
  return 0;
}

int host_disk(forelock::test::ServerOptions options) {
  options.force_sync = true;
  options.tick_time = std::chrono::milliseconds(2000);
  options.container_check = std::chrono::hours(1);
  options.java_options = {"-Xmx1g"};
  const TestServer server(options);
  std::cout << server.connect_string() << std::endl;
  for (std::string line; std::getline(std::cin, line);) std::cout << "unknown command" << std::endl;
  return 0;
}

int host_sasl(const forelock::test::ServerOptions& options) {
  const SaslSetup users;
  SecureServer server(users.options(SaslSetup::Enforced::yes, options));
  std::cout << server.server().connect_string() << ' ' << server.address() << ' '
            << server.authority().certificate().string() << ' ' << server.client().certificate.string() << ' '
            << server.client().key.string() << ' ' << users.password_file("alice").string() << ' '
            << users.password_file("wrong").string() << std::endl;
  for (std::string line; std::getline(std::cin, line);) std::cout << "unknown command" << std::endl;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  forelock::test::ServerOptions options;
  options.force_sync = false;
  const std::string kind = argc > 1 ? argv[1] : "";
  if (kind == "ensemble") return host_ensemble(options);
  if (kind == "disk") return host_disk(options);
  if (kind == "tls") return host_secure(options);
  if (kind == "sasl") return host_sasl(options);
  TestServer server(options);
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
    } else if (command == "wipe") {
      server.kill();
      std::filesystem::remove_all(server.data_directory() / "version-2");
      server.restart();
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
