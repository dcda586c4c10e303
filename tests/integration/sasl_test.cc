// Locks with SASL's DIGEST-MD5, with a real ZooKeeper that has a JAAS file; and what goes wrong on the way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "integration/fixture.h"
#include "support/log_lines.h"
#include "support/sasl_setup.h"
#include "support/secure_server.h"
#include "support/session_killer.h"
#include "support/tcp_proxy.h"
#include "support/test_ensemble.h"
#include "support/wait_until.h"

namespace forelock::test {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Enforced = SaslSetup::Enforced;

SaslSetup& users() {
  static auto& only = *new SaslSetup;
  return only;
}

// Over TLS as well, and beside it without; it serves nobody who has not authenticated.
SecureServer& strict() {
  static auto& only = *new SecureServer(users().options(Enforced::yes, quick_server()));
  return only;
}

struct StopServer : ::testing::Environment {
  void SetUp() override { strict(); }
  void TearDown() override { strict().server().kill(); }
};
const auto* const stop = ::testing::AddGlobalTestEnvironment(new StopServer);

Settings sasl_settings(const std::string& servers, const std::string& user = "alice",
                       std::vector<Settings::Override> more = {}) {
  std::vector<Settings::Override> all = {{"zookeeper.sasl.mechanism", "DIGEST-MD5"},
                                         {"zookeeper.sasl.user", user == "wrong" ? "alice" : user},
                                         {"zookeeper.sasl.password.file", users().password_file(user).string()}};
  all.insert(all.end(), more.begin(), more.end());
  Settings settings = settings_for(servers);
  settings.set(all);
  return settings;
}

std::vector<Settings::Override> over_tls() {
  return {{"zookeeper.tls.ca.file", strict().authority().certificate()},
          {"zookeeper.tls.certificate.file", strict().client().certificate},
          {"zookeeper.tls.key.file", strict().client().key}};
}

struct Refusal {
  ErrorCode code = ErrorCode::internal;
  std::string message;
};

// What a client says that is not let in, with 60 s for the lock.
Refusal refusal(const Settings& settings, std::chrono::seconds at_most = 15s) {
  LogLines log;
  Client client(settings, log.sink());
  BlockingWriteLock lock(client, "refused", "P1");
  const auto begun = std::chrono::steady_clock::now();
  Refusal refusal;
  try {
    lock.lock_with_timeout();
    refusal.message = "locked";
  } catch (const Error& error) {
    refusal = {error.code(), error.what()};
  }
  EXPECT_LE(std::chrono::steady_clock::now() - begun, at_most);
  client.close();
  for (const std::string secret : {"wonder land", "hunter2", "can we fix it"}) {
    EXPECT_EQ((log.text() + refusal.message).find(secret), std::string::npos) << "a password in the log";
  }
  return refusal;
}

bool is_held(const std::string& monitor) {
  const std::vector<std::string> nodes = ephemeral_nodes(strict().server());
  return std::any_of(nodes.begin(), nodes.end(),
                     [&](const std::string& node) { return node.starts_with("/" + monitor + "/"); });
}

TEST(SaslTest, LocksWithAndWithoutTls) {
  TcpProxy proxy(strict().server().port());
  std::mutex mutex;
  std::string wire;
  proxy.set_filter([&](TcpProxy::Direction, std::string& bytes) {
    const std::lock_guard guard(mutex);
    wire += bytes;
  });
  LogLines log;
  for (const bool tls : {false, true}) {
    const std::string address = tls ? strict().address() : "localhost:" + std::to_string(proxy.port());
    Client client(sasl_settings(address, "alice", tls ? over_tls() : std::vector<Settings::Override>{}), log.sink());
    BlockingWriteLock lock(client, "test", "guarded");
    lock.lock_with_timeout();
    EXPECT_TRUE(lock.healthy());
    EXPECT_TRUE(is_held("guarded"));
    lock.unlock_or_throw();
    EXPECT_EQ(client.last_problem(), "");
  }
  EXPECT_THAT(log.text(), Not(HasSubstr("SASL")));
  const std::lock_guard guard(mutex);
  EXPECT_THAT(wire, AllOf(HasSubstr("digest-uri="), HasSubstr("guarded"), Not(HasSubstr("wonder land"))));
}

TEST(SaslTest, NobodyElseIsServed) {
  const Refusal none =
      refusal(settings_for(strict().server().connect_string(), {{"zookeeper.foregound.task.timeout", "2000"}}));
  EXPECT_NE(none.message, "locked");
}

// The nodes are for the user alone who has made them, and what one may do another may not.
TEST(SaslTest, UsersAreToldApart) {
  Client alice(sasl_settings(strict().server().connect_string()));
  Client bob(sasl_settings(strict().server().connect_string(), "bob"));
  BlockingWriteLock of_alice(alice, "test", "of-alice");
  of_alice.lock_with_timeout();
  BlockingWriteLock of_bob(bob, "test", "of-alice");
  try {
    of_bob.lock_with_timeout();
    FAIL() << "bob has a lock in alice's node";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::not_authorized) << error.what();
  }
  BlockingWriteLock own(bob, "test", "of-bob");
  own.lock_with_timeout();
  EXPECT_TRUE(own.healthy());
  EXPECT_TRUE(of_alice.healthy());
}

