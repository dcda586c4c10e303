// Requests at the edges: many, large, not permitted, not known to the server.
#include <arpa/inet.h>

#include "zookeeper_fixture.h"

namespace forelock::zookeeper {
namespace {

using namespace coordination;
using Kind = SessionEvent::Kind;
using test::TcpProxy;

TEST_F(ZooKeeperTest, TenThousandRequestsInOneBreath) {
  auto connection = connect();
  ASSERT_TRUE(connection->ask(Create{own("P"), ""}).ok());
  constexpr int count = 10'000;
  for (int i = 0; i < count; ++i) connection->send(SetData{own("P"), std::to_string(i)});
  EXPECT_TRUE(connection->wait(connection->last_tag).ok());
  const auto replies = connection->recorder.replies();
  ASSERT_EQ(replies.size(), static_cast<std::size_t>(count) + 1);
  for (std::size_t i = 1; i < replies.size(); ++i) {
    ASSERT_TRUE(replies[i].reply.ok());
    ASSERT_EQ(replies[i].reply.stat.version, static_cast<std::int32_t>(i));
  }
}

TEST_F(ZooKeeperTest, ALargeRequestIsRefusedBeforeItIsSent) {
  auto connection = connect();
  EXPECT_EQ(connection->ask(Create{own("big"), std::string(2'000'000, 'x')}).code, ReplyCode::request_too_large);
  EXPECT_EQ(
      connection
          ->ask(Transaction{{Create{own("a"), std::string(600'000, 'x')}, Create{own("b"), std::string(600'000, 'x')}}})
          .code,
      ReplyCode::request_too_large);
  EXPECT_EQ(effect_of(ReplyCode::request_too_large), Effect::not_applied);
  EXPECT_TRUE(connection->ask(Exists{"/"}).ok());
  EXPECT_EQ(connection->recorder.count(Kind::disconnected), 0u);
}

// The default limit is one that the server accepts, and not much less than what it accepts.
TEST_F(ZooKeeperTest, ARequestJustBelowTheLimitPasses) {
  auto connection = connect();
  const std::string path = own("big");
  const std::size_t around = 8 + 4 + path.size() + 4 + (4 + 12 + 5 + 6) + 4;  // "world", "anyone"
  const std::size_t most = SessionOptions{}.max_request_bytes - around;
  EXPECT_EQ(connection->ask(Create{path, std::string(most + 1, 'x')}).code, ReplyCode::request_too_large);
  EXPECT_TRUE(connection->ask(Create{path, std::string(most, 'x')}).ok());
  EXPECT_EQ(connection->ask(Get{path}).data.size(), most);
}

TEST_F(ZooKeeperTest, AccessControlNeedsTheCredential) {
  SessionOptions settings = options();
  settings.credential = "owner:secret";
  settings.acl.kind = AclPolicy::Kind::creator_all;
  auto owner = connect(settings);
  ASSERT_TRUE(owner->ask(Create{own("closed"), "data"}).ok());

  settings.credential = "owner:wrong";
  auto impostor = connect(settings);
  EXPECT_EQ(impostor->ask(Get{own("closed")}).code, ReplyCode::no_auth);
  EXPECT_EQ(impostor->ask(Transaction{{Check{own("closed")}, Delete{own("closed")}}}).code, ReplyCode::no_auth);

  settings.credential = "owner:secret";
  auto same = connect(settings);
  EXPECT_EQ(same->ask(Get{own("closed")}).data, "data");
  // The credential is given again after a reconnect, before anything else.
  proxy_.cut_connections();
  ASSERT_TRUE(same->wait_for(Kind::connected, 2));
  EXPECT_EQ(same->ask(Get{own("closed")}).data, "data");
}

TEST_F(ZooKeeperTest, CreatorAllWithoutCredentialIsInvalid) {
  SessionOptions settings = options();
  settings.acl.kind = AclPolicy::Kind::creator_all;
  auto connection = connect(settings);
  EXPECT_EQ(connection->ask(Create{own("node"), ""}).code, ReplyCode::invalid_acl);
  EXPECT_EQ(connection->ask(Transaction{{Create{own("node"), ""}, Delete{own("node")}}}).code, ReplyCode::invalid_acl);
}

TEST_F(ZooKeeperTest, AListedPolicyIsUsedAsItIs) {
  SessionOptions settings = options();
  settings.acl.kind = AclPolicy::Kind::list;
  settings.acl.entries = {{1, "world", "anyone"}};  // read only
  auto connection = connect(settings);
  ASSERT_TRUE(connection->ask(Create{own("node"), "data"}).ok());
  EXPECT_EQ(connection->ask(Get{own("node")}).data, "data");
  EXPECT_EQ(connection->ask(SetData{own("node"), ""}).code, ReplyCode::no_auth);
}

TEST_F(ZooKeeperTest, WhatTheServerRefusesInAName) {
  auto connection = connect();
  for (const char* name : {"\x7f", "\xc2\x85", "\xee\x80\x80", "\xef\xbf\xbf"}) {
    EXPECT_EQ(connection->ask(Create{own(name), ""}).code, ReplyCode::invalid_argument) << name;
  }
  EXPECT_TRUE(connection->ask(Exists{"/"}).ok());
}

// Plays a server from before containers: changes the number of the operation to one that it does not know.
class OldServer {
 public:
  void operator()(TcpProxy::Direction direction, std::string& bytes) {
    if (direction != TcpProxy::Direction::to_server) return;
    constexpr std::uint32_t create_container = 19;
    constexpr std::uint32_t unknown = 9999;
    // The client sends length and body apart, so the body of a request stands at the begin of a piece or four bytes
    // later.
    for (const std::size_t at : {std::size_t{4}, std::size_t{8}}) {
      if (bytes.size() < at + 8) continue;
      std::uint32_t operation = 0;
      std::memcpy(&operation, bytes.data() + at, sizeof(operation));
      if (ntohl(operation) != create_container) continue;
      ++containers;
      operation = htonl(unknown);
      std::memcpy(bytes.data() + at, &operation, sizeof(operation));
    }
  }

  std::atomic<int> containers{0};
};

TEST_F(ZooKeeperTest, OnAServerWithoutContainersTheyArePersistent) {
  OldServer old;
  proxy_.set_filter(std::ref(old));
  auto connection = connect();
  // Such a server answers and drops the connection, so the second attempt may be lost with it.
  const Reply first = connection->ask(Create{own("P"), "", CreateMode::container});
  EXPECT_EQ(old.containers, 1);
  EXPECT_TRUE(first.ok() || first.code == ReplyCode::connection_loss) << name_of(first.code);
  if (!first.ok()) {
    ASSERT_TRUE(connection->wait_for(Kind::connected, 2));
  }
  const Reply second = connection->ask(Create{own("P"), "", CreateMode::container});
  EXPECT_TRUE(second.ok() || second.code == ReplyCode::node_exists) << name_of(second.code);
  EXPECT_TRUE(connection->ask(Create{own("Q"), "", CreateMode::container}).ok());
  EXPECT_EQ(old.containers, 1) << "asked once a session";
  proxy_.set_filter(nullptr);
}

}  // namespace
}  // namespace forelock::zookeeper
