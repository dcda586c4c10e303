#include "cli/monitors/servers_text.h"

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
  for (const ServerAddress& server : settings.servers()) {
    text += (text.empty() ? "" : ",") + zookeeper::to_string(zookeeper::ServerName{server.host, server.port});
  }
  return text + settings.chroot();
}

}  // namespace forelock::cli
