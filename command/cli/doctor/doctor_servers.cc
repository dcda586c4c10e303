#include "cli/doctor/doctor_checks.h"

#include <algorithm>
#include <optional>
#include <sstream>
#include <tuple>
#include <utility>

#include "base/counted.h"
#include "cli/doctor/doctor_ensemble.h"
#include "cli/doctor/doctor_wall.h"
#include "cli/exit_code.h"
#include "cli/output/quantity_text.h"
#include "client/tls_setup.h"
#include "config/quantity.h"
#include "zookeeper/connect_string.h"
#include "zookeeper/name_lookup.h"
#include "zookeeper/probe.h"

namespace forelock::cli {
namespace {

constexpr std::chrono::milliseconds probe_patience{2000};
constexpr std::int64_t few_connections = 10;
constexpr std::int64_t many_watches = 1'000'000;

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

// Whether it serves, as far as it says.
bool examine_role(const ServerAddress& server, const std::string& name, const zookeeper::ProbeTls& tls,
                  DoctorReport& report, ServerTally& tally) {
  if (tls.context != nullptr) {
    if (const auto problem = zookeeper::tls_problem(server.host, server.port, probe_patience, tls)) {
      report.warn("tls", *problem, "check zookeeper.tls.… here, and secureClientPort there: docs/operating.md, TLS");
      return false;
    }
    report.ok("tls", name + " shows a certificate that is its own");
  }
  const auto answer = zookeeper::four_letter_word(server.host, server.port, "srvr", probe_patience, tls);
  if (!answer) {
    report.warn(
        "server", name + " takes connections but does not answer",
        tls.context != nullptr
            ? "one that refuses this client's certificate does this, and one without a quorum: look at its log"
            : "a server without a quorum does this, one that is overloaded, and a port for TLS: look at its log");
    return false;
  }
  if (is_refused(*answer)) {
    report.warn("server", name + " does not say what it is",
                "permit the word: 4lw.commands.whitelist=srvr,mntr,conf in zoo.cfg");
    return true;
  }
  const std::string mode = value_in(*answer, "Mode");
  if (mode.empty()) {
    report.warn("server", name + " does not serve: " + answer->substr(0, answer->find('\n')),
                "it has no quorum: start the other servers of the ensemble");
    return false;
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
  tally.observers += mode == "observer" ? 1U : 0U;
  tally.standalone += mode == "standalone" ? 1U : 0U;
  return true;
}

void examine_limits(const ServerAddress& server, const std::string& name, const zookeeper::ProbeTls& tls,
                    DoctorReport& report) {
  const auto conf = zookeeper::four_letter_word(server.host, server.port, "conf", probe_patience, tls);
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
  const auto mntr = zookeeper::four_letter_word(server.host, server.port, "mntr", probe_patience, tls);
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

// All addresses of a name: behind one name there may be several servers.
void examine_addresses(const zookeeper::ResolvedServer& server, const zookeeper::TlsContext* context, DoctorScope scope,
                       const DoctorWall& wall, DoctorReport& report, ServerTally& tally,
                       std::vector<ServingAddress>& serving) {
  const zookeeper::ProbeTls tls{context, server.server.host};
  const std::string name = zookeeper::to_string(server.server);
  const std::vector<std::string>& all = server.addresses.numeric;
  std::vector<zookeeper::ConnectProbe> probes;
  std::vector<std::string> connected;
  for (const std::string& address : all) {
    probes.push_back(zookeeper::probe_connection(address, server.server.port, probe_patience));
    if (probes.back().connected) connected.push_back(address);
  }
  const std::vector<std::string> counted = counted_addresses(all, connected);
  tally.listed += counted.size();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string shown = counted.size() == 1 ? name : name + " (" + all[i] + ")";
    const bool counts = std::find(counted.begin(), counted.end(), all[i]) != counted.end();
    if (!probes[i].connected) {
      if (counts)
        report.warn("tcp", shown + ": " + probes[i].error,
                    "is the server running there, and does a firewall let us through?");
      continue;
    }
    const ServingAddress reached{{all[i], server.server.port}, server.server.host, shown};
    if (!counts) {
      serving.push_back(reached);  // another way to the same servers, but not for certain
      continue;
    }
    report.ok("tcp", shown + " accepts connections (" + latency_text(probes[i].latency) + ")");
    ++tally.reachable;
    const ServerAddress there{all[i], server.server.port};
    if (examine_role(there, shown, tls, report, tally)) {
      ++tally.serving;
      serving.push_back(reached);
    }
    if (scope == DoctorScope::quick) continue;
    examine_limits(there, shown, tls, report);
    wall.examine(there, shown, tls, report);
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

void examine_servers(const Settings& settings, DoctorScope scope, DoctorReport& report) {
  std::vector<zookeeper::ServerName> names;
  for (const ServerAddress& server : settings.servers()) names.push_back({server.host, server.port});
  zookeeper::NameLookup lookup(std::move(names), {});
  lookup.begin();
  lookup.wait(probe_patience);
  ServerTally tally;
  std::vector<ServingAddress> serving;
  const std::shared_ptr<const zookeeper::TlsContext> tls = client::make_tls(settings);
  const DoctorWall wall(settings);
  for (const zookeeper::ResolvedServer& server : lookup.latest()) {
    if (resolved(server, report)) {
      examine_addresses(server, tls.get(), scope, wall, report, tally, serving);
    } else {
      ++tally.listed;
    }
  }
  const std::optional<EnsembleProof> proof = prove_one_ensemble(settings, tls, serving, scope, report);
  if (proof || report.exit_code() == exit_ok) judge_servers(tally, proof.value_or(EnsembleProof{}), report);
}

}  // namespace forelock::cli
