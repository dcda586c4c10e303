// Which servers: names, addresses, chroots, and looking at them without a session.
#include "support/free_port.h"
#include "zookeeper/connect_string.h"
#include "zookeeper/host_resolver.h"
#include "zookeeper/name_lookup.h"
#include "zookeeper/probe.h"
#include "zookeeper_fixture.h"

namespace forelock::zookeeper {
namespace {

using namespace coordination;
using Kind = SessionEvent::Kind;

TEST(ConnectStringTest, ReadsHostsPortsAndChroot) {
  const ConnectString simple = parse_connect_string("zk1:2182, zk2 ,[::1]:99,,[fe80::1]/a/b/");
  EXPECT_EQ(simple.servers, (std::vector<ServerName>{{"zk1", 2182}, {"zk2", 2181}, {"::1", 99}, {"fe80::1", 2181}}));
  EXPECT_EQ(simple.chroot, "/a/b");
  EXPECT_EQ(parse_connect_string("zk1/").chroot, "");
  EXPECT_EQ(to_string(simple.servers[2]), "[::1]:99");
}

TEST(ConnectStringTest, SaysWhatIsWrong) {
  for (const char* text : {"", ",", "/only", ":2181", "zk:", "zk:0", "zk:65536", "zk:12x", "::1", "[::1", "[::1]x",
                           "zk//a", "zk/a/../b", "z k:1"}) {
    EXPECT_THROW(parse_connect_string(text), ConnectStringError) << text;
  }
}

TEST_F(ZooKeeperTest, NoHostResolves) {
  SessionOptions settings = options();
  settings.servers = "no-such-host.invalid:2181,neither.invalid";
  Connection connection(settings);
  try {
    connection.session.start();
    FAIL() << "started";
  } catch (const NoServerAddress& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("no-such-host.invalid: "), std::string::npos) << message;
    EXPECT_NE(message.find("neither.invalid: "), std::string::npos) << message;
    EXPECT_NE(message.find("check the host names"), std::string::npos) << message;
  }
}

TEST_F(ZooKeeperTest, OneBadHostAmongSeveralIsTolerated) {
  SessionOptions settings = options();
  settings.servers = "no-such-host.invalid:2181," + proxy_.connect_string();
  auto connection = connect(settings);
  EXPECT_TRUE(connection->ask(Exists{"/"}).ok());
}

TEST_F(ZooKeeperTest, NamesAreResolvedBeforeTheClientSeesThem) {
  std::atomic<int> asked{0};
  SessionOptions settings = options();
  settings.servers = "only-we-know:" + std::to_string(proxy_.port());
  settings.resolver = [&](const std::string& host) {
    ++asked;
    EXPECT_EQ(host, "only-we-know");
    return HostAddresses{{"127.0.0.1"}, ""};
  };
  auto connection = connect(settings);
  for (std::size_t round = 2; round < 4; ++round) {
    proxy_.cut_connections();
    EXPECT_TRUE(connection->wait_for(Kind::connected, round));
  }
  EXPECT_EQ(asked, 1);
}

TEST_F(ZooKeeperTest, NewAddressesAreUsedWhenTheOldOnesFail) {
  test::TcpProxy moved(server().port(), "127.0.0.2");  // the C client looks at addresses only, not at ports
  std::atomic<bool> has_moved{false};
  SessionOptions settings = options();
  settings.session_timeout = std::chrono::seconds(30);
  settings.servers = "old:" + std::to_string(proxy_.port()) + ",new:" + std::to_string(moved.port());
  settings.resolver = [&](const std::string& host) {
    if ((host == "new") != has_moved) return HostAddresses{{}, "not known"};
    return HostAddresses{{has_moved ? "127.0.0.2" : "127.0.0.1"}, ""};
  };
  auto connection = connect(settings);
  EXPECT_EQ(connection->session.refresh_servers(), RefreshResult::unchanged);
  has_moved = true;
  EXPECT_EQ(connection->session.refresh_servers(), RefreshResult::deferred);
  EXPECT_TRUE(connection->ask(Exists{"/"}).ok());

  proxy_.refuse(true);
  proxy_.cut_connections();
  ASSERT_TRUE(connection->wait_for(Kind::connected, 2));
  EXPECT_EQ(moved.connections_accepted(), 1);
  EXPECT_EQ(connection->session.refresh_servers(), RefreshResult::unchanged);
  EXPECT_TRUE(connection->ask(Exists{"/"}).ok());
  EXPECT_EQ(connection->recorder.session_events().front().session,
            connection->recorder.session_events().back().session);
}

// Between two attempts the C client passes two addresses: of an even number it would try one half only.
TEST_F(ZooKeeperTest, AReachableServerIsFoundBesideDeadOnes) {
  for (const int dead : {1, 3, 2}) {
    std::vector<std::unique_ptr<test::TcpProxy>> others;
    SessionOptions settings = options();
    settings.session_timeout = std::chrono::seconds(30);
    for (int i = 0; i < dead; ++i) {
      others.push_back(std::make_unique<test::TcpProxy>(server().port()));
      others.back()->refuse(true);
      settings.servers += "," + others.back()->connect_string();
    }
    auto connection = connect(settings);
    for (std::size_t round = 2; round < 6; ++round) {
      proxy_.cut_connections();
      ASSERT_TRUE(connection->wait_for(Kind::connected, round)) << dead << " dead";
    }
  }
}

TEST_F(ZooKeeperTest, AFailingNameServiceChangesNothing) {
  std::atomic<bool> down{false};
  SessionOptions settings = options();
  settings.servers = "named:" + std::to_string(proxy_.port());
  settings.resolver = [&](const std::string&) {
    return down ? HostAddresses{{}, "down"} : HostAddresses{{"127.0.0.1"}, ""};
  };
  auto connection = connect(settings);
  down = true;
  EXPECT_EQ(connection->session.refresh_servers(), RefreshResult::failed);
  proxy_.cut_connections();
  EXPECT_TRUE(connection->wait_for(Kind::connected, 2));
}

// One that never answers; it is told to at the end of the test.
class SilentNames {
 public:
  ~SilentNames() { end_.set_value(); }
  HostResolver resolver() {
    return [end = ended_, asked = asked_](const std::string&) {
      ++*asked;
      end.wait();
      return HostAddresses{{}, "too late"};
    };
  }
  int asked() const { return *asked_; }

