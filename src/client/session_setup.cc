#include "client/session_setup.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "client/sasl_setup.h"
#include "client/tls_setup.h"
#include "zookeeper/connect_string.h"

namespace forelock::client {
namespace {

std::vector<std::string> server_names(const Settings& settings) {
  std::vector<std::string> names;
  for (const ServerAddress& server : settings.servers()) {
    names.push_back(zookeeper::to_string(zookeeper::ServerName{server.host, server.port}));
  }
  return names;
}

std::string connect_string(const std::vector<std::string>& servers, const std::string& chroot) {
  std::string text;
  for (const std::string& server : servers) text += (text.empty() ? "" : ",") + server;
  return text + chroot;
}

}  // namespace

std::string ensemble_name(const Settings& settings) {
  return connect_string(server_names(settings), settings.chroot());
}

std::string ensemble_identity(const Settings& settings) {
  std::vector<std::string> servers = server_names(settings);
  std::sort(servers.begin(), servers.end());
  return connect_string(servers, settings.chroot());
}

zookeeper::SessionOptions session_options(const Settings& settings) {
  zookeeper::SessionOptions options;
  options.servers = ensemble_name(settings);
  options.session_timeout = settings.session_timeout();
  if (std::string digest = settings.load_digest(); !digest.empty()) options.credential = std::move(digest);
  options.tls = make_tls(settings);
  options.sasl = make_sasl(settings);
  options.acl.kind = settings.acl() == AclMode::creator_all ? zookeeper::AclPolicy::Kind::creator_all
                                                            : zookeeper::AclPolicy::Kind::open;
  return options;
}

}  // namespace forelock::client
