#include "robustness/runner/cluster.h"

#include "support/secure_server.h"
#include "zookeeper/probe.h"

namespace forelock::robustness {
namespace {

// What a server says first when it connects to another one's election port: a version below 0, its number, and where it
// can be reached itself.
constexpr std::string_view greeting_begin = "\xff\xff\xff\xff\xff\xff";
constexpr std::string_view host_text = "127.0.0.1:";

}  // namespace

test::ServerOptions Cluster::server_options(const Options& options) {
  test::ServerOptions server;
  server.force_sync = options.force_sync;
  server.enforce_quota = true;
  // A file of transactions is filled with zeros ahead, 64 MiB by default, and begun anew with each leader.
  server.java_properties = {"zookeeper.preAllocSize=256"};
  if (options.sasl) {
    users_ = std::make_unique<test::SaslSetup>();
    server = users_->options(test::SaslSetup::Enforced::no, std::move(server));
  }
  if (!options.tls) return server;
  authority_ = std::make_unique<test::Authority>(certificates_.path(), "robustness");
  client_ = authority_->issue("client", {});
  server.secure_lines = test::secure_lines(*authority_, options.server_names);
  for (std::string& line : test::quorum_lines(*authority_)) server.config_lines.push_back(std::move(line));
  tls_ = std::make_unique<zookeeper::TlsContext>(test::client_tls(*authority_, client_));
  return server;
}

Cluster::Cluster(const Options& options, std::filesystem::path keep) : keep_(std::move(keep)) {
  test::TestEnsemble::Link link;
  if (options.proxied_links) {
    link = [this](std::size_t from, std::size_t to, std::uint16_t port) {
      auto& proxies = links_[{from, to}];
      proxies.push_back(std::make_unique<test::TcpProxy>(port));
      proxies.back()->set_filter([this, to](test::TcpProxy::Direction direction, std::string& bytes) {
        if (direction == test::TcpProxy::Direction::to_server) lead_back(to, bytes);
      });
      const std::lock_guard guard(back_mutex_);
      return way_back_[{from, port}] = proxies.back()->port();
    };
  }
  ensemble_ = std::make_unique<test::TestEnsemble>(server_options(options), link);
}

std::vector<std::string> Cluster::security_settings() const {
  std::vector<std::string> settings;
  if (encrypted()) {
    settings = {"zookeeper.tls.ca.file=" + authority_->certificate().string(),
                "zookeeper.tls.certificate.file=" + client_.certificate.string(),
                "zookeeper.tls.key.file=" + client_.key.string()};
  }
  if (users_) {
    settings.insert(settings.end(),
                    {"zookeeper.sasl.mechanism=DIGEST-MD5", "zookeeper.sasl.user=alice",
                     "zookeeper.sasl.password.file=" + users_->password_file("alice").string(), "zookeeper.acl=open"});
  }
  return settings;
}

std::vector<std::string> Cluster::direct_settings(const std::string& chroot) const {
  std::vector<std::string> settings = security_settings();
  settings.push_back(
      "zookeeper.servers=" + (encrypted() ? ensemble_->secure_connect_string() : ensemble_->connect_string()) + chroot);
  return settings;
}

std::int64_t Cluster::session_of(std::size_t index, const std::vector<std::uint16_t>& peers) const {
  const auto connections = zookeeper::four_letter_word("127.0.0.1", server(index).secure_port(), "cons",
                                                       std::chrono::seconds(3), {tls_.get(), "127.0.0.1"});
  std::istringstream lines(connections.value_or(""));
  for (std::string line; std::getline(lines, line);) {
    const auto sid = line.find(",sid=0x");
    if (sid == std::string::npos) continue;
    for (const std::uint16_t peer : peers) {
      if (line.find(":" + std::to_string(peer) + "[") == std::string::npos) continue;
      return static_cast<std::int64_t>(std::stoull(line.substr(sid + 7), nullptr, 16));
    }
  }
  return 0;
}

void Cluster::lead_back(std::size_t greeted, std::string& bytes) {
  if (!std::string_view(bytes).starts_with(greeting_begin)) return;
  const auto address = bytes.find(host_text);
  if (address == std::string::npos) return;
  const auto digits = address + host_text.size();
  unsigned port = 0;
  const auto end = std::from_chars(bytes.data() + digits, bytes.data() + bytes.size(), port).ptr;
  const std::lock_guard guard(back_mutex_);
  const auto way = way_back_.find({greeted, static_cast<std::uint16_t>(port)});
  if (way == way_back_.end()) return;
  const std::string proxied = std::to_string(way->second);
  const auto length = static_cast<std::size_t>(end - bytes.data()) - digits;
  // The greeting says how long it is. Free ports have as many digits.
  if (proxied.size() == length) bytes.replace(digits, length, proxied);
}

std::vector<std::uint16_t> Cluster::ports() {
  std::vector<std::uint16_t> ports;
  for (std::size_t i = 0; i < size; ++i) {
    ports.push_back(encrypted() ? server(i).secure_port() : server(i).port());
  }
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

void Cluster::half_cut_links(std::size_t deaf, bool on) {
  for (const auto& [ends, proxies] : links_) {
    if (ends.first != deaf && ends.second != deaf) continue;
    for (const auto& proxy : proxies) {
      proxy->half_cut(ends.second == deaf ? test::TcpProxy::Direction::to_server : test::TcpProxy::Direction::to_client,
                      on);
    }
  }
}

void Cluster::delay_link(std::size_t one, std::size_t other, std::chrono::milliseconds delay) {
  each_link(one, other, [delay](test::TcpProxy& proxy) { proxy.set_delay(delay); });
}

}  // namespace forelock::robustness
