#include "cli/existing_namespace.h"

#include <chrono>
#include <string>

#include "cli/connection.h"
#include "cli/exit_code.h"
#include "client/client_core.h"
#include "client/reply_error.h"
#include "client/request_pipeline.h"

namespace forelock::cli {

void require_namespace(const Client& client) {
  const Settings& settings = client.settings();
  if (settings.chroot().empty()) return;
  const auto deadline = std::chrono::steady_clock::now() + patience(settings);
  client::EnsembleLink& ensemble = client.core()->ensemble();
  client::connected_or_throw(ensemble, deadline);
  client::RequestPipeline requests(ensemble, deadline);
  auto reply = requests.ask(coordination::Exists{"/"});
  if (reply.code == coordination::ReplyCode::no_node) {  // or this server is behind the one where it was just made
    requests.ask(coordination::Sync{"/"});
    reply = requests.ask(coordination::Exists{"/"});
  }
  if (reply.code == coordination::ReplyCode::no_node) {
    throw FailureException(missing_namespace(settings.chroot(), ensemble.name()));
  }
  if (!reply.ok()) client::throw_reply_error(reply.code, {}, "cannot look for the chroot " + settings.chroot());
}

Failure missing_namespace(const std::string& chroot, const std::string& servers) {
  return {exit_configuration,
          "no_namespace",
          "the chroot " + chroot + " does not exist at this ensemble (a typo?): " + servers,
          "compare zookeeper.servers with the other clients'; the first lock makes it: forelock run",
          {},
          false,
          {}};
}

}  // namespace forelock::cli
