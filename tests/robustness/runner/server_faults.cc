// What can happen to the servers. One fault at a time: what they share is a majority.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "robustness/runner/scene.h"
#include "robustness/worker/patience.h"

namespace forelock::robustness {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr std::chrono::seconds heal_patience{180};
// Who has joined shall have written down what it was given before the next one goes.
constexpr milliseconds between_restarts{4000};

class ServerFaults {
 public:
  explicit ServerFaults(Scene& scene)
      : scene_(scene), depositions_(scene.cluster, scene.resource, scene.history, scene.divided) {}

  Undo kill_leader(Strike& strike) {
    const std::size_t leader = cluster().leader();
    if (leader == Cluster::size) return leaderless(strike);
    return kill(strike, {leader});
  }
  Undo kill_follower(Strike& strike) {
    const std::size_t leader = cluster().leader();
    if (leader == Cluster::size) return leaderless(strike);
    return kill(strike, {other_than(strike, leader)});
  }
  Undo kill_majority(Strike& strike) {
    const std::size_t survivor = any(strike);
    return kill(strike, {(survivor + 1) % Cluster::size, (survivor + 2) % Cluster::size});
  }

  Undo pause_server(Strike& strike) {
    const std::size_t index = any(strike);
    strike.begin(Cluster::name(index));
    cluster().server(index).pause();
    return [this, index] {
      cluster().server(index).resume();
      heal();
    };
  }

  // Gets the processor for a moment now and then.
  Undo slow_server(Strike& strike) {
    const std::size_t index = any(strike);
    strike.begin(Cluster::name(index));
    throttle(strike, index, strike.duration());
    return [this] { heal(); };
  }

  Undo empty_disk(Strike& strike) {
    const std::size_t index = any(strike);
    // The others must have everything.
    if (cluster().serving().size() != Cluster::size) return skipped(strike, "not all servers serve");
    strike.begin(Cluster::name(index));
    cluster().server(index).kill();
    cluster().wipe(index);
    return [this] { heal(); };
  }

  Undo restart_slowly(Strike& strike) {
    const std::size_t index = any(strike);
    strike.begin(Cluster::name(index));
    cluster().server(index).restart(false);
    throttle(strike, index, strike.duration());
    return [this] { heal(); };
  }

  Undo restart_all(Strike& strike) {
    strike.begin("all");
    const std::size_t first = any(strike);
    for (std::size_t i = 0; i < Cluster::size && !strike.stop().stop_requested(); ++i) {
      if (i > 0) pause(strike.stop(), between_restarts);
      cluster().server((first + i) % Cluster::size).restart(false);
      heal();
    }
    return [this] { heal(); };
  }

  // What a client that is made to connect there sees is old.
  Undo lag_follower(Strike& strike) {
    if (!cluster().links_can_be_hurt()) return skipped(strike, "the servers' links have no proxies in this run");
    const std::size_t leader = cluster().leader();
    ClientProcess* client = scene_.any_client(strike);
    if (leader == Cluster::size || client == nullptr) return leaderless(strike);
    const std::size_t follower = other_than(strike, leader);
    const milliseconds lag(strike.between(50, 800));
    strike.begin(Cluster::name(follower), std::to_string(lag.count()) + " ms, for " + client->slot());
    cluster().delay_link(leader, follower, lag);
    client->wires().only(follower);
    client->wires().cut();
    return [this, leader, follower, client] {
      cluster().delay_link(leader, follower, 0ms);
      client->wires().only(std::nullopt);
    };
  }

  Undo partition(Strike& strike) {
    if (!cluster().links_can_be_hurt()) return skipped(strike, "the servers' links have no proxies in this run");
    const std::size_t leader = cluster().leader();
    const std::size_t alone = leader != Cluster::size && strike.chance(0.7) ? leader : any(strike);
    const bool silent = strike.chance(0.5);
    strike.begin(Cluster::name(alone), silent ? "silently" : "with resets");
    const auto set = [this, alone, silent](bool on) {
      for (std::size_t other = 0; other < Cluster::size; ++other) {
        if (other == alone) continue;
        silent ? cluster().stall_link(alone, other, on) : cluster().cut_link(alone, other, on);
      }
    };
    set(true);
    return [this, set] {
      set(false);
      heal();
    };
  }

  Undo part(Strike& strike, void (Depositions::*deed)(Strike&)) {
    (depositions_.*deed)(strike);
    return [this] { heal(); };
  }

