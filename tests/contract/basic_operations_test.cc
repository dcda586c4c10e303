#include "contract/contract_test.h"

namespace forelock::contract {
namespace {

using namespace coordination;

TEST_P(ContractTest, CreatedNodeIsThere) {
  auto party = join();
  const Reply created = party->ask(Create{at("node"), "data"});
  EXPECT_EQ(created.code, ReplyCode::ok);
  EXPECT_EQ(created.path, at("node"));

  const Reply got = party->ask(Get{at("node")});
  EXPECT_EQ(got.code, ReplyCode::ok);
  EXPECT_EQ(got.data, "data");
  EXPECT_EQ(got.stat.version, 0);
  EXPECT_EQ(got.stat.data_length, 4);
  EXPECT_EQ(got.stat.children, 0);
  EXPECT_EQ(got.stat.ephemeral_owner, 0);
  EXPECT_GT(got.stat.czxid, 0);
  EXPECT_EQ(got.stat.czxid, got.stat.mzxid);
}

TEST_P(ContractTest, DataAreBytes) {
  auto party = join();
  const std::string bytes("a\0b\xff\n", 5);
  ASSERT_EQ(party->ask(Create{at("node"), bytes}).code, ReplyCode::ok);
  EXPECT_EQ(party->ask(Get{at("node")}).data, bytes);
  ASSERT_EQ(party->ask(SetData{at("node"), ""}).code, ReplyCode::ok);
  EXPECT_EQ(party->ask(Get{at("node")}).data, "");
}

TEST_P(ContractTest, CreateNeedsItsParentAndAFreeName) {
  auto party = join();
  EXPECT_EQ(party->ask(Create{at("missing/node"), ""}).code, ReplyCode::no_node);
  ASSERT_EQ(party->ask(Create{at("node"), "first"}).code, ReplyCode::ok);
  EXPECT_EQ(party->ask(Create{at("node"), "second"}).code, ReplyCode::node_exists);
  EXPECT_EQ(party->ask(Get{at("node")}).data, "first");
}

TEST_P(ContractTest, SetDataCountsVersions) {
  auto party = join();
  ASSERT_EQ(party->ask(Create{at("node"), "0"}).code, ReplyCode::ok);
  const Reply created = party->ask(Exists{at("node")});
  const Reply first = party->ask(SetData{at("node"), "one"});
  EXPECT_EQ(first.code, ReplyCode::ok);
  EXPECT_EQ(first.stat.version, 1);
  EXPECT_EQ(first.stat.data_length, 3);
  EXPECT_EQ(first.stat.czxid, created.stat.czxid);
  EXPECT_GT(first.stat.mzxid, created.stat.mzxid);
  EXPECT_EQ(party->ask(SetData{at("node"), "two", 1}).stat.version, 2);
  EXPECT_EQ(party->ask(SetData{at("node"), "three", 1}).code, ReplyCode::bad_version);
  EXPECT_EQ(party->ask(Get{at("node")}).data, "two");
  EXPECT_EQ(party->ask(SetData{at("missing"), ""}).code, ReplyCode::no_node);
}

TEST_P(ContractTest, DeleteChecksVersionAndChildren) {
  auto party = join();
  ASSERT_EQ(party->ask(Create{at("node"), ""}).code, ReplyCode::ok);
  ASSERT_EQ(party->ask(Create{at("node/child"), ""}).code, ReplyCode::ok);
  EXPECT_EQ(party->ask(Delete{at("node")}).code, ReplyCode::not_empty);
  EXPECT_EQ(party->ask(Delete{at("node/child"), 1}).code, ReplyCode::bad_version);
  EXPECT_EQ(party->ask(Delete{at("node/child"), 0}).code, ReplyCode::ok);
  EXPECT_EQ(party->ask(Delete{at("node")}).code, ReplyCode::ok);
  EXPECT_EQ(party->ask(Delete{at("node")}).code, ReplyCode::no_node);
}

TEST_P(ContractTest, MissingNodes) {
  auto party = join();
  EXPECT_EQ(party->ask(Get{at("missing")}).code, ReplyCode::no_node);
  EXPECT_EQ(party->ask(Exists{at("missing")}).code, ReplyCode::no_node);
  EXPECT_EQ(party->ask(List{at("missing")}).code, ReplyCode::no_node);
}

TEST_P(ContractTest, ListNamesTheChildren) {
  auto party = join();
  ASSERT_EQ(party->ask(Create{at("b"), ""}).code, ReplyCode::ok);
  ASSERT_EQ(party->ask(Create{at("a"), ""}).code, ReplyCode::ok);
  ASSERT_EQ(party->ask(Create{at("a/below"), ""}).code, ReplyCode::ok);
  Reply listed = party->ask(List{root()});
  std::sort(listed.children.begin(), listed.children.end());
  EXPECT_EQ(listed.code, ReplyCode::ok);
  EXPECT_EQ(listed.children, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(listed.stat.children, 2);
  EXPECT_EQ(party->ask(List{at("b")}).children.size(), 0u);
}

TEST_P(ContractTest, TheRootExists) {
  auto party = join();
  EXPECT_EQ(party->ask(Exists{"/"}).code, ReplyCode::ok);
  const Reply listed = party->ask(List{"/"});
  EXPECT_EQ(std::count(listed.children.begin(), listed.children.end(), root().substr(1)), 1);
}

TEST_P(ContractTest, ImpossiblePathsAreRefused) {
  auto party = join();
  for (const std::string& path : {std::string(""), std::string("relative"), at("a//b"), at("trailing/"), at("./a"),
                                  at(".."), at("nul") + std::string(1, '\0'), at("tab\t")}) {
    EXPECT_EQ(party->ask(Create{path, ""}).code, ReplyCode::invalid_argument) << path;
    EXPECT_EQ(party->ask(Transaction{{Create{at("good"), ""}, Create{path, ""}, Delete{at("good")}}}).code,
              ReplyCode::invalid_argument)
        << path;
  }
  EXPECT_EQ(party->ask(Exists{at("good")}).code, ReplyCode::no_node);
}

TEST_P(ContractTest, SyncAnswers) {
  auto party = join();
  EXPECT_EQ(party->ask(Sync{root()}).code, ReplyCode::ok);
}

TEST_P(ContractTest, SyncShowsWhatOthersHaveDone) {
  auto writer = join();
  auto reader = join();
  for (int i = 0; i < 20; ++i) {
    const std::string path = at("n" + std::to_string(i));
    ASSERT_EQ(writer->ask(Create{path, ""}).code, ReplyCode::ok);
    reader->send(Sync{path});
    EXPECT_EQ(reader->ask(Exists{path}).code, ReplyCode::ok);
  }
}

TEST_P(ContractTest, EphemeralNodesBelongToTheirSession) {
  auto party = join();
  ASSERT_EQ(party->ask(Create{at("mine"), "", CreateMode::ephemeral}).code, ReplyCode::ok);
  const Reply found = party->ask(Exists{at("mine")});
  EXPECT_NE(party->id(), 0);
  EXPECT_EQ(found.stat.ephemeral_owner, party->id());
  EXPECT_EQ(party->ask(Create{at("mine/child"), ""}).code, ReplyCode::no_children_for_ephemerals);
}

TEST_P(ContractTest, EphemeralNodesGoWithTheSession) {
  auto other = join();
  auto party = join();
  ASSERT_EQ(party->ask(Create{at("mine"), "", CreateMode::ephemeral}).code, ReplyCode::ok);
  ASSERT_EQ(party->ask(Create{at("A-"), "", CreateMode::ephemeral_sequential}).code, ReplyCode::ok);
  ASSERT_EQ(party->ask(Create{at("lasting"), ""}).code, ReplyCode::ok);
  other->settle(root());
  ASSERT_EQ(other->ask(List{root(), true}).children.size(), 3u);
  party->handle().close();
  EXPECT_TRUE(other->wait_for_watches(1));
  EXPECT_TRUE(
      backend().run_until([&] { return other->ask(List{root()}).children == std::vector<std::string>{"lasting"}; }));
}

TEST_P(ContractTest, AnybodyMayDeleteAnEphemeralNode) {
  auto owner = join();
  auto other = join();
  ASSERT_EQ(owner->ask(Create{at("mine"), "", CreateMode::ephemeral}).code, ReplyCode::ok);
  other->settle(root());
  EXPECT_EQ(other->ask(Delete{at("mine")}).code, ReplyCode::ok);
  owner->settle(root());
  EXPECT_EQ(owner->ask(Exists{at("mine")}).code, ReplyCode::no_node);
}

}  // namespace
}  // namespace forelock::contract
