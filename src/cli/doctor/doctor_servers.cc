#include "cli/doctor/doctor_checks.h"

#include <algorithm>
#include <optional>
#include <sstream>
#include <tuple>
#include <utility>

#include "base/counted.h"
#include "cli/exit_code.h"
#include "cli/output/quantity_text.h"
#include "config/quantity.h"
#include "zookeeper/connect_string.h"
#include "zookeeper/name_lookup.h"
#include "zookeeper/probe.h"

namespace forelock::cli {
namespace {

constexpr std::chrono::milliseconds server_patience{2000};
constexpr std::int64_t few_connections = 10;
constexpr std::int64_t many_watches = 1'000'000;

struct Tally {
  std::size_t reachable = 0;
  std::size_t asked = 0;  // servers that say what they are
  std::size_t leaders = 0;
  std::size_t standalone = 0;
};

bool is_refused(const std::string& answer) {
  return answer.find("is not in the whitelist") != std::string::npos;
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : ", ") + text;
  return all;
}

// From 3.5.3 on.
bool has_containers(const std::string& version) {
  int parts[3] = {0, 0, 0};
  std::istringstream text(version);
  char dot = '.';
  text >> parts[0] >> dot >> parts[1] >> dot >> parts[2];
  return std::make_tuple(parts[0], parts[1], parts[2]) >= std::make_tuple(3, 5, 3);
}

bool resolved(const zookeeper::ResolvedServer& server, DoctorReport& report) {
  const zookeeper::HostAddresses& addresses = server.addresses;
  if (addresses.numeric.empty()) {
    report.warn("dns", server.server.host + ": " + addresses.error,
                "correct the name in zookeeper.servers, or the name service");
    return false;
  }
  report.ok("dns", server.server.host + " is " + joined(addresses.numeric));
  return true;
}

// The first of its addresses that takes connections.
std::optional<std::string> connected(const zookeeper::ResolvedServer& server, const std::string& name,
                                     DoctorReport& report) {
  zookeeper::ConnectProbe probe;
  for (const std::string& address : server.addresses.numeric) {
    probe = zookeeper::probe_connection(address, server.server.port, server_patience);
    if (!probe.connected) continue;
    report.ok("tcp", name + " accepts connections (" + latency_text(probe.latency) + ")");
    return address;
  }
  report.warn("tcp", name + ": " + probe.error, "is the server running there, and does a firewall let us through?");
  return std::nullopt;
}

void examine_role(const ServerAddress& server, const std::string& name, DoctorReport& report, Tally& tally) {
  const auto answer = zookeeper::four_letter_word(server.host, server.port, "srvr", server_patience);
  if (!answer) {
    report.warn("server", name + " takes connections but does not answer",
                "a server without a quorum does this, and one that is overloaded: look at its log");
    return;
  }
  if (is_refused(*answer)) {
    report.warn("server", name + " does not say what it is",
                "permit the word: 4lw.commands.whitelist=srvr,mntr,conf in zoo.cfg");
    return;
  }
  const std::string mode = value_in(*answer, "Mode");
  if (mode.empty()) {
    report.warn("server", name + " does not serve: " + answer->substr(0, answer->find('\n')),
                "it has no quorum: start the other servers of the ensemble");
    return;
  }
  const std::string version = value_in(*answer, "Zookeeper version");
  const std::string number = version.substr(0, version.find_first_of(",-"));
  report.ok("server", name + " runs " + (number.empty() ? "an unknown version" : number) + ", " + mode);
  // A container looks like any other node: only the version tells whether the server has them.
  if (has_containers(number)) {
    report.ok("containers", name + " has them, for zookeeper.monitor.linger=0");
  } else {
    report.warn("containers",
                name + " has none, as far as its version tells: with zookeeper.monitor.linger=0 idle monitors stay",
                "use ZooKeeper 3.5.3 or later, or another linger time");
  }
  ++tally.asked;
  tally.leaders += mode == "leader" ? 1U : 0U;
  tally.standalone += mode == "standalone" ? 1U : 0U;
}

void examine_limits(const ServerAddress& server, const std::string& name, DoctorReport& report) {
  const auto conf = zookeeper::four_letter_word(server.host, server.port, "conf", server_patience);
  if (conf && !is_refused(*conf)) {
    const auto connections = config::parse_number(value_in(*conf, "maxClientCnxns"));
    if (connections && *connections > 0 && *connections < few_connections) {
      report.warn(
          "limits",
          name + " takes " + base::counted(static_cast<std::uint64_t>(*connections), "connection") + " from one host",
          "every process needs one: raise maxClientCnxns");
    } else if (connections) {
      report.ok("limits",
                name + " takes " +
                    (*connections == 0 ? "any number of connections"
                                       : base::counted(static_cast<std::uint64_t>(*connections), "connection")) +
                    " from one host");
    }
  }
  const auto mntr = zookeeper::four_letter_word(server.host, server.port, "mntr", server_patience);
  if (!mntr || is_refused(*mntr)) return;
  const auto watches = config::parse_number(value_in(*mntr, "zk_watch_count"));
  if (!watches) return;
  const std::string text = name + " keeps " + base::counted(static_cast<std::uint64_t>(*watches), "watch", "watches");
  if (*watches > many_watches) {
    report.warn("limits", text, "find the client that leaves them: echo wchs | nc");
  } else {
    report.ok("limits", text);
  }
}

void judge(const Tally& tally, std::size_t servers, DoctorReport& report) {
  const std::string count = std::to_string(tally.reachable) + " of " + std::to_string(servers) + " servers";
  if (tally.reachable == 0) {
    report.fail("ensemble", "no server can be reached", "check zookeeper.servers, the network, and that ZooKeeper runs",
                exit_unavailable);
    return;
  }
  if (tally.standalone > 0 && servers > 1) {
    report.warn("ensemble", "a server of the list is standalone: these servers do not share their locks",
                "list only servers of one ensemble");
  } else if (tally.standalone > 0) {
    report.warn("ensemble", "one standalone server: no locks while it is down", "use three servers in production");
  } else if (tally.reachable * 2 <= servers) {
    report.warn("ensemble", count + " can be reached: no majority", "start the others");
  } else if (tally.asked == servers && tally.leaders != 1) {
    report.warn("ensemble", count + " can be reached, " + std::to_string(tally.leaders) + " say that they lead",
                "they may belong to different ensembles, or elect at this moment");
  } else if (tally.reachable < servers) {
    const std::size_t spare = tally.reachable - (servers / 2 + 1);
    report.warn("ensemble",
                count + " can be reached; " +
                    (spare == 0 ? "one more loss stops all locks"
                                : "so many more may be lost before all locks stop: " + std::to_string(spare)),
                "start the others");
  } else {
    report.ok("ensemble", count + " can be reached");
  }
}

}  // namespace

