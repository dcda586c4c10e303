// The adapter's life: connecting, closing, losing the server.
#include <zookeeper/zookeeper.h>

#include "zookeeper_fixture.h"

namespace forelock::zookeeper {
namespace {

using namespace coordination;
using Kind = SessionEvent::Kind;

TEST_F(ZooKeeperTest, ReportsItsIdAndTheNegotiatedTimeout) {
  auto connection = connect();
  const SessionEvent event = connection->recorder.session_events().at(0);
  EXPECT_NE(event.session, 0);
  EXPECT_EQ(event.timeout, std::chrono::seconds(6));

  SessionOptions short_lived = options();
  short_lived.session_timeout = std::chrono::milliseconds(500);
  auto other = connect(short_lived);
  EXPECT_EQ(other->recorder.session_events().at(0).timeout, std::chrono::seconds(1)) << "the server's minimum";
}

TEST_F(ZooKeeperTest, BeforeTheFirstConnectionRequestsFail) {
  proxy_.refuse(true);
  Connection connection(options());
  EXPECT_EQ(connection.session.last_problem(), std::nullopt);
  connection.session.start();
  EXPECT_EQ(connection.ask(Exists{"/"}).code, ReplyCode::connection_loss);
  EXPECT_TRUE(connection.recorder.session_events().empty());
  proxy_.refuse(false);
  EXPECT_TRUE(connection.wait_for(Kind::connected));
  EXPECT_EQ(connection.ask(Exists{"/"}).code, ReplyCode::ok);
}

TEST_F(ZooKeeperTest, NeverStartedItClosesAllTheSame) {
  Connection connection(options());
  const auto tag = connection.send(Exists{"/"});
  connection.session.close();
  EXPECT_EQ(connection.recorder.reply(tag)->code, ReplyCode::connection_loss);
}

TEST_F(ZooKeeperTest, CloseAnswersWhatTheServerHasNot) {
  auto connection = connect();
  proxy_.stall(test::TcpProxy::Direction::to_client, true);
  for (int i = 0; i < 500; ++i) connection->send(Exists{"/"});
  const auto begin = std::chrono::steady_clock::now();
  connection->session.close();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(3));
  const auto replies = connection->recorder.replies();
  ASSERT_EQ(replies.size(), 500u);
  for (std::size_t i = 0; i < replies.size(); ++i) {
    EXPECT_EQ(replies[i].tag, i + 1);
    EXPECT_EQ(replies[i].reply.code, ReplyCode::connection_loss);
  }
}

TEST_F(ZooKeeperTest, AfterCloseRequestsFailInsideSubmit) {
  auto connection = connect();
  connection->session.close();
  const auto tag = connection->send(Exists{"/"});
  ASSERT_TRUE(connection->recorder.reply(tag).has_value());
  EXPECT_EQ(connection->recorder.reply(tag)->code, ReplyCode::connection_loss);
}

TEST_F(ZooKeeperTest, CloseEndsTheSessionAtOnce) {
  auto other = connect();
  auto connection = connect();
  ASSERT_TRUE(connection->ask(Create{own("node"), "", CreateMode::ephemeral}).ok());
  connection->session.close();
  other->send(Sync{"/"});
  EXPECT_EQ(other->ask(Exists{own("node")}).code, ReplyCode::no_node);
}

// It stands still for longer than a close waits, with a request before it that it answers when its asker has gone.
TEST_F(ZooKeeperTest, AServerThatStandsStillMeanwhileHearsOfTheEnd) {
  test::ServerOptions long_sessions;
  long_sessions.config_lines = {"maxSessionTimeout=60000"};
  test::TestServer own_server(long_sessions);
  SessionOptions settings = options();
  settings.servers = own_server.connect_string();
  settings.session_timeout = std::chrono::seconds(60);
  auto other = connect(settings);
  for (int round = 0; round < 3; ++round) {
    auto connection = connect(settings);
    const std::string node = "/mine-" + std::to_string(round);
    ASSERT_TRUE(connection->ask(Create{node, "", CreateMode::ephemeral}).ok());
    own_server.pause();
    connection->send(SetData{node, "x"});
    connection->session.close();
    own_server.resume();
    EXPECT_TRUE(test::wait_until([&] { return other->ask(Exists{node}).code == ReplyCode::no_node; }));
  }
}

// Such an answer ends the session at once, and no request may be on its way into the C client then.
TEST_F(ZooKeeperTest, ACredentialIsProvedAnewByEachConnectionBeforeItIsReported) {
  SessionOptions settings = options();
  settings.credential = "user:password";
  auto connection = connect(settings);
  proxy_.set_filter([](test::TcpProxy::Direction direction, std::string& bytes) {
    if (direction != test::TcpProxy::Direction::to_client) return;
    constexpr std::string_view authenticated("\0\0\0\x10\xff\xff\xff\xfc", 8);  // length, xid; zxid and error follow
    constexpr std::string_view auth_failed("\xff\xff\xff\x8d", 4);
    const auto begin = bytes.find(authenticated);
    if (begin != std::string::npos) bytes.replace(begin + 16, auth_failed.size(), auth_failed);
  });
  proxy_.cut_connections();
  EXPECT_TRUE(connection->wait_for(Kind::auth_failed));
  EXPECT_EQ(connection->recorder.count(Kind::connected), 1u);
}

// With such numbers the client would not wait for any later server.
TEST_F(ZooKeeperTest, AServerThatGivesNoTimeOutOrNoSessionIsNone) {
  using namespace std::string_literals;
  for (const std::string& numbers : {"\0\0\0\0"s, "\xff\xff\xff\xff"s, "\x7f\xff\xff\xff"s, "\0\0\0\0\0\0\0\0\0\0\0\0"s,
                                     "\0\0\x27\x10\0\0\0\0\0\0\0\0"s}) {
    std::atomic<int> answers{0};
    proxy_.set_filter([&](test::TcpProxy::Direction direction, std::string& bytes) {
      if (direction != test::TcpProxy::Direction::to_client) return;
      if (answers++ == 0) bytes.replace(8, numbers.size(), numbers);  // behind the length and the version
    });
    auto connection = connect();
    EXPECT_GT(answers, 1);
    const SessionEvent event = connection->recorder.session_events().at(0);
    EXPECT_EQ(event.timeout, options().session_timeout);
    EXPECT_NE(event.session, 0);
    EXPECT_TRUE(connection->ask(Exists{"/"}).ok());
    proxy_.set_filter(nullptr);
  }
}

// The listener must never be entered twice at a time, whichever thread the calls come from.
class CarefulListener final : public SessionListener {
 public:
  void on_reply(RequestTag, Reply) override {
    enter();
    replies.fetch_add(1);
    leave();
  }
  void on_watch(const WatchEvent&) override {
    enter();
    leave();
  }
  void on_session(const SessionEvent& event) override {
    enter();
    if (event.kind == Kind::connected) connected = true;
    leave();
  }

