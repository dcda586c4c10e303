// Locks over mutual TLS, with a real ZooKeeper; and what goes wrong on the way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "contract/recorder.h"
#include "integration/fixture.h"
#include "support/certificates.h"
#include "support/log_lines.h"
#include "support/openssl_server.h"
#include "support/secure_server.h"
#include "support/session_killer.h"
#include "support/tcp_proxy.h"
#include "support/temporary_directory.h"
#include "support/text_of.h"
#include "support/wait_until.h"
#include "zookeeper/zookeeper_session.h"

namespace forelock::test {
namespace {

using namespace std::chrono_literals;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Direction = TcpProxy::Direction;

SecureServer& secure() {
  static auto& only = *new SecureServer(quick_server());
  return only;
}

struct StopSecureServer : ::testing::Environment {
  void SetUp() override { secure(); }
  void TearDown() override { secure().server().kill(); }
};
const auto* const stop = ::testing::AddGlobalTestEnvironment(new StopSecureServer);

Settings tls_settings(const std::string& servers, std::vector<Settings::Override> more = {}) {
  std::vector<Settings::Override> all = {{"zookeeper.tls.ca.file", secure().authority().certificate()},
                                         {"zookeeper.tls.certificate.file", secure().client().certificate},
                                         {"zookeeper.tls.key.file", secure().client().key}};
  all.insert(all.end(), more.begin(), more.end());
  Settings settings = settings_for(servers);
  settings.set(all);
  return settings;
}

// What a client says that gets no connection in this time.
std::string refusal(const Settings& settings) {
  Settings short_lived = settings;
  short_lived.set("zookeeper.foregound.task.timeout", "2000");
  Client client(short_lived);
  BlockingWriteLock lock(client, "refused", "P1");
  const auto begun = std::chrono::steady_clock::now();
  std::string message;
  try {
    lock.lock_with_timeout();
    message = "locked";
  } catch (const Error& error) {
    message = error.what();
  }
  EXPECT_LE(std::chrono::steady_clock::now() - begun, 10s) << "the deadline was 2 s";
  return message + "\n" + client.last_problem();
}

TEST(TlsTest, LocksOverMutualTls) {
  TcpProxy proxy(secure().port());
  std::mutex mutex;
  std::string wire;
  proxy.set_filter([&](Direction, std::string& bytes) {
    const std::lock_guard guard(mutex);
    wire += bytes;
  });
  for (const std::string host : {"localhost", "127.0.0.1"}) {
    LogLines log;
    Client client(tls_settings(host + ":" + std::to_string(proxy.port())), log.sink());
    BlockingWriteLock lock(client, "test", "a-monitor-name");
    lock.lock_with_timeout();
    EXPECT_TRUE(lock.healthy());
    lock.unlock();
    EXPECT_EQ(client.last_problem(), "");
    client.close();
    EXPECT_THAT(log.text(), Not(HasSubstr("TLS")));
  }
  const std::lock_guard guard(mutex);
  EXPECT_GT(wire.size(), 2000U);
  EXPECT_EQ(wire.find("a-monitor"), std::string::npos) << "plain text on the wire";
  EXPECT_EQ(wire.find("privateLock"), std::string::npos) << "plain text on the wire";
}

TEST(TlsTest, AServerWithoutAName) {
  ServerOptions options = quick_server();
  options.listen_address = "::1";
  SecureServer server(options);
  const std::vector<Settings::Override> shown = {{"zookeeper.tls.ca.file", server.authority().certificate()},
                                                 {"zookeeper.tls.certificate.file", server.client().certificate},
                                                 {"zookeeper.tls.key.file", server.client().key}};
  for (const std::string host : {"[::1]", "[0:0:0:0:0:0:0:1]"}) {
    Client client(tls_settings(server.address(host), shown));
    ASSERT_TRUE(client.wait_connected(30s)) << client.last_problem();
    BlockingWriteLock lock(client, "test", "addressed");
    lock.lock_with_timeout();
    EXPECT_TRUE(lock.healthy());
  }
  Settings other = tls_settings(server.address("[::1]"), shown);
  other.set("zookeeper.tls.server.names", "::2");
  EXPECT_THAT(refusal(other),
              AllOf(HasSubstr("TLS to [::1]:" + std::to_string(server.port())), HasSubstr("not for ::2")));
}

TEST(TlsTest, ManyRequestsAtOnce) {
  Client client(tls_settings(secure().address()));
  std::vector<std::unique_ptr<AsyncWriteLock>> locks;
  std::atomic<int> held{0};
  for (int i = 0; i < 1000; ++i) {
    locks.push_back(std::make_unique<AsyncWriteLock>(client, "test", "many-" + std::to_string(i)));
    locks.back()->acquire(60s, [&](const std::exception_ptr& error) { held += error ? 0 : 1; });
  }
  EXPECT_TRUE(wait_until([&] { return held == 1000; }, 60s)) << held;
  locks.clear();
  EXPECT_EQ(client.statistics().disconnections, 0U);
}

TEST(TlsTest, TheClientNeedsACertificate) {
  Settings none = settings_for(secure().address());
  none.set("zookeeper.tls.ca.file", secure().authority().certificate().string());
  EXPECT_THAT(refusal(none), HasSubstr("refuses this client"));
  const Authority other(secure().folder(), "stranger");
  const Identity stranger = other.issue("stranger", {});
  EXPECT_THAT(refusal(tls_settings(secure().address(), {{"zookeeper.tls.certificate.file", stranger.certificate},
                                                        {"zookeeper.tls.key.file", stranger.key}})),
              HasSubstr("refuses this client"));
}

// The server trusts the one above alone: what is between has to come with the certificate.
TEST(TlsTest, AnAuthorityBetween) {
  const Authority between(secure().folder(), "between", secure().authority());
  const Identity own = between.issue("own", {});
  const std::vector<Settings::Override> shown = {{"zookeeper.tls.certificate.file", own.certificate},
                                                 {"zookeeper.tls.key.file", own.key}};
  EXPECT_THAT(refusal(tls_settings(secure().address(), shown)), HasSubstr("refuses this client"));
  std::ofstream(own.certificate, std::ios::app) << text_of(between.certificate());
  Client client(tls_settings(secure().address(), shown));
  EXPECT_TRUE(client.wait_connected(30s)) << client.last_problem();
}

// Where the port without TLS is closed a session's id is not enough to end it; a certificate still is.
TEST(TlsTest, WhoShowsNoCertificateEndsNoSession) {
  const auto attack = [](const Identity* shown) {
    const auto text = [](const std::filesystem::path& file) {
      std::ifstream stream(file);
      return std::string(std::istreambuf_iterator<char>(stream), {});
    };
    zookeeper::TlsFiles files{.authorities = text(secure().authority().certificate())};
    if (shown != nullptr) {
      files.certificate = text(shown->certificate);
      files.key = text(shown->key);
    }
    return zookeeper::TlsContext({.read = [files] { return files; }, .server_names = {}});
  };
  const zookeeper::TlsContext nameless = attack(nullptr);
  const Authority other(secure().folder(), "intruder");
  const Identity intruder = other.issue("intruder", {});
  const zookeeper::TlsContext foreign = attack(&intruder);
  const zookeeper::TlsContext accepted = attack(&secure().client());

  Client client(tls_settings(secure().address()));
  BlockingWriteLock lock(client, "test", "attacked");
  lock.lock_with_timeout();
  const std::int64_t session = client.session_id();
  const auto held = [] {
    const std::vector<std::string> nodes = ephemeral_nodes(secure().server());
    return std::any_of(nodes.begin(), nodes.end(),
                       [](const std::string& node) { return node.starts_with("/attacked"); });
  };
  ASSERT_TRUE(held());
  for (const zookeeper::TlsContext* tls : {static_cast<const zookeeper::TlsContext*>(nullptr), &nameless, &foreign}) {
    EXPECT_FALSE(end_session("127.0.0.1", secure().port(), session, tls));
    EXPECT_TRUE(held());
  }
  EXPECT_TRUE(lock.healthy());
  EXPECT_EQ(client.statistics().disconnections, 0U) << "not even the connection was touched";
  lock.unlock_or_throw();

  // What is refused above is the attack itself: it succeeds with a certificate, and at the port without TLS.
  EXPECT_TRUE(end_session("127.0.0.1", secure().port(), session, &accepted));
  Client again(tls_settings(secure().address()));
  ASSERT_TRUE(again.wait_connected(30s));
  EXPECT_TRUE(end_session("127.0.0.1", secure().server().port(), again.session_id()));
}

TEST(TlsTest, TheWrongAuthorityOrName) {
  const Authority other(secure().folder(), "other");
  EXPECT_THAT(refusal(tls_settings(secure().address(), {{"zookeeper.tls.ca.file", other.certificate()}})),
              HasSubstr("a certificate of no authority in the file of zookeeper.tls.ca.file"));
  EXPECT_THAT(refusal(tls_settings(secure().address(), {{"zookeeper.tls.server.names", "zk1.example"}})),
              HasSubstr("TLS to localhost:" + std::to_string(secure().port()) +
                        " (127.0.0.1): it shows a certificate for localhost, 127.0.0.1, ::1, not for zk1.example"));
  EXPECT_THAT(refusal(tls_settings(secure().address(), {{"zookeeper.tls.min.version", "1.3"}})),
              HasSubstr("it speaks no TLS version that zookeeper.tls.min.version allows"));
}

TEST(TlsTest, APortOfTheOtherKind) {
  TcpProxy plain(secure().server().port());
  std::mutex mutex;
  std::map<int, std::string> sent;  // by connection
  plain.set_inspector([&](int connection, Direction direction, std::string& bytes) {
    const std::lock_guard guard(mutex);
    if (direction == Direction::to_server) sent[connection] += bytes;
    return TcpProxy::Verdict{};
  });
  EXPECT_THAT(refusal(tls_settings("localhost:" + std::to_string(plain.port()))), HasSubstr("is this its TLS port"));
  {
    const std::lock_guard guard(mutex);
    EXPECT_GE(sent.size(), 2U) << "the session, and who looks why it has none";
    for (const auto& [connection, bytes] : sent) EXPECT_EQ(bytes.substr(0, 2), "\x16\x03") << "no TLS handshake";
  }
  EXPECT_THAT(refusal(settings_for(secure().address())), HasSubstr("is this a port for TLS?"));
}

// The handshake has the same time as the rest of the connection, and holds up neither the next server nor the end.
TEST(TlsTest, AServerThatFallsSilentInTheHandshake) {
  for (const std::size_t passed : {0U, 300U}) {
    TcpProxy half(secure().port());
    std::atomic<std::size_t> count{0};
    half.set_filter([&](Direction direction, std::string& bytes) {
      if (direction != Direction::to_client) return;
      const std::size_t before = count.fetch_add(bytes.size());
      bytes.resize(std::min(bytes.size(), passed - std::min(passed, before)));
    });
    const std::string silent = "localhost:" + std::to_string(half.port());
    {
      Client client(tls_settings(silent, {{"zookeeper.session.timeout", "120000"}}));
      EXPECT_TRUE(wait_until([&] { return count > 0; }));
      const auto begun = std::chrono::steady_clock::now();
      client.close();
      EXPECT_LE(std::chrono::steady_clock::now() - begun, 20s) << "the attempt itself has 80 s";
    }
    const int before = half.connections_accepted();
    for (int i = 0; i < 100 && half.connections_accepted() == before; ++i) {  // it begins with either
      Client client(tls_settings(silent + "," + secure().address(), {{"zookeeper.session.timeout", "2000"}}));
      EXPECT_TRUE(client.wait_connected(30s)) << client.last_problem();
    }
    EXPECT_GT(half.connections_accepted(), before);
    EXPECT_THAT(refusal(tls_settings(silent, {{"zookeeper.session.timeout", "2000"}})),
                HasSubstr("has not answered the TLS handshake"));
  }
}

TEST(TlsTest, MoreDescriptorsThanSelectTakes) {
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  ASSERT_GE(limit.rlim_max, 4096U);
  rlimit raised = limit;
  raised.rlim_cur = 4096;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &raised), 0);
  std::vector<int> open;
  while (open.size() < 2000) open.push_back(dup(STDERR_FILENO));
  ASSERT_GT(open.back(), 1024);
  {
    Client client(tls_settings(secure().address()));
    BlockingWriteLock lock(client, "test", "descriptors");
    lock.lock_with_timeout();
    EXPECT_TRUE(lock.healthy());
  }
  for (const int descriptor : open) close(descriptor);
  setrlimit(RLIMIT_NOFILE, &limit);
}

