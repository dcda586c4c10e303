#include "robustness/runner/cluster.h"

#include <utility>

#include "zookeeper/probe.h"

namespace forelock::robustness {

Cluster::Cluster(const Options& options, std::filesystem::path keep) : keep_(std::move(keep)) {
  test::ServerOptions server;
  server.force_sync = options.force_sync;
  server.enforce_quota = true;
  server.config_lines = {"maxClientCnxns=" + std::to_string(connections_allowed)};
  // A file of transactions is filled with zeros ahead, 64 MiB by default, and begun anew with each leader.
  server.java_properties = {"zookeeper.preAllocSize=256"};
  test::TestEnsemble::Link link;
  if (options.proxied_links) {
    link = [this](std::size_t from, std::size_t to, std::uint16_t port) {
      auto& proxies = links_[{from, to}];
      proxies.push_back(std::make_unique<test::TcpProxy>(port));
      return proxies.back()->port();
    };
  }
  ensemble_ = std::make_unique<test::TestEnsemble>(server, link);
}

std::vector<std::uint16_t> Cluster::ports() {
  std::vector<std::uint16_t> ports;
  for (std::size_t i = 0; i < size; ++i) ports.push_back(server(i).port());
  return ports;
}

std::vector<std::size_t> Cluster::serving() {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < size; ++i) {
    if (server(i).serving()) found.push_back(i);
  }
  return found;
}

std::size_t Cluster::leader() {
  for (std::size_t i = 0; i < size; ++i) {
    if (server(i).mode() == "leader") return i;
  }
  return size;
}

bool Cluster::heal(std::chrono::milliseconds patience) {
  for (std::size_t i = 0; i < size; ++i) {
    if (!server(i).running()) server(i).restart(false);
  }
  return ensemble_->wait_until_serving(patience);
}

void Cluster::wipe(std::size_t index) {
  const auto data = server(index).data_directory() / "version-2";
  if (!std::filesystem::exists(data)) return;
  const auto to = keep_ / (name(index) + ".wiped-" + std::to_string(++wiped_[index]));
  std::filesystem::copy(data, to, std::filesystem::copy_options::recursive);
  std::filesystem::remove_all(data);
}

std::vector<std::filesystem::path> Cluster::log_directories(std::size_t index) {
  std::vector<std::filesystem::path> directories;
  for (int i = 1; i <= wiped_[index]; ++i) directories.push_back(keep_ / (name(index) + ".wiped-" + std::to_string(i)));
  directories.push_back(server(index).data_directory());
  return directories;
}

void Cluster::cut_link(std::size_t one, std::size_t other, bool on) {
  each_link(one, other, [on](test::TcpProxy& proxy) {
    proxy.refuse(on);
    if (on) proxy.cut_connections();
  });
}

void Cluster::stall_link(std::size_t one, std::size_t other, bool on) {
  each_link(one, other, [on](test::TcpProxy& proxy) { proxy.stall(on); });
}

void Cluster::delay_link(std::size_t one, std::size_t other, std::chrono::milliseconds delay) {
  each_link(one, other, [delay](test::TcpProxy& proxy) { proxy.set_delay(delay); });
}

}  // namespace forelock::robustness
