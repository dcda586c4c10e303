// Servers that are not there, or do not let us in.
#include <sys/stat.h>

#include "integration/fixture.h"
#include "support/free_port.h"
#include "support/tcp_proxy.h"
#include "support/temporary_directory.h"
#include "support/test.h"
#include "support/wait_until.h"

namespace forelock::test {
namespace {

struct Attempt {
  std::string code = "nothing";
  std::chrono::milliseconds time{0};
  std::string message;
};

// What lock_with_timeout throws, and how long it took.
Attempt attempt(Client& client) {
  BlockingWriteLock lock(client, "attempt", "P1");
  const auto begun = steady_clock::now();
  Attempt result;
  try {
    lock.lock_with_timeout();
  } catch (const Error& error) {
    result.code = name_of(error.code());
    result.message = error.what();
  }
  result.time = std::chrono::duration_cast<std::chrono::milliseconds>(steady_clock::now() - begun);
  return result;
}

TEST(ConnectingTest, NoServer) {
  const std::string nowhere = "127.0.0.1:" + std::to_string(free_ports(1).front());
  {
    Client client(settings_for(nowhere, {{"zookeeper.connection.retry", "3"}, {"zookeeper.connection.delay", "200"}}));
    const auto [code, time, message] = attempt(client);
    EXPECT_EQ(code, "connection_loss");
    EXPECT_LE(time, 600ms + 2s);
    EXPECT_NE(message.find("gave up after 3 tries in 0.6 s (zookeeper.connection.retry)"), std::string::npos)
        << message;
    EXPECT_LE(attempt(client).time, 1s) << "later calls fail at once";
  }
  {
    Client client(settings_for(nowhere, {{"zookeeper.foregound.task.timeout", "300"}}));
    const auto [code, time, message] = attempt(client);
    EXPECT_EQ(code, "connection_loss");
    EXPECT_GE(time, 300ms);
    EXPECT_LE(time, 300ms + 2s);
    EXPECT_NE(message.find("none came within the 300 ms"), std::string::npos) << message;
  }
}

TEST(ConnectingTest, NameThatDoesNotResolve) {
  Client client(settings_for("no-such-host.invalid:2181", {{"zookeeper.foregound.task.timeout", "500"}}));
  const auto [code, time, message] = attempt(client);
  EXPECT_EQ(code, "connection_loss");
  EXPECT_LE(time, 500ms + 2s);
  EXPECT_FALSE(client.connected());
  EXPECT_TRUE(wait_until([&] { return client.last_problem().find("no-such-host.invalid") != std::string::npos; }))
      << client.last_problem();
}

// The ZooKeeper client itself writes a line for each attempt, many a second.
TEST(ConnectingTest, DeadServersWriteFewLines) {
  const std::uint16_t nobody = free_ports(1).front();
  std::vector<std::unique_ptr<TcpProxy>> proxies;
  std::string servers;
  for (int i = 0; i < 3; ++i) {
    proxies.push_back(std::make_unique<TcpProxy>(nobody));
    servers += (i == 0 ? "" : ",") + proxies.back()->connect_string();
  }
  std::mutex mutex;
  std::vector<std::string> lines;
  Client client(settings_for(servers), [&](std::string_view, std::string_view line) {
    const std::lock_guard guard(mutex);
    lines.emplace_back(line);
  });
  EXPECT_TRUE(wait_until(
      [&] {
        int attempts = 0;
        for (const auto& proxy : proxies) attempts += proxy->connections_accepted();
        return attempts >= 60;
      },
      60s));
  client.close();
  EXPECT_GE(lines.size(), 1u);
  EXPECT_LE(lines.size(), 12u) << ::testing::PrintToString(lines);
  for (const std::string& line : lines) EXPECT_EQ(line.find("ZOO_ERROR@"), std::string::npos) << line;
}

TEST(ConnectingTest, ServerComesLater) {
  TestServer server(quick_server());
  server.kill();
  Client client(settings_for(server.connect_string(), {{"zookeeper.connection.retry", "100"}}));
  BlockingWriteLock lock(client, "early", "P1");
  auto granted = std::async(std::launch::async, [&] { lock.lock_with_timeout(); });
  EXPECT_EQ(granted.wait_for(300ms), std::future_status::timeout);
  server.restart();
  ASSERT_EQ(granted.wait_for(20s), std::future_status::ready);
  EXPECT_NO_THROW(granted.get());
  EXPECT_TRUE(lock.healthy());
  // And after a while without it, too.
  lock.unlock();
  server.restart();
  EXPECT_TRUE(lock.try_lock_for(30s));
}

class AccessTest : public ::testing::Test {
 protected:
  AccessTest() {
    ServerOptions options = quick_server();
    options.enforce_quota = true;
    server_ = std::make_unique<TestServer>(options);
  }
  std::string credentials(const std::string& name) {
    const auto path = directory_.path() / name;
    std::ofstream(path) << name << ":secret\n";
    chmod(path.c_str(), 0600);
    return path.string();
  }
  Settings settings(const std::string& chroot, const std::string& user = "") {
    const std::string servers = server_->connect_string() + chroot;
    return user.empty() ? settings_for(servers)
                        : settings_for(servers, {{"zookeeper.auth.digest.file", credentials(user)}});
  }