 private:
  std::promise<void> end_;
  std::shared_future<void> ended_ = end_.get_future().share();
  std::shared_ptr<std::atomic<int>> asked_ = std::make_shared<std::atomic<int>>(0);
};

TEST_F(ZooKeeperTest, ASilentNameBesideAnAddressCostsNothing) {
  SilentNames names;
  SessionOptions settings = options();
  settings.resolver = names.resolver();
  settings.servers = "silent:2181," + proxy_.connect_string();
  auto connection = connect(settings);
  EXPECT_TRUE(connection->ask(Exists{"/"}).ok());
  EXPECT_EQ(connection->session.refresh_servers(), RefreshResult::unchanged);
  EXPECT_EQ(names.asked(), 1) << "asked again while it has not answered";
}

TEST_F(ZooKeeperTest, ASilentNameServiceIsSaidToBeSilent) {
  SilentNames names;
  SessionOptions settings = options();
  settings.resolver = names.resolver();
  settings.servers = "silent:2181";
  Connection connection(settings);
  for (int attempt = 0; attempt < 2; ++attempt) {
    try {
      connection.session.start();
      FAIL() << "started";
    } catch (const NoServerAddress& error) {
      EXPECT_NE(std::string(error.what()).find("silent: the name service has not answered yet"), std::string::npos)
          << error.what();
    }
  }
  EXPECT_EQ(names.asked(), 1);
}

TEST(NameLookupTest, AnAddressIsKnownUntilThereIsAnother) {
  HostAddresses answer{{"127.0.0.1"}, ""};
  NameLookup lookup({{"named", 2181}}, [&](const std::string&) { return answer; });
  const auto look_up = [&] {
    lookup.begin();
    lookup.wait(std::chrono::seconds(30));
    return lookup.latest().at(0).addresses;
  };
  EXPECT_EQ(look_up().numeric, std::vector<std::string>{"127.0.0.1"});
  answer = {{}, "down"};
  const HostAddresses kept = look_up();
  EXPECT_EQ(kept.numeric, std::vector<std::string>{"127.0.0.1"});
  EXPECT_EQ(kept.error, "down");
  answer = {{"127.0.0.2"}, ""};
  const HostAddresses moved = look_up();
  EXPECT_EQ(moved.numeric, std::vector<std::string>{"127.0.0.2"});
  EXPECT_EQ(moved.error, "");
}

TEST(NameLookupTest, CancellingEndsTheWaiting) {
  SilentNames names;
  NameLookup lookup({{"silent", 2181}}, names.resolver());
  lookup.begin();
  auto waiting = std::async(std::launch::async, [&] { lookup.wait(std::chrono::hours(1)); });
  lookup.cancel();
  EXPECT_EQ(waiting.wait_for(std::chrono::seconds(30)), std::future_status::ready);
}

TEST_F(ZooKeeperTest, AMissingChrootIsCreated) {
  const std::string chroot = own("chroot") + "/below/it";
  auto inside = connect(options(chroot));
  EXPECT_TRUE(inside->ask(Create{"/P", "x"}).ok());
  EXPECT_TRUE(inside->ask(List{"/"}).children == std::vector<std::string>{"P"});
  auto outside = connect();
  outside->send(Sync{"/"});
  EXPECT_EQ(outside->ask(Get{chroot + "/P"}).data, "x");
  auto again = connect(options(chroot));
  EXPECT_EQ(again->ask(Get{"/P"}).data, "x");
  // Watch events speak of the namespace's paths, the root included.
  ASSERT_TRUE(again->ask(List{"/", true}).ok());
  ASSERT_TRUE(again->ask(Create{"/Q", ""}).ok());
  ASSERT_EQ(again->recorder.watches().size(), 1u);
  EXPECT_EQ(again->recorder.watches()[0].path, "/");
}

TEST_F(ZooKeeperTest, AChrootThatCannotBeCreatedIsAProblemUntilItIsThere) {
  SessionOptions settings = options();
  settings.credential = "owner:secret";
  settings.acl.kind = AclPolicy::Kind::creator_all;
  auto owner = connect(settings);
  ASSERT_TRUE(owner->ask(Create{own("closed"), ""}).ok());

  Connection stranger(options(own("closed") + "/namespace"));
  stranger.session.start();
  ASSERT_TRUE(test::wait_until([&] { return stranger.session.last_problem().has_value(); }));
  EXPECT_EQ(stranger.session.last_problem()->code, ReplyCode::no_auth);
  EXPECT_NE(stranger.session.last_problem()->message.find(own("closed") + "/namespace"), std::string::npos);
  EXPECT_TRUE(stranger.recorder.session_events().empty());
  EXPECT_EQ(stranger.ask(Exists{"/"}).code, ReplyCode::connection_loss);

  ASSERT_TRUE(owner->ask(Create{own("closed") + "/namespace", ""}).ok());
  ASSERT_TRUE(stranger.wait_for(Kind::connected));
  EXPECT_EQ(stranger.session.last_problem(), std::nullopt);
  EXPECT_TRUE(stranger.ask(Exists{"/"}).ok());
}

TEST_F(ZooKeeperTest, SpeaksIpv6) {
  if (!probe_connection("::1", 1, std::chrono::seconds(1)).error.starts_with("Connection refused")) {
    GTEST_SKIP() << "no IPv6 on this machine";
  }
  test::ServerOptions settings;
  settings.listen_address = "::1";
  test::TestServer ipv6_server(settings);
  EXPECT_TRUE(ipv6_server.connect_string().starts_with("[::1]:"));
  SessionOptions session = options();
  session.servers = ipv6_server.connect_string();
  auto connection = connect(session);
  EXPECT_TRUE(connection->ask(Exists{"/"}).ok());
}

TEST_F(ZooKeeperTest, FourLetterWords) {
  EXPECT_EQ(four_letter_word("127.0.0.1", server().port(), "ruok", std::chrono::seconds(5)), "imok");
  const auto answer = four_letter_word("localhost", server().port(), "srvr", std::chrono::seconds(5));
  ASSERT_TRUE(answer.has_value());
  EXPECT_NE(answer->find("Mode: standalone"), std::string::npos);
  EXPECT_TRUE(test::wait_until([] { return server().mode() == "standalone"; }));
  EXPECT_GT(server().packets_received(), 0);
}

TEST_F(ZooKeeperTest, ProbesGiveUpInTime) {
  const std::uint16_t nobody = test::free_ports(1).front();
  EXPECT_EQ(four_letter_word("127.0.0.1", nobody, "ruok", std::chrono::seconds(5)), std::nullopt);
  const ConnectProbe refused = probe_connection("127.0.0.1", nobody, std::chrono::seconds(5));
  EXPECT_FALSE(refused.connected);
  EXPECT_EQ(refused.error, "Connection refused");

  proxy_.stall(true);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(four_letter_word("127.0.0.1", proxy_.port(), "ruok", std::chrono::milliseconds(200)), std::nullopt);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
  const ConnectProbe open = probe_connection("127.0.0.1", proxy_.port(), std::chrono::seconds(5));
  EXPECT_TRUE(open.connected);
  EXPECT_GT(open.latency.count(), 0);
  EXPECT_FALSE(probe_connection("no-such-host.invalid", 1, std::chrono::seconds(5)).error.empty());
}

}  // namespace
}  // namespace forelock::zookeeper
