// The servers of a comparison: bench_servers [--servers=1|3] [--tls=on] [--sync=on|off] [--delay-us=N] [--proxy=PORT]
//
// Starts ZooKeeper, alone or three, with a proxy in front of each that delays every byte by N microseconds in both
// directions; or (--proxy) only such a proxy in front of a server that runs already. Prints one line of JSON with the
// connect string, "direct" without the proxies; with --tls also that of a port for mutual TLS ("secure") of the one
// server, and the "settings" of its clients. Then answers each line on stdin with counters, and ends when stdin
// does:
// {} for the counters as they are, {"ephemerals": N} for those when so many ephemeral nodes exist, {"ephemerals": N,
// "quiet": true} when nothing else is being sent any more, {"nodes": N} for those when there are no more nodes than
// that, or after a minute.
//
// The counters: packets "received" and "sent" by the servers, pings included; their "ephemerals", "nodes" and
// "cpu_seconds"; and "round_trips", seen by the proxies: how often a client has sent something after it had received
// something.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "bench/bench_server.h"
#include "bench/options.h"
#include "bench/samples.h"
#include "support/secure_server.h"
#include "support/tcp_proxy.h"
#include "support/test_ensemble.h"
#include "support/wait_until.h"

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

// Processor time of another process.
double cpu_seconds(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::istringstream fields(text.substr(text.rfind(')') + 1));  // the name before may have spaces in it
  std::string skipped;
  for (int i = 0; i < 11; ++i) fields >> skipped;
  double user = 0;
  double system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

// The lines "name<tab>whole number" of "mntr".
std::map<std::string, std::int64_t> numbers(const std::string& text) {
  std::map<std::string, std::int64_t> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto tab = line.find('\t');
    if (tab == std::string::npos) continue;
    const std::string value = line.substr(tab + 1);
    if (!value.empty() && value.find_first_not_of("0123456789") == std::string::npos) {
      found[line.substr(0, tab)] = std::stoll(value);
    }
  }
  return found;
}

// Counts, for all connections through some proxies, how often the direction of what is sent has turned to the server.
class RoundTrips {
 public:
  void watch(test::TcpProxy& proxy) {
    proxy.set_inspector([this, &proxy](int connection, test::TcpProxy::Direction direction, std::string&) {
      const std::lock_guard guard(mutex_);
      bool& answered = answered_.try_emplace({&proxy, connection}, true).first->second;
      if (direction == test::TcpProxy::Direction::to_client) {
        answered = true;
      } else if (std::exchange(answered, false)) {
        ++count_;
      }
      return test::TcpProxy::Verdict{};
    });
  }
  std::int64_t count() const {
    const std::lock_guard guard(mutex_);
    return count_;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<const test::TcpProxy*, int>, bool> answered_;
  std::int64_t count_ = 0;
};

class Servers {
 public:
  explicit Servers(const Options& options) {
    direct_ = "127.0.0.1:" + options.text("proxy");
    if (options.text("proxy").empty()) start(options);
    address_ = direct_;
    if (options.number("delay-us") > 0) put_proxies_before(std::chrono::microseconds(options.number("delay-us")));
  }

  nlohmann::json hello() const {
    std::string version;
    if (!servers_.empty()) version = servers_.front()->four_letter("srvr").value_or("");
    nlohmann::json all = {
        {"address", address_}, {"direct", direct_}, {"version", version.substr(0, version.find('\n'))}};
    if (secure_) {
      all["secure"] = secure_->address();
      all["settings"] = {"zookeeper.tls.ca.file=" + secure_->authority().certificate().string(),
                         "zookeeper.tls.certificate.file=" + secure_->client().certificate.string(),
                         "zookeeper.tls.key.file=" + secure_->client().key.string()};
    }
    return all;
  }