std::string value_in(const std::string& answer, const std::string& name) {
  std::istringstream lines(answer);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(name)) continue;
    std::string rest = line.substr(name.size());
    if (rest.empty() || (rest[0] != '=' && rest[0] != '\t' && rest[0] != ':')) continue;
    rest.erase(0, rest.find_first_not_of("=\t: "));
    rest.erase(std::find(rest.begin(), rest.end(), '\r'), rest.end());
    return rest;
  }
  return {};
}

void examine_servers(const std::vector<ServerAddress>& servers, DoctorScope scope, DoctorReport& report) {
  std::vector<zookeeper::ServerName> names;
  for (const ServerAddress& server : servers) names.push_back({server.host, server.port});
  zookeeper::NameLookup lookup(std::move(names), {});
  lookup.begin();
  lookup.wait(server_patience);
  Tally tally;
  for (const zookeeper::ResolvedServer& server : lookup.latest()) {
    if (!resolved(server, report)) continue;
    const std::string name = zookeeper::to_string(server.server);
    const std::optional<std::string> address = connected(server, name, report);
    if (!address) continue;
    const ServerAddress reached{*address, server.server.port};
    ++tally.reachable;
    examine_role(reached, name, report, tally);
    if (scope == DoctorScope::all) examine_limits(reached, name, report);
  }
  judge(tally, servers.size(), report);
}

}  // namespace forelock::cli
