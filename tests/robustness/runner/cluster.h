// The ensemble of a run, with proxies on the links between its servers.
#pragma once

#include "support/certificates.h"
#include "support/sasl_setup.h"
#include "support/tcp_proxy.h"
#include "support/temporary_directory.h"
#include "support/test_ensemble.h"
#include "zookeeper/tls_context.h"

namespace forelock::robustness {

// What changes servers belongs to one thread at a time; the rest is thread-safe.
class Cluster {
 public:
  static constexpr std::size_t size = test::TestEnsemble::size;

  struct Options {
    bool force_sync = false;
    // The servers reach each other through proxies, which costs time; otherwise links cannot be hurt.
    bool proxied_links = true;
    // Clients speak mutual TLS, and the servers TLS among themselves. Their ports without TLS are the runner's own.
    // Which server keeps the connection for elections (lead_back) is not to be seen then: some go past the proxies.
    bool tls = false;
    // The clients of the library authenticate by DIGEST-MD5. Others need not, and the nodes are everybody's.
    bool sasl = false;
    std::string server_names;  // with tls: of the certificates, as "DNS:a.example,IP:127.0.0.1"
  };
  // `keep` is where logs of servers go whose disks are wiped.
  Cluster(const Options& options, std::filesystem::path keep);

  test::TestServer& server(std::size_t index) { return ensemble_->server(index); }
  const test::TestServer& server(std::size_t index) const { return ensemble_->server(index); }
  static std::string name(std::size_t index) { return "server-" + std::to_string(index + 1); }
  // Those for clients.
  std::vector<std::uint16_t> ports();
  // The runner's own.
  std::string connect_string() const { return ensemble_->connect_string(); }
  bool encrypted() const { return authority_ != nullptr; }
  // Without a proxy, as "KEY=VALUE": the servers, below `chroot`, and how they are spoken to.
  std::vector<std::string> direct_settings(const std::string& chroot) const;
  // "zookeeper.tls.…=VALUE" and "zookeeper.sasl.…=VALUE", as far as they are used.
  std::vector<std::string> security_settings() const;
  // Where connections are encrypted: the session that the server has with one of these ports; 0 if it has none.
  std::int64_t session_of(std::size_t index, const std::vector<std::uint16_t>& peers) const;

  // Those that serve now, and of them the leader: `size` if there is none.
  std::vector<std::size_t> serving();
  std::size_t leader();
  // Starts what does not run, and waits until all serve.
  bool heal(std::chrono::milliseconds patience);

  // The disk is empty afterwards; what it had goes to the place for that.
  void wipe(std::size_t index);
  // Where this server's transaction logs are or were.
  std::vector<std::filesystem::path> log_directories(std::size_t index);

  bool links_can_be_hurt() const { return !links_.empty(); }
  // Both directions of everything between the two.
  void cut_link(std::size_t one, std::size_t other, bool on);
  void stall_link(std::size_t one, std::size_t other, bool on);
  // The others are told that their connections with this server have ended; it hears nothing any more, and no end
  // either.
  void half_cut_links(std::size_t deaf, bool on);
  void delay_link(std::size_t one, std::size_t other, std::chrono::milliseconds delay);

  // So many connections from one address does a server allow by default.
  static constexpr int connections_allowed = 60;

 private:
  template <typename Action>
  void each_link(std::size_t one, std::size_t other, Action&& action) {
    for (const auto& [ends, proxies] : links_) {
      if (ends != std::pair(one, other) && ends != std::pair(other, one)) continue;
      for (const auto& proxy : proxies) action(*proxy);
    }
  }

  // The server of the two with the higher number keeps the connection for elections: greeted by the other one, it hangs
  // up and connects to where that one says it is, past the proxies. So it is told of the proxy.
  void lead_back(std::size_t greeted, std::string& bytes);

  test::ServerOptions server_options(const Options& options);

  const std::filesystem::path keep_;
  const test::TemporaryDirectory certificates_;
  std::unique_ptr<const test::Authority> authority_;  // null: without TLS
  test::Identity client_;
  std::unique_ptr<const zookeeper::TlsContext> tls_;
  std::unique_ptr<const test::SaslSetup> users_;  // null: without SASL
  std::mutex back_mutex_;
  std::map<std::pair<std::size_t, std::uint16_t>, std::uint16_t> way_back_;  // by who connects, and to which port
  std::map<std::pair<std::size_t, std::size_t>, std::vector<std::unique_ptr<test::TcpProxy>>> links_;  // from, to
  std::map<std::size_t, int> wiped_;
  std::unique_ptr<test::TestEnsemble> ensemble_;
};

}  // namespace forelock::robustness
