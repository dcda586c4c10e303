// The servers of a comparison: bench_servers [--servers=1|3] [--sync=on|off] [--delay-us=N] [--proxy=PORT]
//
// Starts ZooKeeper, alone or three, with a proxy in front of each that delays every byte by N microseconds in both
// directions; or (--proxy) only such a proxy in front of a server that runs already. Prints one line of JSON with the
// connect string, "direct" without the proxies. Then answers each line on stdin with the servers' counters of packets,
// and ends when stdin does.
#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/bench_server.h"
#include "bench/options.h"
#include "support/tcp_proxy.h"
#include "support/test_ensemble.h"

namespace forelock::bench {
namespace {

std::uint16_t port_of(const std::string& address) {
  return static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts{""};
  for (const char character : list) {
    if (character == ',') {
      parts.emplace_back();
    } else {
      parts.back() += character;
    }
  }
  return parts;
}

int serve(const Options& options) {
  std::unique_ptr<test::TestServer> alone;
  std::unique_ptr<test::TestEnsemble> ensemble;
  std::vector<test::TestServer*> servers;
  std::string direct = "127.0.0.1:" + options.text("proxy");
  if (options.text("proxy").empty()) {
    const test::ServerOptions server = server_options(options.flag("sync"));
    if (options.number("servers") == 1) {
      alone = std::make_unique<test::TestServer>(server);
      servers.push_back(alone.get());
      direct = alone->connect_string();
    } else {
      ensemble = std::make_unique<test::TestEnsemble>(server);
      for (std::size_t i = 0; i < test::TestEnsemble::size; ++i) servers.push_back(&ensemble->server(i));
      direct = ensemble->connect_string();
    }
  }
  std::vector<std::unique_ptr<test::TcpProxy>> proxies;
  std::string address = direct;
  if (options.number("delay-us") > 0) {
    address.clear();
    for (const std::string& server : split(direct)) {
      proxies.push_back(std::make_unique<test::TcpProxy>(port_of(server)));
      proxies.back()->set_delay(std::chrono::microseconds(options.number("delay-us")));
      address += (address.empty() ? "" : ",") + proxies.back()->connect_string();
    }
  }
  std::cout << nlohmann::json{{"address", address}, {"direct", direct}} << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    nlohmann::json counters = {{"received", 0}, {"sent", 0}};
    for (const test::TestServer* server : servers) {
      counters["received"] = counters["received"].get<std::int64_t>() + server->counter("zk_packets_received");
      counters["sent"] = counters["sent"].get<std::int64_t>() + server->counter("zk_packets_sent");
    }
    std::cout << counters << std::endl;
  }
  return 0;
}

}  // namespace
}  // namespace forelock::bench

int main(int argc, char** argv) {
  try {
    return forelock::bench::serve(
        forelock::bench::Options(argc, argv, {{"servers", "1"}, {"sync", "on"}, {"delay-us", "0"}, {"proxy", ""}}));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_servers: %s\n", error.what());
    return 1;
  }
}
