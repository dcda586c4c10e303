// What the number of a sequential node counts: the creations under its parent, and nothing else.
#include "contract/contract_test.h"

namespace forelock::contract {
namespace {

using namespace coordination;

TEST_P(ContractTest, SequentialNamesGetTenDigits) {
  auto party = join();
  EXPECT_EQ(party->ask(Create{at("A-"), "", CreateMode::ephemeral_sequential}).path, at("A-0000000000"));
  EXPECT_EQ(party->ask(Create{at("B-"), "", CreateMode::ephemeral_sequential}).path, at("B-0000000001"));
  EXPECT_EQ(party->ask(Create{at("A-"), "", CreateMode::ephemeral_sequential}).path, at("A-0000000002"));
}

TEST_P(ContractTest, NonSequentialCreationsCount) {
  auto party = join();
  ASSERT_EQ(party->ask(Create{at("privateLock"), "", CreateMode::ephemeral}).code, ReplyCode::ok);
  ASSERT_EQ(party->ask(Create{at("lasting"), ""}).code, ReplyCode::ok);
  EXPECT_EQ(party->ask(Create{at("A-"), "", CreateMode::ephemeral_sequential}).path, at("A-0000000002"));
}

TEST_P(ContractTest, DeletionsAndSetsAndReadsDoNotCount) {
  auto party = join();
  ASSERT_EQ(party->ask(Create{at("node"), ""}).code, ReplyCode::ok);
  party->ask(SetData{at("node"), "x"});
  party->ask(SetData{root(), "x"});
  party->ask(List{root()});
  party->ask(Create{at("node/below"), ""});
  party->ask(Delete{at("node/below")});
  party->ask(Delete{at("node")});
  EXPECT_EQ(party->ask(Create{at("A-"), "", CreateMode::ephemeral_sequential}).path, at("A-0000000001"));
}

TEST_P(ContractTest, FailedCreationsDoNotCount) {
  auto party = join();
  ASSERT_EQ(party->ask(Create{at("node"), ""}).code, ReplyCode::ok);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(party->ask(Create{at("node"), ""}).code, ReplyCode::node_exists);
  EXPECT_EQ(party->ask(Create{at("A-"), "", CreateMode::ephemeral_sequential}).path, at("A-0000000001"));
}

TEST_P(ContractTest, FailedTransactionsDoNotCount) {
  auto party = join();
  ASSERT_EQ(party->ask(Create{at("privateLock"), ""}).code, ReplyCode::ok);
  for (int i = 0; i < 3; ++i) {
    const Reply failed = party->ask(Transaction{{Create{at("A-"), "", CreateMode::ephemeral_sequential},
                                                 Create{at("free"), ""}, Create{at("privateLock"), ""}}});
    EXPECT_EQ(failed.code, ReplyCode::node_exists);
  }
  EXPECT_EQ(party->ask(List{root()}).stat.created_children(), 1);
  EXPECT_EQ(party->ask(Create{at("A-"), "", CreateMode::ephemeral_sequential}).path, at("A-0000000001"));
}

TEST_P(ContractTest, CreationsOfATransactionCountOneByOne) {
  auto party = join();
  const Reply both = party->ask(Transaction{
      {Create{at("A-"), "", CreateMode::ephemeral_sequential}, Create{at("privateLock"), "", CreateMode::ephemeral}}});
  ASSERT_EQ(both.code, ReplyCode::ok);
  EXPECT_EQ(both.operations[0].path, at("A-0000000000"));
  const Reply release = party->ask(Transaction{{Delete{both.operations[0].path}, Delete{at("privateLock")}}});
  ASSERT_EQ(release.code, ReplyCode::ok);
  EXPECT_EQ(party->ask(Create{at("A-"), "", CreateMode::ephemeral_sequential}).path, at("A-0000000002"));
}

TEST_P(ContractTest, TheListingTellsTheNextNumber) {
  auto party = join();
  for (int i = 0; i < 4; ++i) {
    const Reply listed = party->ask(List{root()});
    const Reply created = party->ask(Create{at("A-"), "", CreateMode::ephemeral_sequential});
    ASSERT_EQ(created.code, ReplyCode::ok);
    EXPECT_EQ(std::stoll(created.path.substr(created.path.size() - 10)), listed.stat.created_children());
    if (i % 2 == 0) party->ask(Delete{created.path});
    party->ask(Create{at("n" + std::to_string(i)), ""});
  }
}

TEST_P(ContractTest, ExpiredOrClosedSessionsDoNotCount) {
  auto party = join();
  auto leaver = join();
  ASSERT_EQ(leaver->ask(Create{at("A-"), "", CreateMode::ephemeral_sequential}).path, at("A-0000000000"));
  leaver->handle().close();
  ASSERT_TRUE(backend().run_until([&] {
    party->send(Sync{root()});
    return party->ask(List{root()}).children.empty();
  }));
  EXPECT_EQ(party->ask(List{root()}).stat.created_children(), 1);
  EXPECT_EQ(party->ask(Create{at("A-"), "", CreateMode::ephemeral_sequential}).path, at("A-0000000001"));
}

TEST_P(ContractTest, ARecreatedParentBeginsAgain) {
  auto party = join();
  ASSERT_EQ(party->ask(Create{at("P"), ""}).code, ReplyCode::ok);
  for (int i = 0; i < 3; ++i) {
    const Reply created = party->ask(Create{at("P/A-"), "", CreateMode::ephemeral_sequential});
    ASSERT_EQ(party->ask(Delete{created.path}).code, ReplyCode::ok);
  }
  ASSERT_EQ(party->ask(Delete{at("P")}).code, ReplyCode::ok);
  ASSERT_EQ(party->ask(Create{at("P"), ""}).code, ReplyCode::ok);
  EXPECT_EQ(party->ask(List{at("P")}).stat.created_children(), 0);
  EXPECT_EQ(party->ask(Create{at("P/A-"), "", CreateMode::ephemeral_sequential}).path, at("P/A-0000000000"));
}

}  // namespace
}  // namespace forelock::contract