  // No file can grow any more: the server meets it with its next transaction, and ends.
  Undo fill_disk(Strike& strike) {
    const std::size_t index = any(strike);
    const pid_t process = cluster().server(index).process_id();
    rlimit none{};
    if (prlimit(process, RLIMIT_FSIZE, nullptr, &none) != 0) return skipped(strike, std::strerror(errno));
    const rlimit before = none;
    none.rlim_cur = 0;
    strike.begin(Cluster::name(index));
    prlimit(process, RLIMIT_FSIZE, &none, nullptr);
    return [this, index, process, before] {
      if (cluster().server(index).running()) prlimit(process, RLIMIT_FSIZE, &before, nullptr);
      heal();
    };
  }

  // Strangers take all the connections that one address may have; then a client has to connect again.
  Undo exhaust_connections(Strike& strike) {
    ClientProcess* client = scene_.any_client(strike);
    if (client == nullptr) return skipped(strike, "no client runs");
    strike.begin("all", "and cut: " + client->slot());
    auto strangers = std::make_shared<std::vector<int>>();
    for (const std::uint16_t port : cluster().ports()) {
      for (int i = 0; i < Cluster::connections_allowed; ++i) strangers->push_back(connect_to(port));
    }
    client->wires().cut();
    return [strangers] {
      for (const int each : *strangers) close(each);
    };
  }

 private:
  Cluster& cluster() const { return scene_.cluster; }
  static std::size_t any(Strike& strike) {
    return static_cast<std::size_t>(strike.between(0, static_cast<int>(Cluster::size) - 1));
  }
  static std::size_t other_than(Strike& strike, std::size_t index) {
    return (index + static_cast<std::size_t>(strike.between(1, static_cast<int>(Cluster::size) - 1))) % Cluster::size;
  }
  void heal() const { cluster().heal(heal_patience); }

  Undo kill(Strike& strike, const std::vector<std::size_t>& victims) {
    std::string names;
    for (const std::size_t each : victims) names += (names.empty() ? "" : ",") + Cluster::name(each);
    strike.begin(names);
    for (const std::size_t each : victims) cluster().server(each).kill();
    return [this] { heal(); };
  }

  void throttle(Strike& strike, std::size_t index, milliseconds time) const {
    const auto until = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < until && !strike.stop().stop_requested()) {
      cluster().server(index).pause();
      pause(strike.stop(), milliseconds(strike.between(20, 150)));
      cluster().server(index).resume();
      pause(strike.stop(), milliseconds(strike.between(5, 60)));
    }
  }

  static int connect_to(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    // What becomes of it is all the same: it is in the way.
    static_cast<void>(connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof(address)));
    return connection;
  }

  static Undo leaderless(Strike& strike) { return skipped(strike, "no leader at that moment"); }
  static Undo skipped(Strike& strike, std::string_view reason) {
    strike.skip(reason);
    return {};
  }

  Scene& scene_;
  Depositions depositions_;
};

}  // namespace

std::vector<FaultKind> server_faults(Scene& scene) {
  const auto faults = std::make_shared<ServerFaults>(scene);
  const auto done_by = [faults](Undo (ServerFaults::*deed)(Strike&)) {
    return [faults, deed](Strike& strike) { return (faults.get()->*deed)(strike); };
  };
  const auto parted_by = [faults](void (Depositions::*deed)(Strike&)) {
    return [faults, deed](Strike& strike) { return faults->part(strike, deed); };
  };
  return {
      {"leader_deposed", 8, 0ms, 0ms, parted_by(&Depositions::depose_leader)},
      {"leader_silenced", 3, 0ms, 0ms, parted_by(&Depositions::silence_leader)},
      {"follower_forgotten", 3, 0ms, 0ms, parted_by(&Depositions::forget_follower)},
      {"leader_killed", 2, 0ms, 2500ms, done_by(&ServerFaults::kill_leader)},
      {"follower_killed", 2, 0ms, 2500ms, done_by(&ServerFaults::kill_follower)},
      {"majority_killed", 1, 0ms, 2500ms, done_by(&ServerFaults::kill_majority)},
      {"server_paused", 2, 300ms, 6000ms, done_by(&ServerFaults::pause_server)},
      {"server_slow", 1, 500ms, 4000ms, done_by(&ServerFaults::slow_server)},
      {"server_disk_emptied", 1, 0ms, 1000ms, done_by(&ServerFaults::empty_disk)},
      {"server_restarted_slowly", 1, 2000ms, 6000ms, done_by(&ServerFaults::restart_slowly)},
      {"rolling_restart", 1, 0ms, 0ms, done_by(&ServerFaults::restart_all)},
      {"lagging_follower", 3, 1000ms, 4000ms, done_by(&ServerFaults::lag_follower)},
      {"servers_partitioned", 2, 500ms, 5000ms, done_by(&ServerFaults::partition)},
      {"server_disk_full", 1, 1000ms, 3000ms, done_by(&ServerFaults::fill_disk)},
      {"connection_limit", 2, 500ms, 2500ms, done_by(&ServerFaults::exhaust_connections)},
  };
}

}  // namespace forelock::robustness