TEST(TlsTest, SecretsAreClosedToOthers) {
  const Identity locked = secure().authority().issue("locked", {.password = "open sesame"});
  const std::filesystem::path password = secure().folder() / "password";
  std::ofstream(password) << "open sesame\n";
  const auto settings = [&] {
    return tls_settings(secure().address(), {{"zookeeper.tls.certificate.file", locked.certificate},
                                             {"zookeeper.tls.key.file", locked.key},
                                             {"zookeeper.tls.key.password.file", password}});
  };
  const auto said = [&] {
    LogLines log;
    try {
      Client client(settings(), log.sink());
      EXPECT_TRUE(client.wait_connected(30s)) << client.last_problem();
    } catch (const ConfigurationException& refused) {
      return refused.what() + log.text();
    }
    return "connected" + log.text();
  };
  using std::filesystem::perms;
  std::filesystem::permissions(password, perms(0644));
  EXPECT_THAT(said(), HasSubstr("can be accessed by others (mode 0644)"));
  std::filesystem::permissions(password, perms(0600));
  EXPECT_EQ(said(), "connected");
  std::ofstream(password) << "open sesame\r\n";
  EXPECT_EQ(said(), "connected");
  std::filesystem::permissions(locked.key, perms(0640));
  EXPECT_THAT(said(), HasSubstr("zookeeper.tls.key.file"));
  std::filesystem::permissions(locked.key, perms(0600));
  std::ofstream(password) << "close sesame\n";
  EXPECT_THAT(said(), AllOf(HasSubstr("cannot be read with the password"), Not(HasSubstr("sesame"))));
  for (const std::string text : {"", "\n", "open sesame\nopen sesame\n"}) {
    std::ofstream(password) << text;
    EXPECT_THAT(said(), AllOf(HasSubstr("zookeeper.tls.key.password.file"), HasSubstr("one line with a password"),
                              Not(HasSubstr("sesame"))));
  }
}

