// Servers that come back: with their data, or without them.
#include "integration/fixture.h"
#include "support/test.h"
#include "support/wait_until.h"

namespace forelock::test {
namespace {

class LostDataTest : public ::testing::Test {
 protected:
  static Settings settings(const TestServer& server, const char* timeout = "1000") {
    return settings_for(server.connect_string(), {{"zookeeper.session.timeout", timeout},
                                                  {"zookeeper.connection.retry", "1000"},
                                                  {"zookeeper.connection.delay", "100"}});
  }
  // So that a server without its data does not soon have seen as much.
  static void work(Client& client) {
    for (int i = 0; i < 100; ++i) {
      BlockingWriteLock lock(client, "work", "work");
      lock.lock_with_timeout();
    }
  }

  TestServer server_{quick_server()};
};

// It refuses a client that has seen more than it has.
TEST_F(LostDataTest, AServerWithoutItsDataIsUsedAgainWithAnotherSession) {
  Client client(settings(server_));
  work(client);
  BlockingWriteLock held(client, "held", "held");
  held.lock_with_timeout();
  const auto session = client.session_id();
  server_.kill();
  std::filesystem::remove_all(server_.data_directory() / "version-2");
  server_.restart();
  EXPECT_TRUE(wait_until([&] { return client.session_id() != session && client.connected(); }, 30s))
      << client.last_problem();
  EXPECT_EQ(held.state(), LockState::lost);
  EXPECT_GE(client.statistics().sessions_expired, 1u);
  BlockingWriteLock again(client, "again", "held");
  EXPECT_TRUE(again.try_lock_for(10s));
}

TEST_F(LostDataTest, AnOutageHoweverLongMakesNoNewSession) {
  Client client(settings(server_, "4000"));  // which the server counts anew from its start
  work(client);
  const auto session = client.session_id();
  server_.kill();
  ASSERT_TRUE(wait_until([&] { return !client.connected(); }, 30s));
  BlockingWriteLock waiting(client, "waiting", "waiting");
  auto granted = std::async(std::launch::async, [&] { return waiting.try_lock_for(60s); });
  EXPECT_FALSE(wait_until([&] { return client.statistics().sessions_expired > 0; }, 9s));
  server_.restart();
  EXPECT_TRUE(granted.get()) << client.last_problem();
  EXPECT_EQ(client.session_id(), session);
}

// It takes connections, and no more: a server without a quorum does so as well.
TEST_F(LostDataTest, AServerThatAnswersNobodyMakesNoNewSession) {
  Client client(settings(server_));
  work(client);
  server_.pause();
  ASSERT_TRUE(wait_until([&] { return !client.connected(); }, 30s));
  EXPECT_FALSE(wait_until([&] { return client.statistics().sessions_expired > 0; }, 5s));
  EXPECT_NE(client.last_problem().find("is it serving?"), std::string::npos) << client.last_problem();
  server_.resume();
}

}  // namespace
}  // namespace forelock::test
