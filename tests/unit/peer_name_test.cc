// By which names a server is known whose address a connection has gone to.
#include "zookeeper/peer_name.h"

#include <netdb.h>
#include <netinet/in.h>
#include <unistd.h>

#include "support/test.h"
#include "support/wait_until.h"
#include "zookeeper/tls_context.h"

namespace forelock::zookeeper {
namespace {

sockaddr_storage address_of(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  EXPECT_EQ(getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found), 0) << host;
  sockaddr_storage address{};
  std::memcpy(&address, found->ai_addr, found->ai_addrlen);
  freeaddrinfo(found);
  return address;
}

using Names = std::vector<std::string>;

// Names whose addresses the test changes.
struct MovingNames {
  void set(const std::string& host, const Names& now) {
    {
      const std::lock_guard guard(mutex);
      addresses[host] = now;
    }
    EXPECT_TRUE(test::wait_until([&] {
      lookup.begin();
      lookup.wait(30s);
      return lookup.latest().at(host == "zk1" ? 0 : 1).addresses.numeric == now;
    }));
  }
  Names names_of(const std::string& address, std::uint16_t port = 2281) const {
    return name_of_peer(lookup, address_of(address, port)).names;
  }

  std::mutex mutex;
  std::map<std::string, Names> addresses{{"zk1", {}}, {"zk2", {}}};
  NameLookup lookup{{{"zk1", 2281}, {"zk2", 2281}}, [this](const std::string& host) {
                      const std::lock_guard guard(mutex);
                      return HostAddresses{addresses.at(host), ""};
                    }};
};

// The C client may go on with the addresses that it was given for a long time.
TEST(PeerNameTest, AnAddressKeepsTheNameThatItHad) {
  MovingNames names;
  names.set("zk1", {"10.0.0.1"});
  names.set("zk2", {"10.0.0.2"});
  names.set("zk2", {"10.0.0.12"});
  EXPECT_EQ(names.names_of("10.0.0.1"), Names{"zk1"});
  EXPECT_EQ(names.names_of("10.0.0.12"), Names{"zk2"});
  EXPECT_EQ(names.names_of("10.0.0.2"), Names{"zk2"}) << "of the list that the client may still have";
  EXPECT_EQ(name_of_peer(names.lookup, address_of("10.0.0.2", 2281)).text, "zk2:2281 (10.0.0.2)");
  names.set("zk1", {"10.0.0.2"});
  EXPECT_EQ(names.names_of("10.0.0.2"), Names{"zk1"}) << "whose it is now";
}

TEST(PeerNameTest, AnAddressOfNoServerHasNoName) {
  MovingNames names;
  names.set("zk1", {"10.0.0.1"});
  EXPECT_EQ(names.names_of("10.0.0.2"), Names{});
  EXPECT_EQ(names.names_of("10.0.0.1", 2282), Names{});
  EXPECT_EQ(name_of_peer(names.lookup, address_of("10.0.0.2", 2281)).text, "10.0.0.2:2281");
}

TEST(PeerNameTest, OnlySoManyAddressesAreRemembered) {
  MovingNames names;
  Names many;
  for (int i = 1; i <= 200; ++i) many.push_back("10.1.0." + std::to_string(i));
  names.set("zk1", many);
  for (int i = 1; i <= 200; ++i) names.set("zk1", {"10.2.0." + std::to_string(i)});
  EXPECT_EQ(names.names_of("10.1.0.1"), Names{});
  EXPECT_EQ(names.names_of("10.2.0.1"), Names{});
  EXPECT_EQ(names.names_of("10.2.0.199"), Names{"zk1"});
  names.set("zk1", many);
  for (const std::string& each : many) EXPECT_EQ(names.names_of(each), Names{"zk1"}) << each << " has it now";
}

TEST(PeerNameTest, AnAddressInTheSettingsMayBeSpelledInAnyWay) {
  const std::map<std::string, std::string> spelled{
      {"127.0.0.1", "127.0.0.1"}, {"127.1", "127.0.0.1"}, {"0:0:0:0:0:0:0:1", "::1"}, {"2001:DB8::0A", "2001:db8::a"}};
  for (const auto& [given, address] : spelled) {
    const NameLookup lookup({{given, 2281}}, [](const std::string&) { return HostAddresses{}; });
    EXPECT_EQ(name_of_peer(lookup, address_of(address, 2281)).names, Names{given});
  }
}

#ifdef FORELOCK_TLS
// The bare address would be shown by any server of the authority that has got it since.
TEST(PeerNameTest, WithoutANameThereIsNoTls) {
  const TlsContext context(
      {.read = []() -> TlsFiles { throw std::runtime_error("nothing is to be read"); }, .server_names = {}});
  const auto channel = context.open(STDERR_FILENO, "10.0.0.2:2281", {});
  EXPECT_EQ(channel->handshake(), -1);
  EXPECT_EQ(channel->problem(),
            "TLS to 10.0.0.2:2281: no name in zookeeper.servers has this address: the server cannot be checked");
}
#endif

}  // namespace
}  // namespace forelock::zookeeper