  std::atomic<int> replies{0};
  std::atomic<bool> connected{false};
  std::atomic<bool> entered_twice{false};

 private:
  void enter() {
    if (inside_.fetch_add(1) != 0) entered_twice = true;
  }
  void leave() { inside_.fetch_sub(1); }

  std::atomic<int> inside_{0};
};

TEST_F(ZooKeeperTest, ClosesWhileOthersSubmit) {
  for (int round = 0; round < 5; ++round) {
    CarefulListener listener;
    ZooKeeperSession session(options(), listener);
    session.start();
    ASSERT_TRUE(test::wait_until([&] { return listener.connected.load(); }));
    std::atomic<bool> stop{false};
    std::atomic<int> submitted{0};
    std::vector<std::thread> submitters;
    for (int i = 0; i < 3; ++i) {
      submitters.emplace_back([&, i] {
        while (!stop) {
          submitted.fetch_add(1);
          session.submit(1, i == 0 ? Request(Exists{"bad path"}) : Request(Transaction{{Check{"/"}, Check{"/"}}}));
          if (submitted.load() - listener.replies.load() > 5000) std::this_thread::yield();
        }
      });
    }
    ASSERT_TRUE(test::wait_until([&] { return listener.replies.load() > 1000; }));
    EXPECT_FALSE(listener.entered_twice);
    std::thread closer([&] { session.close(); });
    closer.join();
    stop = true;
    for (std::thread& each : submitters) each.join();
    EXPECT_EQ(listener.replies.load(), submitted.load());
  }
}

TEST_F(ZooKeeperTest, ASilentServerIsADisconnection) {
  test::TestServer own_server;
  SessionOptions settings = options();
  settings.servers = own_server.connect_string();
  settings.session_timeout = std::chrono::seconds(2);
  auto connection = connect(settings);
  own_server.pause();
  const auto tag = connection->send(SetData{"/", "x"});
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(connection->wait(tag).code, ReplyCode::connection_loss);
  EXPECT_TRUE(connection->wait_for(Kind::disconnected));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2)) << "two thirds of the time-out";
  own_server.resume();
  EXPECT_TRUE(test::wait_until([&] {
    return connection->recorder.count(Kind::connected) > 1 || connection->recorder.count(Kind::expired) > 0;
  }));
}

