// The ensemble of a run, with proxies on the links between its servers.
#pragma once

#include "support/tcp_proxy.h"
#include "support/test_ensemble.h"

namespace forelock::robustness {

// What changes servers belongs to one thread at a time; the rest is thread-safe.
class Cluster {
 public:
  static constexpr std::size_t size = test::TestEnsemble::size;

  struct Options {
    bool force_sync = false;
    // The servers reach each other through proxies, which costs time; otherwise links cannot be hurt.
    bool proxied_links = true;
  };
  // `keep` is where logs of servers go whose disks are wiped.
  Cluster(const Options& options, std::filesystem::path keep);

  test::TestServer& server(std::size_t index) { return ensemble_->server(index); }
  const test::TestServer& server(std::size_t index) const { return ensemble_->server(index); }
  static std::string name(std::size_t index) { return "server-" + std::to_string(index + 1); }
  std::vector<std::uint16_t> ports();
  std::string connect_string() const { return ensemble_->connect_string(); }

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

  const std::filesystem::path keep_;
  std::mutex back_mutex_;
  std::map<std::pair<std::size_t, std::uint16_t>, std::uint16_t> way_back_;  // by who connects, and to which port
  std::map<std::pair<std::size_t, std::size_t>, std::vector<std::unique_ptr<test::TcpProxy>>> links_;  // from, to
  std::map<std::size_t, int> wiped_;
  std::unique_ptr<test::TestEnsemble> ensemble_;
};

}  // namespace forelock::robustness
