#include "contract/contract_test.h"

namespace forelock::contract {
namespace {

using namespace coordination;

TEST_P(ContractTest, AContainerIsANodeForChildren) {
  auto party = join();
  const Reply created = party->ask(Create{at("P"), "data", CreateMode::container});
  EXPECT_EQ(created.code, ReplyCode::ok);
  EXPECT_EQ(created.path, at("P"));
  EXPECT_EQ(party->ask(Create{at("P"), "", CreateMode::container}).code, ReplyCode::node_exists);
  EXPECT_EQ(party->ask(Get{at("P")}).data, "data");
  EXPECT_EQ(party->ask(Create{at("P/A-"), "", CreateMode::ephemeral_sequential}).path, at("P/A-0000000000"));
  EXPECT_EQ(party->ask(Delete{at("P")}).code, ReplyCode::not_empty);
}

TEST_P(ContractTest, AContainerAndItsFirstChildInOneBreath) {
  auto party = join();
  const auto container = party->send(Create{at("P"), "", CreateMode::container});
  const auto child = party->send(Create{at("P/A-"), "", CreateMode::ephemeral_sequential});
  EXPECT_EQ(party->wait(container).code, ReplyCode::ok);
  EXPECT_EQ(party->wait(child).path, at("P/A-0000000000"));
}

TEST_P(ContractTest, ATransactionRefusesContainers) {
  auto party = join();
  EXPECT_EQ(party->ask(Transaction{{Create{at("P"), "", CreateMode::container}}}).code, ReplyCode::invalid_argument);
  EXPECT_EQ(party->ask(Exists{at("P")}).code, ReplyCode::no_node);
}

TEST_P(ContractTest, AnEmptiedContainerDisappears) {
  if (!can().containers_vanish) GTEST_SKIP();
  auto party = join();
  ASSERT_EQ(party->ask(Create{at("P"), "", CreateMode::container}).code, ReplyCode::ok);
  ASSERT_EQ(party->ask(Create{at("unused"), "", CreateMode::container}).code, ReplyCode::ok);
  ASSERT_EQ(party->ask(Create{at("P/child"), ""}).code, ReplyCode::ok);
  ASSERT_EQ(party->ask(Delete{at("P/child")}).code, ReplyCode::ok);
  EXPECT_TRUE(backend().run_until([&] { return party->ask(Exists{at("P")}).code == ReplyCode::no_node; }));
  EXPECT_EQ(party->ask(Exists{at("unused")}).code, ReplyCode::ok) << "a container that never had a child stays";
}

TEST_P(ContractTest, AContainerWithChildrenStays) {
  if (!can().containers_vanish) GTEST_SKIP();
  auto party = join();
  ASSERT_EQ(party->ask(Create{at("P"), "", CreateMode::container}).code, ReplyCode::ok);
  ASSERT_EQ(party->ask(Create{at("P/child"), ""}).code, ReplyCode::ok);
  ASSERT_EQ(party->ask(Create{at("Q"), "", CreateMode::container}).code, ReplyCode::ok);
  ASSERT_EQ(party->ask(Create{at("Q/child"), ""}).code, ReplyCode::ok);
  ASSERT_EQ(party->ask(Delete{at("Q/child")}).code, ReplyCode::ok);
  // Q shows when the server has looked at its containers.
  ASSERT_TRUE(backend().run_until([&] { return party->ask(Exists{at("Q")}).code == ReplyCode::no_node; }));
  EXPECT_EQ(party->ask(Exists{at("P/child")}).code, ReplyCode::ok);
}

}  // namespace
}  // namespace forelock::contract
