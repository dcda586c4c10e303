#pragma once

#include "support/standard.h"

namespace forelock::test {

// Stands between a client and a server on 127.0.0.1, and breaks the network on demand. Thread-safe; when a call
// returns, it has had its effect.
class TcpProxy {
 public:
  enum class Direction { to_server, to_client };

  // Listens on a free port of this address, which is one of the loopback network 127.0.0.0/8. Throws std::system_error.
  explicit TcpProxy(std::uint16_t server_port, std::string listen_address = "127.0.0.1");
  ~TcpProxy();
  TcpProxy(const TcpProxy&) = delete;
  TcpProxy& operator=(const TcpProxy&) = delete;

  std::uint16_t port() const;
  const std::string& listen_address() const;
  std::string connect_string() const { return listen_address() + ":" + std::to_string(port()); }

  // Later connections go to this port.
  void set_server_port(std::uint16_t port);
  // Ends every connection with a reset, in both directions. What is on its way is lost.
  void cut_connections();
  // While true, new connections are refused, as by a machine without the server.
  void refuse(bool on);
  // While true, every connection is half open: the end that `silent` leads to is told nothing any more, the other one
  // got a reset; new connections are refused. Afterwards the silent ends get theirs.
  void half_cut(Direction silent, bool on);
  // While true, bytes of this direction stay where they are, and flow on afterwards: a silent network.
  void stall(Direction direction, bool on);
  void stall(bool on) {
    stall(Direction::to_server, on);
    stall(Direction::to_client, on);
  }
  // Every byte arrives this much later, in each direction.
  void set_delay(std::chrono::microseconds delay);
  // A narrow link: so many bytes in a second and direction. 0: as many as there are.
  void set_rate(std::size_t bytes_per_second);
  // May change what passes; called on the proxy's thread with the pieces of the stream as they come. Empty for none.
  void set_filter(std::function<void(Direction, std::string&)> filter);

  // What is to be done with a piece of the stream besides.
  struct Verdict {
    bool cut = false;  // the connection ends with a reset; the piece, and what was on its way, is lost
    std::chrono::milliseconds delay{0};  // the piece, and what comes behind it, arrives so much later
  };
  // As a filter; also told which connection, counted from 1. Must not call the proxy.
  using Inspector = std::function<Verdict(int connection, Direction, std::string&)>;
  void set_inspector(Inspector inspector);

  // Of the connections that there are, the proxy's own ports towards the server.
  std::vector<std::uint16_t> near_ports() const;
  // Connections accepted so far.
  int connections_accepted() const;

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace forelock::test