TEST_F(ZooKeeperTest, TheSessionOutlivesTheServersRestart) {
  test::TestServer own_server;
  SessionOptions settings = options();
  settings.servers = own_server.connect_string();
  // A server that is just starting may take a connection and forget it, which costs the client two thirds of this.
  settings.session_timeout = std::chrono::seconds(10);
  auto connection = connect(settings);
  ASSERT_TRUE(connection->ask(Create{"/mine", "", CreateMode::ephemeral}).ok());
  own_server.restart();
  ASSERT_TRUE(connection->wait_for(Kind::connected, 2));
  EXPECT_EQ(connection->recorder.count(Kind::disconnected), 1u);
  EXPECT_EQ(connection->ask(Exists{"/mine"}).stat.ephemeral_owner, connection->recorder.session_events().at(0).session);
}

TEST_F(ZooKeeperTest, ErrorsOfTheClientGoToTheHook) {
  std::mutex mutex;
  std::string messages;
  SessionOptions settings = options();
  settings.credential = "user:very-secret";
  settings.log = [&](std::string_view message) {
    std::lock_guard lock(mutex);
    messages += message;
  };
  auto connection = connect(settings);
  proxy_.cut_connections();
  ASSERT_TRUE(connection->wait_for(Kind::connected, 2));
  connection->session.close();
  EXPECT_NE(messages.find("ZOO_ERROR"), std::string::npos);
  EXPECT_EQ(messages.find("ZOO_INFO"), std::string::npos);
  EXPECT_EQ(messages.find("very-secret"), std::string::npos);
}

// The session hears of broken connections by such a line, before the client acts on them.
TEST_F(ZooKeeperTest, AClientThatDoesNotSayThatAConnectionIsLostIsReported) {
  std::mutex mutex;
  std::vector<std::string> lines;
  SessionOptions logged = options();
  logged.log = [&](std::string_view line) {
    const std::lock_guard guard(mutex);
    lines.emplace_back(line);
  };
  const auto reported = [&] {
    const std::lock_guard guard(mutex);
    return std::any_of(lines.begin(), lines.end(),
                       [](const std::string& line) { return line.find("without an error line") != std::string::npos; });
  };
  const auto connection = connect(std::move(logged));
  proxy_.cut_connections();
  ASSERT_TRUE(connection->wait_for(coordination::SessionEvent::Kind::connected, 2));
  EXPECT_FALSE(reported());
  zoo_set_debug_level(static_cast<ZooLogLevel>(0));
  proxy_.cut_connections();
  ASSERT_TRUE(connection->wait_for(coordination::SessionEvent::Kind::connected, 3));
  zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
  EXPECT_TRUE(reported());
}

TEST_F(ZooKeeperTest, ManySessionsInOneProcess) {
  std::vector<std::unique_ptr<Connection>> connections;
  for (int i = 0; i < 20; ++i) {
    SessionOptions settings = options();
    settings.log = [](std::string_view) {};  // more hooks than the C client's callback can tell apart
    connections.push_back(std::make_unique<Connection>(settings));
    connections.back()->session.start();
  }
  for (auto& each : connections) EXPECT_TRUE(each->wait_for(Kind::connected));
  for (auto& each : connections) EXPECT_TRUE(each->ask(Exists{"/"}).ok());
}

}  // namespace
}  // namespace forelock::zookeeper
