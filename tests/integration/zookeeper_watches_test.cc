// Watches of a session that is connected again, more than a server takes in one request.
#include "zookeeper_fixture.h"

namespace forelock::zookeeper {
namespace {

using namespace coordination;
using Kind = SessionEvent::Kind;

TEST_F(ZooKeeperTest, AllWatchesThatASessionMayHaveOutliveAReconnect) {
  constexpr std::size_t nodes_in_a_request = 500;
  constexpr std::size_t name_length = 240;
  auto other = connect();
  // With Debian's client as many as it may have, which is less.
  const std::size_t bytes = std::min(most_watched_bytes(), std::size_t{2} * 1024 * 1024);
  std::vector<std::string> paths;
  for (std::size_t used = 0; used + name_length + 4 <= bytes; used += paths.back().size() + 4) {
    std::string path = own("n" + std::to_string(paths.size()) + "-");
    path.resize(name_length, 'x');
    paths.push_back(std::move(path));
  }
  for (std::size_t first = 0; first < paths.size(); first += nodes_in_a_request) {
    Transaction transaction;
    for (std::size_t i = first; i < std::min(first + nodes_in_a_request, paths.size()); ++i) {
      transaction.operations.emplace_back(Create{paths[i], ""});
    }
    ASSERT_TRUE(other->ask(std::move(transaction)).ok());
  }
  auto watching = connect();
  RequestTag last = 0;
  for (const std::string& path : paths) last = watching->send(Get{path, true});
  ASSERT_TRUE(watching->wait(last).ok());

  proxy_.cut_connections();
  ASSERT_TRUE(watching->wait_for(Kind::connected, 2));
  ASSERT_TRUE(watching->ask(Get{paths.front()}).ok()) << "the connection lasts";
  for (const std::string& path : {paths.front(), paths[paths.size() / 2], paths.back()}) {
    ASSERT_TRUE(other->ask(SetData{path, "new", any_version}).ok());
  }
  EXPECT_TRUE(test::wait_until([&] { return watching->recorder.watches().size() == 3; }))
      << watching->recorder.watches().size();
  EXPECT_EQ(watching->recorder.count(Kind::expired), 0u);
  EXPECT_EQ(watching->recorder.count(Kind::connected), 2u);
}

}  // namespace
}  // namespace forelock::zookeeper
