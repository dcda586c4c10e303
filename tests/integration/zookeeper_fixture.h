// A real server, a proxy in front of it, and sessions through the proxy.
#pragma once

#include "contract/recorder.h"
#include "support/tcp_proxy.h"
#include "support/test.h"
#include "support/test_server.h"
#include "support/wait_until.h"
#include "zookeeper/zookeeper_session.h"

namespace forelock::zookeeper {

// A session with its recorder; reads like a synchronous client.
struct Connection {
  explicit Connection(SessionOptions options) : session(std::move(options), recorder) {}

  coordination::RequestTag send(coordination::Request request) {
    session.submit(++last_tag, std::move(request));
    return last_tag;
  }
  coordination::Reply wait(coordination::RequestTag tag);
  coordination::Reply ask(coordination::Request request) { return wait(send(std::move(request))); }
  bool wait_for(coordination::SessionEvent::Kind kind, std::size_t count = 1);

  contract::Recorder recorder;
  coordination::RequestTag last_tag = 0;
  ZooKeeperSession session;
};

class ZooKeeperTest : public ::testing::Test {
 protected:
  // One server for all tests of the program.
  static test::TestServer& server();

  ZooKeeperTest() : proxy_(server().port()) {}

  SessionOptions options(const std::string& chroot = "") const;
  std::unique_ptr<Connection> connect(SessionOptions options) const;
  std::unique_ptr<Connection> connect() const { return connect(options()); }
  // A path that no other test uses, nor this one when it is repeated.
  std::string own(const std::string& name) const;

  test::TcpProxy proxy_;

 private:
  static inline int tests_made_ = 0;
  const int number_ = ++tests_made_;
};

}  // namespace forelock::zookeeper
