#include "cli/bench/bench_namespace.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/connection.h"
#include "cli/exit_code.h"
#include "cli/failure.h"
#include "cli/hints.h"
#include "client/client_core.h"
#include "client/reply_error.h"
#include "client/request_pipeline.h"
#include "forelock/error.h"
#include "records/guid.h"

namespace forelock::cli {
namespace {

using coordination::Reply;
using coordination::ReplyCode;

constexpr const char* name_start = "bench-";
constexpr std::size_t id_digits = 8;

client::RequestPipeline ask(Client& client) {
  return {client.core()->ensemble(), std::chrono::steady_clock::now() + patience(client.settings())};
}

Settings outside_of_chroot(Settings settings) {
  settings.set("zookeeper.servers", BenchNamespace::connect_string(settings, ""), "bench");
  return settings;
}

// What was asked for cannot be done, and why.
[[noreturn]] void fail(const std::string& what, ReplyCode code) {
  const bool refused = code == ReplyCode::no_auth;
  throw FailureException({refused ? exit_not_authorized : exit_unavailable,
                          std::string(name_of(refused ? ErrorCode::not_authorized : ErrorCode::server_error)),
                          what + ": " + std::string(client::reason_of(code)),
                          "forelock doctor",
                          {},
                          false,
                          {}});
}

// "bench-1a2b3c4d-…", as they are named below.
bool is_bench_name(const std::string& name) {
  const std::string_view start = name_start;
  return name.starts_with(start) && name.size() > start.size() + id_digits && name[start.size() + id_digits] == '-' &&
         name.find_first_not_of("0123456789abcdef", start.size()) == start.size() + id_digits;
}

// Lock nodes may stand in them for as long as the session of a client that was killed.
void remove(Client& client, const std::string& path) {
  Reply reply = ask(client).ask(coordination::Delete{path});
  if (reply.code == ReplyCode::not_empty) {
    std::vector<coordination::Request> deletions;
    for (const std::string& child : ask(client).ask(coordination::List{path}).children) {
      deletions.emplace_back(coordination::Delete{path + '/' + child});
    }
    ask(client).ask(std::move(deletions));
    reply = ask(client).ask(coordination::Delete{path});
  }
  if (!reply.ok() && reply.code != ReplyCode::no_node) fail("cannot remove " + path, reply.code);
}

}  // namespace

BenchNamespace::BenchNamespace(const Settings& settings, LogSink log)
    : settings_(outside_of_chroot(settings)),
      chroot_(settings.chroot()),
      prefix_(name_start + records::make_guid().substr(0, id_digits) + '-'),
      outside_(settings_, std::move(log)) {
  if (!outside_.wait_connected(patience(settings_))) {
    throw FailureException({exit_unavailable,
                            std::string(name_of(ErrorCode::connection_loss)),
                            outside_.last_problem(),
                            "forelock doctor",
                            {},
                            true,
                            {}});
  }
  remember_missing();
  if (first_missing_.empty()) refuse_if_used();
}

void BenchNamespace::remember_missing() {
  for (std::size_t end = 0; end != std::string::npos && !chroot_.empty();) {
    end = chroot_.find('/', end + 1);
    const std::string path = chroot_.substr(0, end);
    const Reply reply = ask(outside_).ask(coordination::Exists{path});
    if (reply.code == ReplyCode::no_node) {
      first_missing_ = path;
      return;
    }
    if (!reply.ok()) fail("cannot look at " + path, reply.code);
  }
}

void BenchNamespace::remove_abandoned() {
  for (const std::string& name : ask(outside_).ask(coordination::List{chroot_.empty() ? "/" : chroot_}).children) {
    // One that is in use has lock nodes, and stays.
    if (is_bench_name(name)) ask(outside_).ask(coordination::Delete{chroot_ + '/' + name});
  }
}

void BenchNamespace::refuse_if_used() {
  const std::string path = chroot_.empty() ? "/" : chroot_;
  remove_abandoned();
  const Reply reply = ask(outside_).ask(coordination::List{path});
  if (!reply.ok()) fail("cannot list the namespace " + path, reply.code);
  const auto used = std::count_if(reply.children.begin(), reply.children.end(), [&](const std::string& name) {
    return !chroot_.empty() || name != "zookeeper";  // the server's own
  });
  if (used == 0) return;
  throw FailureException({exit_failed,
                          "namespace_not_empty",
                          "the namespace " + path + " is not empty (" + std::to_string(used) +
                              (used == 1 ? " node" : " nodes") + "); a benchmark has no place beside real locks",
                          "give it one of its own, which it removes again: forelock bench --zookeeper " +
                              shell_quoted(connect_string(settings_, chroot_ + "/forelock-bench")),
                          {},
                          false,
                          {}});
}

std::string BenchNamespace::monitor(const std::string& what) {
  return prefix_ + what + '-' + std::to_string(++names_);
}

void BenchNamespace::clean_up() {
  const Reply listing = ask(outside_).ask(coordination::List{chroot_.empty() ? "/" : chroot_});
  if (listing.code == ReplyCode::no_node) return;
  if (!listing.ok()) fail("cannot list what the benchmark has left", listing.code);
  std::vector<std::string> paths;
  std::vector<coordination::Request> deletions;
  for (const std::string& name : listing.children) {
    if (!name.starts_with(prefix_)) continue;
    paths.push_back(chroot_ + '/' + name);
    deletions.emplace_back(coordination::Delete{paths.back()});
  }
  const std::vector<Reply> replies = ask(outside_).ask(std::move(deletions));
  for (std::size_t i = 0; i < replies.size(); ++i) {
    if (!replies[i].ok()) remove(outside_, paths[i]);
  }
}

void BenchNamespace::leave() {
  clean_up();
  if (first_missing_.empty()) return;
  for (std::string path = chroot_; path.size() >= first_missing_.size(); path.resize(path.rfind('/'))) {
    remove(outside_, path);
  }
}

std::string BenchNamespace::connect_string(const Settings& settings, const std::string& chroot) {
  std::string servers;
  for (const ServerAddress& server : settings.servers()) {
    const bool bracketed = server.host.find(':') != std::string::npos;
    servers += (servers.empty() ? "" : ",") + (bracketed ? '[' + server.host + ']' : server.host) + ':' +
               std::to_string(server.port);
  }
  return servers + chroot;
}

}  // namespace forelock::cli