  TemporaryDirectory directory_;
  std::unique_ptr<TestServer> server_;
};

TEST_F(AccessTest, CredentialsAndChroot) {
  Client owner(settings("/secure/deep", "owner"));  // made, with an ACL
  BlockingWriteLock lock(owner, "owner", "P1");
  lock.lock_with_timeout();
  for (const std::string user : {"", "stranger"}) {
    Client client(settings("/secure/deep", user));
    EXPECT_EQ(attempt(client).code, "not_authorized") << "user '" << user << "'";
  }
  Client stranger(settings("/secure/other", "stranger"));  // may not make its chroot
  const auto [code, time, message] = attempt(stranger);
  EXPECT_EQ(code, "not_authorized");
  EXPECT_LE(time, 10s);
  EXPECT_TRUE(lock.healthy());
  lock.unlock();
  Client again(settings("/secure/deep", "owner"));
  EXPECT_EQ(attempt(again).code, "nothing");
}

TEST_F(AccessTest, WhatWasRefusedAndIsPermittedNowIsForgotten) {
  TcpProxy proxy(server_->port());
  Client owner(settings("/kept", "owner"));
  EXPECT_EQ(attempt(owner).code, "nothing");
  Client stranger(
      settings_for(proxy.connect_string() + "/kept/other", {{"zookeeper.auth.digest.file", credentials("stranger")},
                                                            {"zookeeper.connection.retry", "3"},
                                                            {"zookeeper.connection.delay", "1500"}}));
  EXPECT_EQ(attempt(stranger).code, "not_authorized");
  BlockingWriteLock admin(owner, "make", "making");
  admin.lock_with_timeout();
  admin.write_guarded({CreateNode{"/other", ""}});
  ASSERT_TRUE(stranger.wait_connected(30s));
  proxy.refuse(true);
  proxy.cut_connections();
  ASSERT_TRUE(wait_until([&] { return !stranger.connected(); }));
  EXPECT_EQ(attempt(stranger).code, "connection_loss");
}

TEST_F(AccessTest, Quota) {
  Client client(settings("/limited"));
  EXPECT_EQ(attempt(client).code, "nothing");
  Client admin(settings(""));
  BlockingWriteLock lock(admin, "admin", "admin");
  lock.lock_with_timeout();
  // As `setquota -N` does it: nothing more below the chroot.
  lock.write_guarded(
      {CreateNode{"/zookeeper/quota/limited", ""},
       CreateNode{"/zookeeper/quota/limited/zookeeper_limits", "count=-1,bytes=-1=;byteHardLimit=-1;countHardLimit=1"},
       CreateNode{"/zookeeper/quota/limited/zookeeper_stats", "count=1,bytes=0"}});
  Client limited(settings("/limited"));
  EXPECT_EQ(attempt(limited).code, "quota_exceeded");
  EXPECT_TRUE(wait_until([&] { return limited.statistics().contenders == 0; }));
}

}  // namespace
}  // namespace forelock::test
