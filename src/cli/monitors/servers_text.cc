#include "cli/monitors/servers_text.h"

#include <utility>
#include <vector>

#include "cli/exit_code.h"
#include "cli/failure.h"
#include "zookeeper/connect_string.h"

namespace forelock::cli {

void throw_unknown_monitor(const std::string& monitor, const Settings& settings) {
  throw FailureException(
      {exit_failed,
       "unknown_monitor",
       "there is no monitor '" + monitor + "' at " + servers_text(settings) + ": it has neither holder nor waiters",
       "forelock ls --all",
       monitor,
       false,
       {}});
}

std::string servers_text(const Settings& settings) {
  std::string text;
  for (const std::vector<ServerAddress>& ensemble : settings.ensembles()) {
    if (!text.empty()) text += '|';
    bool first = true;
    for (const ServerAddress& server : ensemble) {
      text += (std::exchange(first, false) ? "" : ",") +
              zookeeper::to_string(zookeeper::ServerName{server.host, server.port});
    }
    text += settings.chroot();
  }
  return text;
}

}  // namespace forelock::cli