TEST(SaslTest, AWrongPasswordIsRefusedAtOnce) {
  const std::string plain = strict().server().connect_string();
  const Refusal wrong = refusal(sasl_settings(plain, "wrong"));
  EXPECT_EQ(wrong.code, ErrorCode::not_authorized) << wrong.message;
  EXPECT_THAT(wrong.message, AllOf(HasSubstr("SASL to " + plain), HasSubstr("refuses this client's credentials")));
  const Refusal stranger = refusal(sasl_settings(plain, "wrong", {{"zookeeper.sasl.user", "mallory"}}));
  EXPECT_EQ(stranger.code, ErrorCode::not_authorized) << stranger.message;
  std::vector<Settings::Override> tls = over_tls();
  const Refusal over = refusal(sasl_settings(strict().address(), "wrong", tls));
  EXPECT_EQ(over.code, ErrorCode::not_authorized) << over.message;
  // The same where the server would serve those who have not authenticated at all.
  TestServer lenient(users().options(Enforced::no, quick_server()));
  const Refusal also = refusal(sasl_settings(lenient.connect_string(), "wrong"));
  EXPECT_EQ(also.code, ErrorCode::not_authorized) << also.message;
}

// Each try makes a session on the server, and may be counted against the user.
TEST(SaslTest, AWrongPasswordIsNotTriedForEver) {
  TcpProxy proxy(strict().server().port());
  std::atomic<int> tries{0};
  proxy.set_inspector([&](int, TcpProxy::Direction direction, std::string& bytes) {
    if (direction == TcpProxy::Direction::to_server && bytes.find("digest-uri=") != std::string::npos) ++tries;
    return TcpProxy::Verdict{};
  });
  Client client(
      sasl_settings("localhost:" + std::to_string(proxy.port()), "wrong", {{"zookeeper.connection.delay", "250"}}));
  ASSERT_TRUE(wait_until([&] { return tries >= 4; }, 30s)) << "after a while the password may be right";
  const auto begun = std::chrono::steady_clock::now();
  ASSERT_TRUE(wait_until([&] { return tries >= 9; }, 60s));
  EXPECT_GE(std::chrono::steady_clock::now() - begun, 3s) << "tries are not becoming rarer";
}

// The file is read for each connection.
TEST(SaslTest, APasswordThatBecomesRight) {
  const std::filesystem::path file = users().folder() / "changing.password";
  std::ofstream(file) << "hunter2\n";
  ::chmod(file.c_str(), 0600);
  Client client(
      sasl_settings(strict().server().connect_string(), "alice",
                    {{"zookeeper.sasl.password.file", file.string()}, {"zookeeper.connection.delay", "100"}}));
  EXPECT_TRUE(wait_until([&] { return client.last_problem().find("refuses") != std::string::npos; }, 20s));
  std::ofstream(file) << "wonder land\n";
  EXPECT_TRUE(client.wait_connected(30s));
  EXPECT_EQ(client.last_problem(), "");
}

TEST(SaslTest, ThePasswordsFileIsForNobodyElse) {
  const std::filesystem::path file = users().folder() / "open.password";
  const auto problem = [&](const std::string& text, mode_t mode) -> std::string {
    std::ofstream(file) << text;
    ::chmod(file.c_str(), mode);
    try {
      const Client client(sasl_settings(strict().server().connect_string(), "alice",
                                        {{"zookeeper.sasl.password.file", file.string()}}));
      return "accepted";
    } catch (const ConfigurationException& refused) {
      return refused.what();
    }
  };
  EXPECT_THAT(problem("wonder land\n", 0644),
              AllOf(HasSubstr("can be accessed by others (mode 0644)"), HasSubstr("zookeeper.sasl.password.file"),
                    Not(HasSubstr("wonder"))));
  EXPECT_THAT(problem("wonder\nland\n", 0600), AllOf(HasSubstr("one line with a password"), Not(HasSubstr("wonder"))));
  EXPECT_THAT(problem("", 0600), HasSubstr("one line with a password"));
  std::filesystem::remove(file);
  EXPECT_EQ(problem("wonder land", 0600), "accepted");
  EXPECT_EQ(problem("wonder land\r\n", 0600), "accepted");
  Client client(
      sasl_settings(strict().server().connect_string(), "alice", {{"zookeeper.sasl.password.file", file.string()}}));
  EXPECT_TRUE(client.wait_connected(30s)) << client.last_problem();
}

