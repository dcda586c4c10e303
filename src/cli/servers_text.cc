#include "cli/servers_text.h"

#include "zookeeper/connect_string.h"

namespace forelock::cli {

std::string servers_text(const Settings& settings) {
  std::string text;
  for (const ServerAddress& server : settings.servers()) {
    text += (text.empty() ? "" : ",") + zookeeper::to_string(zookeeper::ServerName{server.host, server.port});
  }
  return text + settings.chroot();
}

}  // namespace forelock::cli