// Which certificate was shown can be read on the wire: the server speaks TLS 1.2.
TEST(TlsTest, CertificatesAreReplacedUnderLoad) {
  TcpProxy proxy(secure().port());
  std::atomic<bool> second_seen{false};
  proxy.set_filter([&](Direction direction, std::string& bytes) {
    if (direction == Direction::to_server && bytes.find("rotated-two") != std::string::npos) second_seen = true;
  });
  Identity first = secure().authority().issue("rotated-one", {});
  Client client(
      tls_settings("localhost:" + std::to_string(proxy.port()), {{"zookeeper.session.timeout", "20000"},
                                                                 {"zookeeper.tls.certificate.file", first.certificate},
                                                                 {"zookeeper.tls.key.file", first.key}}));
  std::atomic<bool> over{false};
  std::atomic<int> sections{0};
  std::thread load([&] {
    BlockingWriteLock lock(client, "load", "rotated");
    while (!over) {
      lock.lock_with_timeout();
      lock.unlock();
      ++sections;
    }
  });
  EXPECT_TRUE(wait_until([&] { return sections > 20; }));
  const Identity second = secure().authority().issue("rotated-two", {});
  std::filesystem::rename(second.key, first.key);
  std::filesystem::rename(second.certificate, first.certificate);
  proxy.cut_connections();
  const int before = sections;
  EXPECT_TRUE(wait_until([&] { return second_seen && sections > before + 20; }, 40s));
  over = true;
  load.join();
  EXPECT_EQ(client.statistics().sessions_expired, 0U);
  EXPECT_GE(client.statistics().disconnections, 1U);
}

