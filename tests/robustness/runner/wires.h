// The network of one client process: a proxy to each server, so that each connection can be hurt alone.
#pragma once

#include "robustness/runner/frame_watch.h"
#include "support/tcp_proxy.h"

namespace forelock::robustness {

// Thread-safe. Faults of one kind may overlap: what is switched on twice has to be switched off twice.
class Wires {
 public:
  using Direction = test::TcpProxy::Direction;

  // `encrypted`: what passes is TLS. Throws std::system_error.
  explicit Wires(const std::vector<std::uint16_t>& server_ports, bool encrypted = false);

  // "HOST1:port,HOST2:port,…" with names or addresses of this machine.
  std::string servers(const std::vector<std::string>& hosts) const;

  // The ports from which a server is reached now.
  std::vector<std::uint16_t> near_ports(std::size_t server) const { return proxies_.at(server)->near_ports(); }

  void cut();
  // New connections are refused.
  void refuse(bool on);
  // Nothing passes, and nobody is told.
  void stall(Direction direction, bool on);
  void set_delay(std::chrono::milliseconds delay);
  void set_rate(std::size_t bytes_per_second);
  // Only this server can be reached, or all again.
  void only(std::optional<std::size_t> server);
  // All servers but this one, or all again.
  void all_but(std::optional<std::size_t> server);
  FrameWatch& watch() { return watch_; }
  const FrameWatch& watch() const { return watch_; }

 private:
  void apply_refusals();

  FrameWatch watch_;
  std::vector<std::unique_ptr<test::TcpProxy>> proxies_;
  std::mutex mutex_;
  int refusals_ = 0;
  std::array<int, 2> stalls_{};
  std::optional<std::size_t> only_;
  std::optional<std::size_t> all_but_;
};

}  // namespace forelock::robustness