  nlohmann::json counters() {
    ++asked_;
    std::int64_t received = 0;
    std::int64_t sent = 0;
    std::int64_t ephemerals = 0;
    std::int64_t nodes = 0;
    double cpu = 0;
    for (test::TestServer* server : servers_) {
      const std::map<std::string, std::int64_t> of_server = numbers(server->four_letter("mntr").value_or(""));
      // Each question counts as a packet itself, and an answer, once it has been sent, as two.
      received += of_server.at("zk_packets_received") - asked_;
      sent += of_server.at("zk_packets_sent") - 2 * (asked_ - 1);
      ephemerals += of_server.at("zk_ephemerals_count");
      nodes = std::max(nodes, of_server.at("zk_znode_count"));
      cpu += cpu_seconds(server->process_id());
    }
    return {{"received", received}, {"sent", sent},       {"ephemerals", ephemerals},
            {"nodes", nodes},       {"cpu_seconds", cpu}, {"round_trips", round_trips_.count()}};
  }

  // When there are no more nodes than that, or after a minute.
  nlohmann::json counters_without(std::int64_t nodes) {
    nlohmann::json last;
    test::wait_until(
        [&] {
          last = counters();
          return last["nodes"] <= nodes;
        },
        std::chrono::minutes(1));
    return last;
  }

  nlohmann::json counters_at(std::int64_t ephemerals, bool quiet) {
    nlohmann::json last = counters();
    auto since = Clock::now();
    const bool reached = test::wait_until(
        [&] {
          nlohmann::json now = counters();
          const bool here = now["ephemerals"] == ephemerals;
          if (!here || now["received"] != last["received"]) since = Clock::now();
          last = std::move(now);
          return here && (!quiet || Clock::now() - since > std::chrono::milliseconds(100));
        },
        std::chrono::minutes(2));
    if (!reached) throw std::runtime_error("not reached: " + last.dump());
    return last;
  }

 private:
  void start(const Options& options) {
    const test::ServerOptions server = server_options(options.flag("sync"));
    if (options.flag("tls")) {
      secure_ = std::make_unique<test::SecureServer>(server);
      servers_.push_back(&secure_->server());
      direct_ = secure_->server().connect_string();
    } else if (options.number("servers") == 1) {
      alone_ = std::make_unique<test::TestServer>(server);
      servers_.push_back(alone_.get());
      direct_ = alone_->connect_string();
    } else {
      ensemble_ = std::make_unique<test::TestEnsemble>(server);
      for (std::size_t i = 0; i < test::TestEnsemble::size; ++i) servers_.push_back(&ensemble_->server(i));
      direct_ = ensemble_->connect_string();
    }
  }

  void put_proxies_before(std::chrono::microseconds delay) {
    address_.clear();
    for (const std::string& server : split(direct_)) {
      proxies_.push_back(std::make_unique<test::TcpProxy>(port_of(server)));
      proxies_.back()->set_delay(delay);
      round_trips_.watch(*proxies_.back());
      address_ += (address_.empty() ? "" : ",") + proxies_.back()->connect_string();
    }
  }

  std::unique_ptr<test::TestServer> alone_;
  std::unique_ptr<test::SecureServer> secure_;
  std::unique_ptr<test::TestEnsemble> ensemble_;
  std::vector<test::TestServer*> servers_;
  RoundTrips round_trips_;
  std::vector<std::unique_ptr<test::TcpProxy>> proxies_;
  std::string direct_;
  std::string address_;
  std::int64_t asked_ = 0;
};

int serve(const Options& options) {
  Servers servers(options);
  std::cout << servers.hello() << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    const auto question = nlohmann::json::parse(line);
    std::cout << (question.contains("ephemerals")
                      ? servers.counters_at(question["ephemerals"], question.value("quiet", false))
                  : question.contains("nodes") ? servers.counters_without(question["nodes"])
                                               : servers.counters())
              << std::endl;
  }
  return 0;
}

}  // namespace
}  // namespace forelock::bench

int main(int argc, char** argv) {
  try {
    return forelock::bench::serve(forelock::bench::Options(
        argc, argv, {{"servers", "1"}, {"tls", "off"}, {"sync", "on"}, {"delay-us", "0"}, {"proxy", ""}}));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_servers: %s\n", error.what());
    return 1;
  }
}
