#pragma once

#include "support/test_server.h"

namespace forelock::test {

// Three real ZooKeeper servers. Not thread-safe.
class TestEnsemble {
 public:
  static constexpr std::size_t size = 3;

  // By which port server `from` reaches that port of server `to`, of another one: so proxies can stand in between.
  using Link = std::function<std::uint16_t(std::size_t from, std::size_t to, std::uint16_t port)>;

  // Starts and waits until all serve; tries other ports when they are taken. Throws std::runtime_error.
  explicit TestEnsemble(const ServerOptions& options = {}, const Link& link = {});

  TestServer& server(std::size_t index) { return *servers_.at(index); }
  // All three: "127.0.0.1:1,127.0.0.1:2,127.0.0.1:3".
  std::string connect_string() const;
  // The same of their ports for TLS.
  std::string secure_connect_string() const;

  // The index of the leader, waited for; size when there is none.
  std::size_t leader();
  // The index of a server that follows, waited for; size when there is none.
  std::size_t follower();
  bool wait_until_serving(std::chrono::milliseconds timeout = std::chrono::seconds(60));

 private:
  std::size_t find(const std::string& mode);
  bool start(const ServerOptions& options, const Link& link);

  std::array<std::unique_ptr<TestServer>, size> servers_;
};

}  // namespace forelock::test