// The files as they are count, also while there is a connection that was made with others. None of them is waited for.
TEST(TlsTest, FilesThatAreSpoiledEndTheNextAttempt) {
  TcpProxy proxy(secure().port());
  const Identity own = secure().authority().issue("spoiled", {});
  const std::filesystem::path list = secure().authority().revoke({});
  Client client(
      tls_settings("localhost:" + std::to_string(proxy.port()), {{"zookeeper.session.timeout", "20000"},
                                                                 {"zookeeper.tls.certificate.file", own.certificate},
                                                                 {"zookeeper.tls.key.file", own.key},
                                                                 {"zookeeper.tls.crl.file", list},
                                                                 {"zookeeper.connection.delay", "100"}}));
  using std::filesystem::permissions;
  using std::filesystem::perms;
  struct Way {
    std::filesystem::path file;
    std::function<void(const std::filesystem::path&)> spoil;
    std::string said;
  };
  const auto make_pipe = [](const std::filesystem::path& file) { ASSERT_EQ(mkfifo(file.c_str(), 0600), 0); };
  const auto write_half = [](const std::filesystem::path& file) {
    std::ofstream(file) << "-----BEGIN PRIVATE KEY-----\nMIGH";
    permissions(file, perms(0600));
  };
  const auto open_to_all = [](const std::filesystem::path& file) {
    std::filesystem::copy_file(file.string() + ".away", file);
    permissions(file, perms(0644));
  };
  const auto write_nothing = [](const std::filesystem::path& file) { std::ofstream(file, std::ios::app).flush(); };
  // A list that is empty must not mean that nobody is revoked.
  for (const Way& way :
       {Way{list, write_nothing, "is empty"}, Way{own.certificate, write_nothing, "is empty"},
        Way{own.key, [](const std::filesystem::path&) {}, "No such file"},
        Way{own.key, open_to_all, "can be accessed by others"}, Way{own.key, write_half, "has no private key in PEM"},
        Way{own.key, make_pipe, "is not a regular file"}, Way{own.certificate, make_pipe, "is not a regular file"},
        Way{own.certificate, write_half, "TLS to localhost"}}) {
    ASSERT_TRUE(client.wait_connected(30s)) << client.last_problem();
    const std::filesystem::path away = way.file.string() + ".away";
    std::filesystem::rename(way.file, away);
    way.spoil(way.file);
    proxy.cut_connections();
    EXPECT_TRUE(wait_until([&] { return client.last_problem().find(way.said) != std::string::npos; }))
        << way.said << ": " << client.last_problem();
    std::filesystem::rename(away, way.file);
  }
  EXPECT_TRUE(client.wait_connected(30s)) << client.last_problem();
  EXPECT_EQ(client.statistics().sessions_expired, 0U);
}

