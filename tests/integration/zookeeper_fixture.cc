#include "zookeeper_fixture.h"

#include <unistd.h>

namespace forelock::zookeeper {
namespace {

std::unique_ptr<test::TestServer> shared_server;

class ServerEnds : public ::testing::Environment {
 public:
  void TearDown() override { shared_server.reset(); }
};

const auto* const registered = ::testing::AddGlobalTestEnvironment(new ServerEnds);

}  // namespace

coordination::Reply Connection::wait(coordination::RequestTag tag) {
  std::optional<coordination::Reply> reply;
  test::wait_until([&] { return (reply = recorder.reply(tag)).has_value(); });
  if (reply) return *reply;
  ADD_FAILURE() << "no reply to request " << tag;
  coordination::Reply none;
  none.code = coordination::ReplyCode::server_error;
  return none;
}

bool Connection::wait_for(coordination::SessionEvent::Kind kind, std::size_t count) {
  return test::wait_until([&] { return recorder.count(kind) >= count; });
}

test::TestServer& ZooKeeperTest::server() {
  if (!shared_server) {
    test::ServerOptions options;
    options.force_sync = false;
    shared_server = std::make_unique<test::TestServer>(options);
  }
  return *shared_server;
}

SessionOptions ZooKeeperTest::options(const std::string& chroot) const {
  SessionOptions result;
  result.servers = proxy_.connect_string() + chroot;
  result.session_timeout = std::chrono::seconds(6);
  return result;
}

std::unique_ptr<Connection> ZooKeeperTest::connect(SessionOptions options) const {
  auto connection = std::make_unique<Connection>(std::move(options));
  connection->session.start();
  EXPECT_TRUE(connection->wait_for(coordination::SessionEvent::Kind::connected));
  return connection;
}

std::string ZooKeeperTest::own(const std::string& name) const {
  return "/test-" + std::to_string(getpid()) + "-" + std::to_string(number_) + "-" + name;
}

}  // namespace forelock::zookeeper
