#include "contract/contract_test.h"

namespace forelock::contract {
namespace {

using namespace coordination;

// What the party has seen of one path.
std::vector<WatchEvent::Kind> seen(const Party& party, const std::string& path) {
  std::vector<WatchEvent::Kind> kinds;
  for (const WatchEvent& event : party.recorder.watches()) {
    if (event.path == path) kinds.push_back(event.kind);
  }
  return kinds;
}

TEST_P(ContractTest, ADataWatchTellsOnce) {
  auto watcher = join();
  auto writer = join();
  ASSERT_EQ(writer->ask(Create{at("node"), ""}).code, ReplyCode::ok);
  watcher->settle(root());
  ASSERT_EQ(watcher->ask(Get{at("node"), true}).code, ReplyCode::ok);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(writer->ask(SetData{at("node"), "x"}).code, ReplyCode::ok);
  ASSERT_EQ(writer->ask(Delete{at("node")}).code, ReplyCode::ok);
  watcher->settle(root());
  EXPECT_EQ(seen(*watcher, at("node")), std::vector{WatchEvent::Kind::data_changed});
}

TEST_P(ContractTest, ADataWatchTellsOfDeletion) {
  auto watcher = join();
  ASSERT_EQ(watcher->ask(Create{at("node"), ""}).code, ReplyCode::ok);
  ASSERT_EQ(watcher->ask(Get{at("node"), true}).code, ReplyCode::ok);
  ASSERT_EQ(watcher->ask(Delete{at("node")}).code, ReplyCode::ok);
  EXPECT_EQ(seen(*watcher, at("node")), std::vector{WatchEvent::Kind::deleted});
}

TEST_P(ContractTest, ADataWatchIgnoresChildren) {
  auto watcher = join();
  ASSERT_EQ(watcher->ask(Create{at("node"), ""}).code, ReplyCode::ok);
  ASSERT_EQ(watcher->ask(Get{at("node"), true}).code, ReplyCode::ok);
  ASSERT_EQ(watcher->ask(Create{at("node/child"), ""}).code, ReplyCode::ok);
  ASSERT_EQ(watcher->ask(Delete{at("node/child")}).code, ReplyCode::ok);
  EXPECT_TRUE(watcher->recorder.watches().empty());
}

TEST_P(ContractTest, AnExistsWatchWaitsForTheNode) {
  auto watcher = join();
  auto writer = join();
  ASSERT_EQ(watcher->ask(Exists{at("node"), true}).code, ReplyCode::no_node);
  ASSERT_EQ(writer->ask(Create{at("node"), ""}).code, ReplyCode::ok);
  EXPECT_TRUE(watcher->wait_for_watches(1));
  ASSERT_EQ(watcher->ask(Exists{at("node"), true}).code, ReplyCode::ok);
  ASSERT_EQ(writer->ask(SetData{at("node"), "x"}).code, ReplyCode::ok);
  watcher->settle(root());
  EXPECT_EQ(seen(*watcher, at("node")), (std::vector{WatchEvent::Kind::created, WatchEvent::Kind::data_changed}));
}

TEST_P(ContractTest, AChildWatchTellsOnce) {
  auto watcher = join();
  auto writer = join();
  ASSERT_EQ(watcher->ask(List{root(), true}).code, ReplyCode::ok);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(writer->ask(Create{at("n" + std::to_string(i)), ""}).code, ReplyCode::ok);
  ASSERT_EQ(writer->ask(Delete{at("n0")}).code, ReplyCode::ok);
  watcher->settle(root());
  EXPECT_EQ(seen(*watcher, root()), std::vector{WatchEvent::Kind::children_changed});
}

// Nobody reads it, but who watches is told.
TEST_P(ContractTest, AChildThatComesAndGoesInOneTransactionIsAChange) {
  auto watcher = join();
  auto writer = join();
  ASSERT_EQ(writer->ask(Create{at("P"), ""}).code, ReplyCode::ok);
  ASSERT_EQ(watcher->ask(List{at("P"), true}).code, ReplyCode::ok);
  const Transaction knock{{Create{at("P/knock"), "", CreateMode::ephemeral}, Delete{at("P/knock")}}};
  ASSERT_EQ(writer->ask(knock).code, ReplyCode::ok);
  ASSERT_EQ(writer->ask(knock).code, ReplyCode::ok);
  watcher->settle(root());
  EXPECT_EQ(seen(*watcher, at("P")), std::vector{WatchEvent::Kind::children_changed});
  const Reply listing = watcher->ask(List{at("P")});
  EXPECT_TRUE(listing.children.empty());
  EXPECT_EQ(listing.stat.created_children(), 2);
  const Create next{at("P/A-"), "", CreateMode::ephemeral_sequential};
  EXPECT_EQ(writer->ask(next).path, at("P/A-0000000002")) << "it counts as a child that was made";
}

TEST_P(ContractTest, AChildWatchIgnoresData) {
  auto watcher = join();
  ASSERT_EQ(watcher->ask(Create{at("node"), ""}).code, ReplyCode::ok);
  ASSERT_EQ(watcher->ask(List{root(), true}).code, ReplyCode::ok);
  ASSERT_EQ(watcher->ask(SetData{at("node"), "x"}).code, ReplyCode::ok);
  ASSERT_EQ(watcher->ask(SetData{root(), "x"}).code, ReplyCode::ok);
  EXPECT_TRUE(watcher->recorder.watches().empty());
}

TEST_P(ContractTest, AChildWatchTellsOfTheNodesOwnDeletion) {
  auto watcher = join();
  ASSERT_EQ(watcher->ask(Create{at("P"), ""}).code, ReplyCode::ok);
  ASSERT_EQ(watcher->ask(List{at("P"), true}).code, ReplyCode::ok);
  ASSERT_EQ(watcher->ask(Delete{at("P")}).code, ReplyCode::ok);
  EXPECT_EQ(seen(*watcher, at("P")), std::vector{WatchEvent::Kind::deleted});
}

TEST_P(ContractTest, TwoKindsOfWatchesTellOfADeletionOnce) {
  auto watcher = join();
  ASSERT_EQ(watcher->ask(Create{at("P"), ""}).code, ReplyCode::ok);
  ASSERT_EQ(watcher->ask(List{at("P"), true}).code, ReplyCode::ok);
  ASSERT_EQ(watcher->ask(Get{at("P"), true}).code, ReplyCode::ok);
  ASSERT_EQ(watcher->ask(Delete{at("P")}).code, ReplyCode::ok);
  watcher->settle(root());
  EXPECT_EQ(seen(*watcher, at("P")), std::vector{WatchEvent::Kind::deleted});
}

TEST_P(ContractTest, TheSameWatchTwiceTellsOnce) {
  auto watcher = join();
  ASSERT_EQ(watcher->ask(Create{at("node"), ""}).code, ReplyCode::ok);
  ASSERT_EQ(watcher->ask(Get{at("node"), true}).code, ReplyCode::ok);
  ASSERT_EQ(watcher->ask(Get{at("node"), true}).code, ReplyCode::ok);
  ASSERT_EQ(watcher->ask(Exists{at("node"), true}).code, ReplyCode::ok);
  ASSERT_EQ(watcher->ask(SetData{at("node"), "1"}).code, ReplyCode::ok);
  ASSERT_EQ(watcher->ask(SetData{at("node"), "2"}).code, ReplyCode::ok);
  watcher->settle(root());
  EXPECT_EQ(seen(*watcher, at("node")), std::vector{WatchEvent::Kind::data_changed});
}

TEST_P(ContractTest, ATransactionThatDeletesTwoChildrenTellsOnce) {
  auto watcher = join();
  auto writer = join();
  ASSERT_EQ(writer->ask(Create{at("a"), ""}).code, ReplyCode::ok);
  ASSERT_EQ(writer->ask(Create{at("b"), ""}).code, ReplyCode::ok);
  watcher->settle(root());
  ASSERT_EQ(watcher->ask(List{root(), true}).children.size(), 2u);
  ASSERT_EQ(writer->ask(Transaction{{Delete{at("a")}, Delete{at("b")}}}).code, ReplyCode::ok);
  watcher->settle(root());
  EXPECT_EQ(seen(*watcher, root()), std::vector{WatchEvent::Kind::children_changed});
  EXPECT_TRUE(watcher->ask(List{root()}).children.empty());
}

TEST_P(ContractTest, AFailedTransactionTellsNothing) {
  auto watcher = join();
  ASSERT_EQ(watcher->ask(List{root(), true}).code, ReplyCode::ok);
  ASSERT_EQ(watcher->ask(Exists{at("new"), true}).code, ReplyCode::no_node);
  ASSERT_EQ(watcher->ask(Transaction{{Create{at("new"), ""}, Delete{at("missing")}}}).code, ReplyCode::no_node);
  watcher->settle(root());
  EXPECT_TRUE(watcher->recorder.watches().empty());
}

TEST_P(ContractTest, ReadsOfMissingNodesSetNoWatch) {
  auto watcher = join();
  ASSERT_EQ(watcher->ask(List{at("P"), true}).code, ReplyCode::no_node);
  ASSERT_EQ(watcher->ask(Get{at("P"), true}).code, ReplyCode::no_node);
  ASSERT_EQ(watcher->ask(Create{at("P"), ""}).code, ReplyCode::ok);
  ASSERT_EQ(watcher->ask(Create{at("P/child"), ""}).code, ReplyCode::ok);
  ASSERT_EQ(watcher->ask(SetData{at("P"), "x"}).code, ReplyCode::ok);
  watcher->settle(root());
  EXPECT_TRUE(watcher->recorder.watches().empty());
}

TEST_P(ContractTest, ReadsWithoutWatchSetNone) {
  auto watcher = join();
  ASSERT_EQ(watcher->ask(Create{at("node"), ""}).code, ReplyCode::ok);
  watcher->ask(Get{at("node")});
  watcher->ask(Exists{at("node")});
  watcher->ask(List{at("node")});
  ASSERT_EQ(watcher->ask(SetData{at("node"), "x"}).code, ReplyCode::ok);
  ASSERT_EQ(watcher->ask(Delete{at("node")}).code, ReplyCode::ok);
  watcher->settle(root());
  EXPECT_TRUE(watcher->recorder.watches().empty());
}

TEST_P(ContractTest, ARemovedDataWatchIsSilent) {
  auto watcher = join();
  ASSERT_EQ(watcher->ask(Create{at("node"), ""}).code, ReplyCode::ok);
  ASSERT_EQ(watcher->ask(Get{at("node"), true}).code, ReplyCode::ok);
  ASSERT_EQ(watcher->ask(List{at("node"), true}).code, ReplyCode::ok);
  EXPECT_EQ(watcher->ask(RemoveDataWatch{at("node")}).code, ReplyCode::ok);
  ASSERT_EQ(watcher->ask(SetData{at("node"), "x"}).code, ReplyCode::ok);
  watcher->settle(root());
  EXPECT_TRUE(watcher->recorder.watches().empty());
  // The child watch is not concerned.
  ASSERT_EQ(watcher->ask(Create{at("node/child"), ""}).code, ReplyCode::ok);
  EXPECT_EQ(seen(*watcher, at("node")), std::vector{WatchEvent::Kind::children_changed});
}

TEST_P(ContractTest, ADataWatchCanBeSetAgainAfterItsRemoval) {
  auto watcher = join();
  ASSERT_EQ(watcher->ask(Create{at("node"), ""}).code, ReplyCode::ok);
  ASSERT_EQ(watcher->ask(Get{at("node"), true}).code, ReplyCode::ok);
  ASSERT_EQ(watcher->ask(RemoveDataWatch{at("node")}).code, ReplyCode::ok);
  ASSERT_EQ(watcher->ask(Get{at("node"), true}).code, ReplyCode::ok);
  ASSERT_EQ(watcher->ask(SetData{at("node"), "x"}).code, ReplyCode::ok);
  EXPECT_EQ(seen(*watcher, at("node")), std::vector{WatchEvent::Kind::data_changed});
}

TEST_P(ContractTest, RemovingAWatchThatIsNotThereIsFine) {
  auto watcher = join();
  ASSERT_EQ(watcher->ask(Create{at("node"), ""}).code, ReplyCode::ok);
  EXPECT_EQ(watcher->ask(RemoveDataWatch{at("node")}).code, ReplyCode::ok);
  EXPECT_EQ(watcher->ask(RemoveDataWatch{at("missing")}).code, ReplyCode::ok);
  // One that has fired.
  ASSERT_EQ(watcher->ask(Get{at("node"), true}).code, ReplyCode::ok);
  ASSERT_EQ(watcher->ask(SetData{at("node"), "x"}).code, ReplyCode::ok);
  EXPECT_EQ(watcher->ask(RemoveDataWatch{at("node")}).code, ReplyCode::ok);
}

TEST_P(ContractTest, WatchesOfOneSessionAreItsOwn) {
  auto watcher = join();
  auto other = join();
  ASSERT_EQ(watcher->ask(List{root(), true}).code, ReplyCode::ok);
  ASSERT_EQ(other->ask(List{root(), true}).code, ReplyCode::ok);
  ASSERT_EQ(watcher->ask(Create{at("node"), ""}).code, ReplyCode::ok);
  EXPECT_TRUE(other->wait_for_watches(1));
  EXPECT_EQ(seen(*watcher, root()), std::vector{WatchEvent::Kind::children_changed});
  EXPECT_EQ(seen(*other, root()), std::vector{WatchEvent::Kind::children_changed});
}

}  // namespace
}  // namespace forelock::contract
