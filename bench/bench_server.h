// The server of a measurement, and the settings of its clients: sessions so long that pings hardly count.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "forelock/settings.h"
#include "support/test_server.h"

namespace forelock::bench {

// `sync`: the server waits for the disk, as in production. Containers stay, so that removing them disturbs no
// measurement.
inline test::ServerOptions server_options(bool sync) {
  test::ServerOptions options;
  options.force_sync = sync;
  options.tick_time = std::chrono::milliseconds(2000);
  options.container_check = std::chrono::hours(1);
  options.connections_per_address = 0;  // clients of a hundred machines are on this one
  options.java_options = {"-Xmx1g"};    // what ZooKeeper's own script gives it
  return options;
}

inline std::vector<Settings::Override> client_options(const std::string& servers) {
  return {{"zookeeper.servers", servers},
          {"zookeeper.session.timeout", "40000"},
          {"zookeeper.foregound.task.timeout", "30000"},
          {"zookeeper.backgound.task.timeout", "30000"}};
}

inline Settings client_settings(const std::string& servers) {
  Settings settings;
  settings.set(client_options(servers));
  return settings;
}

}  // namespace forelock::bench