TEST(SaslTest, TheRealmIsTheServers) {
  const std::string plain = strict().server().connect_string();
  Client client(sasl_settings(plain, "alice", {{"zookeeper.sasl.realm", "zk-sasl-md5"}}));
  EXPECT_TRUE(client.wait_connected(30s));
  const Refusal other = refusal(sasl_settings(plain, "alice", {{"zookeeper.sasl.realm", "EXAMPLE.COM"}}));
  EXPECT_EQ(other.code, ErrorCode::not_authorized);
  EXPECT_THAT(other.message, HasSubstr("does not offer the realm of zookeeper.sasl.realm"));
}

// The user and the server do not agree on how.
TEST(SaslTest, TheWrongMechanism) {
  Settings settings = settings_for("localhost:" + std::to_string(strict().server().port()));
  settings.set("zookeeper.sasl.mechanism", "GSSAPI");
  try {
    const Refusal wrong = refusal(settings);
    EXPECT_EQ(wrong.code, ErrorCode::not_authorized) << wrong.message;
    EXPECT_THAT(wrong.message, HasSubstr("SASL to localhost:"));
  } catch (const ConfigurationException& refused) {
    EXPECT_THAT(refused.what(), HasSubstr("libsasl2 has no GSSAPI on this machine"));
  }
}

TEST(SaslTest, AServerWithoutSasl) {
  TestServer none(quick_server());
  const Refusal refused =
      refusal(sasl_settings(none.connect_string(), "alice",
                            {{"zookeeper.session.timeout", "2000"}, {"zookeeper.foregound.task.timeout", "6000"}}));
  EXPECT_THAT(refused.message, AllOf(HasSubstr("SASL to " + none.connect_string()), HasSubstr("JAAS file")));
  EXPECT_TRUE(ephemeral_nodes(none).empty()) << "it has been used without authentication";
}

// A server that says nothing in the exchange holds up neither the end nor the next server.
TEST(SaslTest, AServerThatFallsSilentInTheExchange) {
  TcpProxy half(strict().server().port());
  std::atomic<bool> asked{false};
  half.set_inspector([&](int, TcpProxy::Direction direction, std::string& bytes) {
    if (direction == TcpProxy::Direction::to_client && bytes.find("nonce=") != std::string::npos) {
      asked = true;
      bytes.clear();
    }
    return TcpProxy::Verdict{};
  });
  const std::string silent = "127.0.0.1:" + std::to_string(half.port());
  {
    Client client(sasl_settings(silent, "alice", {{"zookeeper.session.timeout", "120000"}}));
    EXPECT_TRUE(wait_until([&] { return asked.load(); }));
    const auto begun = std::chrono::steady_clock::now();
    client.close();
    EXPECT_LE(std::chrono::steady_clock::now() - begun, 20s) << "the attempt itself has 80 s";
  }
  Client client(sasl_settings(silent + "," + strict().server().connect_string()));
  EXPECT_TRUE(client.wait_connected(30s));
}

// Who does not know the password cannot play the server: the last answer, which proves it, is changed on the way.
TEST(SaslTest, AServerThatDoesNotKnowThePassword) {
  TcpProxy proxy(strict().server().port());
  proxy.set_inspector([](int, TcpProxy::Direction direction, std::string& bytes) {
    const std::size_t proof = bytes.find("rspauth=");
    if (direction == TcpProxy::Direction::to_client && proof != std::string::npos) {
      char& digit = bytes.at(proof + 10);
      digit = digit == '0' ? '1' : '0';
    }
    return TcpProxy::Verdict{};
  });
  const Refusal refused = refusal(sasl_settings("localhost:" + std::to_string(proxy.port())));
  EXPECT_EQ(refused.code, ErrorCode::not_authorized) << refused.message;
  EXPECT_THAT(refused.message, HasSubstr("it has not shown that it knows the password"));
}

// Servers of other versions may say nothing; and one that ends the connection once may have been about to end itself.
TEST(SaslTest, AServerThatEndsTheConnectionInTheExchange) {
  for (const int most : {1, 1000}) {
    TcpProxy proxy(strict().server().port());
    std::atomic<int> cut{0};
    proxy.set_inspector([&](int, TcpProxy::Direction direction, std::string& bytes) {
      const bool now =
          direction == TcpProxy::Direction::to_server && cut < most && bytes.find("digest-uri=") != std::string::npos;
      if (now) ++cut;
      return TcpProxy::Verdict{.cut = now};
    });
    const Settings settings = sasl_settings("localhost:" + std::to_string(proxy.port()));
    if (most == 1) {
      Client client(settings);
      EXPECT_TRUE(client.wait_connected(30s)) << client.last_problem();
      EXPECT_EQ(cut, 1);
    } else {
      const Refusal refused = refusal(settings);
      EXPECT_EQ(refused.code, ErrorCode::not_authorized) << refused.message;
      EXPECT_THAT(refused.message, HasSubstr("it has ended the connection during DIGEST-MD5"));
    }
  }
}