// Of a server that has moved the C client tries the old address once more; another server may have it by then.
TEST(TlsTest, AnOldAddressIsHeldToItsName) {
  TcpProxy first(secure().port());
  const OpensslServer other(secure().folder(), secure().authority().issue("other", {.names = "IP:127.0.0.2"}));
  // Two: the C client goes on by two, and would otherwise begin with the one that it has lost.
  TcpProxy old(other.port(), "127.0.0.2");
  TcpProxy also_old(other.port(), "127.0.0.2");
  std::atomic<bool> has_moved{false};
  zookeeper::SessionOptions options;
  options.session_timeout = 30s;
  options.servers = "localhost:" + std::to_string(first.port()) + ",zk2.example:" + std::to_string(old.port()) +
                    ",zk2.example:" + std::to_string(also_old.port());
  options.resolver = [&](const std::string& host) {
    if (host == "localhost") return zookeeper::HostAddresses{{"127.0.0.1"}, ""};
    return zookeeper::HostAddresses{{has_moved ? "127.0.0.3" : "127.0.0.2"}, ""};
  };
  options.tls = std::make_shared<const zookeeper::TlsContext>(client_tls(secure().authority(), secure().client()));
  contract::Recorder recorder;
  zookeeper::ZooKeeperSession session(options, recorder);
  session.start();
  const auto connected = [&] { return recorder.count(coordination::SessionEvent::Kind::connected) > 0; };
  ASSERT_TRUE(wait_until(connected, 30s));
  has_moved = true;
  EXPECT_EQ(session.refresh_servers(), zookeeper::RefreshResult::deferred);
  first.refuse(true);
  first.cut_connections();
  const auto problem = [&] {
    const auto known = session.last_problem();
    return known ? known->message : "none";
  };
  EXPECT_TRUE(wait_until([&] { return problem() != "none"; }, 30s));
  EXPECT_THAT(problem(), HasSubstr("(127.0.0.2): it shows a certificate for 127.0.0.2, not for zk2.example"));
}

}  // namespace
}  // namespace forelock::test
