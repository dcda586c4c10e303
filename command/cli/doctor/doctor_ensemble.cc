#include "cli/doctor/doctor_ensemble.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>
#include <tuple>
#include <utility>

#include "base/counted.h"
#include "cli/connection.h"
#include "cli/existing_namespace.h"
#include "cli/exit_code.h"
#include "client/reply_error.h"
#include "client/sasl_setup.h"
#include "lock/monitor_name.h"
#include "records/guid.h"
#include "zookeeper/server_session.h"

namespace forelock::cli {
namespace {

using coordination::Reply;
using coordination::ReplyCode;
using zookeeper::ServerSession;

// Of a server, for a session and for each answer.
constexpr std::chrono::milliseconds server_patience{2000};
constexpr std::size_t large_request = 1024 * 1024 - 16 * 1024;
constexpr const char* one_ensemble_hint = "list only servers of one ensemble, in zookeeper.servers of every client";

zookeeper::SessionOptions options_for(const Settings& settings, const ServingAddress& server) {
  zookeeper::SessionOptions options;
  // Its name, for the sake of TLS, and this address of it.
  options.servers = zookeeper::to_string(zookeeper::ServerName{server.host, server.address.port});
  options.resolver = [address = server.address.host](const std::string&) {
    return zookeeper::HostAddresses{{address}, {}};
  };
  options.session_timeout = settings.session_timeout();
  if (std::string digest = settings.load_digest(); !digest.empty()) options.credential = std::move(digest);
  options.acl.kind = settings.acl() == AclMode::creator_all ? zookeeper::AclPolicy::Kind::creator_all
                                                            : zookeeper::AclPolicy::Kind::open;
  return options;
}

std::string names_of(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// One that changes nothing, of nearly the size that a server takes by default. A server that does not take it cuts the
// connection.
void examine_request_size(ServerSession& session, const std::string& name, const std::string& probe,
                          DoctorReport& report) {
  const coordination::SetData large{probe + "-none", std::string(large_request, ' ')};
  if (session.ask(large, server_patience).code != ReplyCode::connection_loss) return;
  report.warn("limits", name + " does not take a request of nearly 1 MiB: its jute.maxbuffer is lowered, or it is slow",
              "leave jute.maxbuffer at its default: locks that share a request, and many watches, need it");
}

void report_unwritten(const Settings& settings, ServerSession& session, const std::string& name, const Reply& reply,
                      DoctorScope scope, DoctorReport& report) {
  if (reply.code == ReplyCode::no_node) {
    Failure failure = missing_namespace(settings.chroot(), name);
    if (scope == DoctorScope::all) {
      report.fail("chroot", std::move(failure.message), std::move(failure.hint), failure.exit_code);
    } else {
      report.warn("chroot", std::move(failure.message), std::move(failure.hint));
    }
    return;
  }
  if (reply.code == ReplyCode::no_auth || reply.code == ReplyCode::invalid_acl) {
    report.fail("lock", "cannot write in the namespace: " + std::string(client::reason_of(reply.code)),
                "grant create, delete, read and write on the namespace, or set zookeeper.auth.digest.file",
                exit_not_authorized);
    return;
  }
  // Such a session is refused whatever would end with it, although it lives.
  const bool refused_alive = reply.code == ReplyCode::session_expired || reply.code == ReplyCode::no_ephemerals;
  if (refused_alive && session.ask(coordination::Exists{"/"}, server_patience).ok()) {
    report.fail("session", name + " gives local sessions, which can hold no locks",
                "remove localSessionsEnabled=true from the servers, or add localSessionsUpgradingEnabled=true",
                exit_unavailable);
    return;
  }
  const bool unknown = reply.code == ReplyCode::auth_failed;
  report.fail("lock", "cannot write through " + name + ": " + std::string(client::reason_of(reply.code)),
              unknown
                  ? "it serves only clients that authenticate: set zookeeper.sasl.mechanism (docs/operating.md, SASL)"
                  : "see the servers' logs",
              unknown ? exit_not_authorized : exit_unavailable);
}

// Null if the server gives no session in time.
std::unique_ptr<ServerSession> connected(zookeeper::SessionOptions options, const std::string& name,
                                         DoctorReport& report) {
  const std::shared_ptr<const zookeeper::SaslContext> sasl = options.sasl;
  auto session = std::make_unique<ServerSession>(std::move(options));
  if (!session->wait_connected(server_patience)) {
    if (const auto problem = session->last_problem(); sasl && problem) {
      report.warn("sasl", problem->message, "docs/operating.md, SASL");
    }
    return nullptr;
  }
  if (sasl) report.ok("sasl", name + " accepts this client's credentials (" + std::string(sasl->mechanism()) + ")");
  return session;
}

}  // namespace

std::optional<EnsembleProof> prove_one_ensemble(const Settings& settings,
                                                const std::shared_ptr<const zookeeper::TlsContext>& tls,
                                                const std::vector<ServingAddress>& addresses, DoctorScope scope,
                                                DoctorReport& report) {
  const std::string probe =
      settings.chroot() + '/' + std::string(lock::reserved_start) + "doctor-" + records::make_guid();
  std::unique_ptr<ServerSession> writer;
  std::string writer_name;
  std::vector<std::string> silent;
  std::vector<std::string> blind;
  const std::shared_ptr<const zookeeper::SaslContext> sasl = client::make_sasl(settings);
  for (const ServingAddress& each : addresses) {
    zookeeper::SessionOptions options = options_for(settings, each);
    options.tls = tls;
    options.sasl = sasl;
    auto session = connected(std::move(options), each.name, report);
    if (!session) {
      silent.push_back(each.name);
      continue;
    }
    if (!writer) {
      const coordination::Create node{probe, {}, coordination::CreateMode::ephemeral};
      const Reply written = session->ask(node, server_patience);
      if (written.code == ReplyCode::connection_loss || written.code == ReplyCode::throttled) {
        silent.push_back(each.name);
        continue;
      }
      if (!written.ok()) {
        report_unwritten(settings, *session, each.name, written, scope, report);
        return std::nullopt;
      }
      writer = std::move(session);
      writer_name = each.name;
      continue;
    }
    if (!session->ask(coordination::Sync{probe}, server_patience).ok()) {
      silent.push_back(each.name);  // what it shows without may be old
      continue;
    }
    const Reply seen = session->ask(coordination::Exists{probe}, server_patience);
    if (scope == DoctorScope::all) examine_request_size(*session, each.name, probe, report);
    if (seen.ok()) continue;
    (seen.code == ReplyCode::no_node ? blind : silent).push_back(each.name);
  }
  if (!writer) return std::nullopt;  // the client's own session will say why
  for (const std::string& name : silent) {
    report.warn("server", name + " takes connections, but gives no session in time", "look at its log");
  }
  if (!blind.empty() && writer->ask(coordination::Exists{probe}, server_patience).ok()) {
    report.fail("ensemble",
                names_of(blind) + (blind.size() == 1 ? " does" : " do") + " not see what is written through " +
                    writer_name + ": these servers do not share their locks",
                one_ensemble_hint, exit_configuration);
    return std::nullopt;
  }
  const Reply configuration = writer->ask(coordination::Get{"/zookeeper/config"}, server_patience);
  if (scope == DoctorScope::all) examine_request_size(*writer, writer_name, probe, report);
  return EnsembleProof{silent.empty() && blind.empty(),
                       configuration.ok() ? voters_in(configuration.data) : std::nullopt};
}

void judge_servers(const ServerTally& tally, const EnsembleProof& proof, DoctorReport& report) {
  const std::string count = std::to_string(tally.serving) + " of " + std::to_string(tally.listed) + " servers";
  if (tally.reachable == 0) {
    report.fail("ensemble", "no server can be reached", "check zookeeper.servers, the network, and that ZooKeeper runs",
                exit_unavailable);
    return;
  }
  // Two addresses of one server see the same.
  const bool is_one_server = proof.all_see && tally.serving == tally.listed && tally.asked == tally.standalone;
  if (tally.standalone > 0 && tally.listed > 1 && !is_one_server) {
    report.fail("ensemble", "a server of the list is standalone: these servers do not share their locks",
                one_ensemble_hint, exit_configuration);
    return;
  }
  if (tally.standalone > 0) {
    report.warn("ensemble", "one standalone server: no locks while it is down", "use three servers in production");
    return;
  }
  const std::size_t listed_voters = tally.listed - std::min(tally.listed, tally.observers);
  const bool part_of_it = proof.voters && *proof.voters > listed_voters;  // the others may well be running
  const std::size_t voters = proof.voters ? std::min(*proof.voters, listed_voters) : listed_voters;
  const std::size_t voting = tally.serving - std::min(tally.serving, tally.observers);
  const std::size_t majority = voters / 2 + 1;
  if (part_of_it && tally.serving < tally.listed) {
    report.warn("ensemble", count + " serve; the ensemble has " + std::to_string(*proof.voters) + " that vote",
                "start the others");
  } else if (!part_of_it && voting < majority) {
    report.warn("ensemble", count + " serve: no majority", "start the others");
  } else if (!proof.all_see && tally.asked == tally.listed && tally.leaders != 1) {
    report.warn("ensemble", count + " serve, " + std::to_string(tally.leaders) + " say that they lead",
                "they may belong to different ensembles, or elect at this moment");
  } else if (tally.serving < tally.listed) {
    report.warn(
        "ensemble",
        count + " serve; " +
            (voting == majority ? "one more loss stops all locks"
                                : base::counted(voting - majority, "more server") + " may fail before locking stops"),
        "start the others");
  } else {
    report.ok("ensemble",
              count + " serve" +
                  (proof.all_see && tally.listed > 1 ? ", and each sees what is written through the first" : ""));
  }
}

std::vector<std::string> counted_addresses(const std::vector<std::string>& all,
                                           const std::vector<std::string>& connected) {
  const auto is_v6 = [](const std::string& address) { return address.find(':') != std::string::npos; };
  const auto of_family = [&](const std::vector<std::string>& addresses, bool v6) {
    std::vector<std::string> some;
    std::copy_if(addresses.begin(), addresses.end(), std::back_inserter(some),
                 [&](const std::string& address) { return is_v6(address) == v6; });
    return some;
  };
  const bool first = !all.empty() && is_v6(all.front());
  const auto rank = [&](bool v6) {
    return std::make_tuple(of_family(connected, v6).size(), of_family(all, v6).size(), v6 == first);
  };
  return of_family(all, rank(true) > rank(false));
}

std::optional<std::size_t> voters_in(std::string_view configuration) {
  std::size_t voters = 0;
  while (!configuration.empty()) {
    const std::size_t end = std::min(configuration.find('\n'), configuration.size());
    const std::string_view line = configuration.substr(0, end);
    voters += line.starts_with("server.") && line.find(":participant") != std::string_view::npos ? 1U : 0U;
    configuration.remove_prefix(std::min(end + 1, configuration.size()));
  }
  return voters == 0 ? std::nullopt : std::optional(voters);
}

}  // namespace forelock::cli