// A session that was accepted once is tried until it is over; then there is a new one when the password fits again.
TEST(SaslTest, APasswordThatIsChangedOnTheServer) {
  const SaslSetup own;
  TestServer server(own.options(Enforced::yes, quick_server()));
  Client client(sasl_settings(server.connect_string(), "alice", {{"zookeeper.session.timeout", "2000"}}));
  BlockingWriteLock lock(client, "test", "changed");
  lock.lock_with_timeout();
  const std::int64_t session = client.session_id();
  own.change_password("looking glass");
  server.restart();
  ASSERT_TRUE(wait_until([&] { return client.last_problem().find("refuses") != std::string::npos; }, 30s));
  BlockingWriteLock more(client, "test", "more");
  try {
    more.lock_with_timeout();
    FAIL() << "locked";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::not_authorized) << error.what();
  }
  EXPECT_TRUE(wait_until([&] { return !lock.healthy() && client.statistics().sessions_expired == 1; }, 30s));
  EXPECT_TRUE(wait_until([&] { return ephemeral_nodes(server).empty(); }, 30s)) << "the session is kept alive";
  own.change_password("wonder land");
  server.restart();
  ASSERT_TRUE(client.wait_connected(60s)) << client.last_problem();
  EXPECT_NE(client.session_id(), session);
  more.lock_with_timeout();
  EXPECT_TRUE(more.healthy());
}

// Where SASL is enforced, who knows a session's id cannot end it; the session's own client, which could, is Forelock.
TEST(SaslTest, AStrangerEndsNoSession) {
  Client client(sasl_settings(strict().server().connect_string()));
  BlockingWriteLock lock(client, "test", "attacked");
  lock.lock_with_timeout();
  const std::int64_t session = client.session_id();
  ASSERT_TRUE(is_held("attacked"));
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(end_session("127.0.0.1", strict().server().port(), session));
    EXPECT_TRUE(is_held("attacked"));
  }
  // It may have been disconnected each time, and comes back.
  EXPECT_TRUE(wait_until([&] { return client.connected() && lock.healthy(); }, 30s));
  EXPECT_EQ(client.session_id(), session);
  EXPECT_EQ(client.statistics().sessions_expired, 0U);
  lock.unlock_or_throw();

  // What is refused above is the attack itself: it succeeds where SASL is possible, but not enforced.
  TestServer lenient(users().options(Enforced::no, quick_server()));
  Client victim(sasl_settings(lenient.connect_string()));
  ASSERT_TRUE(victim.wait_connected(30s));
  EXPECT_TRUE(end_session("127.0.0.1", lenient.port(), victim.session_id()));
}

// Each server is restarted while the lock is in use: the client authenticates again, and keeps its session.
TEST(SaslTest, AnEnsembleIsRestartedServerByServer) {
  TestEnsemble ensemble(users().options(Enforced::yes, quick_server()));
  Client client(sasl_settings(ensemble.connect_string(), "alice", {{"zookeeper.session.timeout", "20000"}}));
  Client other(sasl_settings(ensemble.connect_string(), "bob", {{"zookeeper.session.timeout", "20000"}}));
  BlockingWriteLock lock(client, "test", "rolling");
  lock.lock_with_timeout();
  const std::int64_t session = client.session_id();
  for (std::size_t i = 0; i < TestEnsemble::size; ++i) {
    ensemble.server(i).restart();
    ASSERT_TRUE(ensemble.wait_until_serving());
    ASSERT_TRUE(wait_until([&] { return client.connected() && other.connected(); }, 60s)) << client.last_problem();
    BlockingWriteLock more(client, "test", "more-" + std::to_string(i));
    more.lock_with_timeout();
    more.unlock_or_throw();
  }
  EXPECT_GE(client.statistics().disconnections, 1U) << "its server was not among them";
  EXPECT_EQ(client.session_id(), session);
  EXPECT_TRUE(lock.healthy());
  lock.unlock_or_throw();
}

// Which shows that they share what the library keeps.
TEST(SaslTest, ManyClientsOfOneProcessAtOnce) {
  std::atomic<int> connected{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 3; ++round) {
        Client client(sasl_settings(strict().server().connect_string(), i % 2 == 0 ? "alice" : "bob"));
        if (client.wait_connected(60s)) ++connected;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(connected, 48);
}

}  // namespace
}  // namespace forelock::test
