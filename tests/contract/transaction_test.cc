#include "contract/contract_test.h"

namespace forelock::contract {
namespace {

using namespace coordination;

TEST_P(ContractTest, ATransactionDoesEverythingAtOneZxid) {
  auto party = join();
  const Reply claim = party->ask(
      Transaction{{Create{at("A-"), "me", CreateMode::ephemeral_sequential},
                   Create{at("privateLock"), "", CreateMode::ephemeral}, SetData{at("privateLock"), "owner"}}});
  ASSERT_EQ(claim.code, ReplyCode::ok);
  ASSERT_EQ(claim.operations.size(), 3u);
  EXPECT_EQ(claim.operations[0].path, at("A-0000000000"));
  EXPECT_EQ(claim.operations[1].path, at("privateLock"));

  const Reply lock = party->ask(Get{at("privateLock")});
  const Reply own = party->ask(Get{at("A-0000000000")});
  EXPECT_EQ(lock.data, "owner");
  EXPECT_EQ(own.data, "me");
  EXPECT_EQ(lock.stat.version, 1);
  EXPECT_EQ(claim.operations[2].stat.version, 1);
  EXPECT_EQ(claim.operations[2].stat.mzxid, lock.stat.mzxid);
  EXPECT_EQ(claim.operations[2].stat.czxid, lock.stat.czxid);
  EXPECT_EQ(claim.operations[2].stat.ephemeral_owner, party->id());
  EXPECT_EQ(lock.stat.czxid, lock.stat.mzxid);
  EXPECT_EQ(own.stat.czxid, lock.stat.czxid);
}

TEST_P(ContractTest, TheParentTellsWhatLastChangedItsChildren) {
  auto party = join();
  const Reply claim =
      party->ask(Transaction{{Create{at("A-"), "", CreateMode::ephemeral_sequential},
                              Create{at("privateLock"), "", CreateMode::ephemeral}, SetData{at("privateLock"), ""}}});
  ASSERT_EQ(claim.code, ReplyCode::ok);
  const std::int64_t zxid = claim.operations[2].stat.mzxid;
  party->ask(SetData{at("privateLock"), "x"});
  party->ask(SetData{root(), "x"});
  EXPECT_EQ(party->ask(Exists{root()}).stat.pzxid, zxid);
  EXPECT_EQ(party->ask(Exists{root()}).stat.children, 2);
  ASSERT_EQ(party->ask(Delete{at("privateLock")}).code, ReplyCode::ok);
  EXPECT_GT(party->ask(Exists{root()}).stat.pzxid, zxid);
  const Reply created = party->ask(Create{at("other"), ""});
  ASSERT_EQ(created.code, ReplyCode::ok);
  EXPECT_EQ(party->ask(Exists{root()}).stat.pzxid, party->ask(Exists{at("other")}).stat.czxid);
}

TEST_P(ContractTest, AFailedTransactionDoesNothing) {
  auto party = join();
  ASSERT_EQ(party->ask(Create{at("taken"), "before"}).code, ReplyCode::ok);
  const Reply failed = party->ask(
      Transaction{{Create{at("new"), ""}, SetData{at("taken"), "after"}, Delete{at("taken")}, Delete{at("missing")}}});
  EXPECT_EQ(failed.code, ReplyCode::no_node);
  EXPECT_TRUE(failed.operations.empty());
  EXPECT_EQ(party->ask(Exists{at("new")}).code, ReplyCode::no_node);
  const Reply got = party->ask(Get{at("taken")});
  EXPECT_EQ(got.data, "before");
  EXPECT_EQ(got.stat.version, 0);
}

TEST_P(ContractTest, ATransactionMakesANodeAndWhatIsBelowIt) {
  auto party = join();
  const auto claim = [&] {
    return Transaction{{Create{at("P"), "mark"}, Create{at("P/A-"), "me", CreateMode::ephemeral_sequential},
                        Create{at("P/privateLock"), "", CreateMode::ephemeral}, SetData{at("P/privateLock"), "owner"}}};
  };
  const Reply made = party->ask(claim());
  ASSERT_EQ(made.code, ReplyCode::ok);
  ASSERT_EQ(made.operations.size(), 4u);
  EXPECT_EQ(made.operations[0].path, at("P"));
  EXPECT_EQ(made.operations[1].path, at("P/A-0000000000"));
  EXPECT_EQ(made.operations[3].stat.version, 1);
  const Reply node = party->ask(Get{at("P")});
  EXPECT_EQ(node.data, "mark");
  EXPECT_EQ(node.stat.version, 0);
  EXPECT_EQ(node.stat.created_children(), 2);
  EXPECT_EQ(node.stat.pzxid, made.operations[3].stat.mzxid);

  const Reply again = party->ask(claim());
  EXPECT_EQ(again.code, ReplyCode::node_exists);
  EXPECT_EQ(again.refused_operation, 0u);
  EXPECT_EQ(party->ask(Transaction{{Delete{at("P"), 0}}}).code, ReplyCode::not_empty);

  // The names begin anew with the node.
  ASSERT_EQ(party->ask(Transaction{{Delete{at("P/A-0000000000")}, Delete{at("P/privateLock"), 1}}}).code,
            ReplyCode::ok);
  ASSERT_EQ(party->ask(Transaction{{Delete{at("P"), 0}}}).code, ReplyCode::ok);
  const Reply anew = party->ask(claim());
  ASSERT_EQ(anew.code, ReplyCode::ok);
  EXPECT_EQ(anew.operations[1].path, at("P/A-0000000000"));
}

TEST_P(ContractTest, ARefusalNamesTheOperation) {
  auto party = join();
  for (const char* name : {"a", "b", "c"}) ASSERT_EQ(party->ask(Create{at(name), ""}).code, ReplyCode::ok);
  ASSERT_EQ(party->ask(SetData{at("c"), "set"}).code, ReplyCode::ok);
  const Reply reply = party->ask(Transaction{{Delete{at("a"), 0}, Delete{at("b"), 0}, Delete{at("c"), 0}}});
  EXPECT_EQ(reply.code, ReplyCode::bad_version);
  EXPECT_EQ(reply.refused_operation, 2u);
  EXPECT_EQ(party->ask(Transaction{{Delete{at("missing"), 0}, Delete{at("a"), 0}}}).refused_operation, 0u);
  const Reply done = party->ask(Transaction{{Delete{at("a"), 0}, Delete{at("b"), 0}}});
  EXPECT_EQ(done.code, ReplyCode::ok);
  EXPECT_FALSE(done.refused_operation);
}

TEST_P(ContractTest, TheFirstFailureIsTheCode) {
  auto party = join();
  ASSERT_EQ(party->ask(Create{at("node"), ""}).code, ReplyCode::ok);
  EXPECT_EQ(party->ask(Transaction{{Create{at("node"), ""}, Delete{at("missing")}}}).code, ReplyCode::node_exists);
  EXPECT_EQ(party->ask(Transaction{{Delete{at("missing")}, Create{at("node"), ""}}}).code, ReplyCode::no_node);
  EXPECT_EQ(party->ask(Transaction{{Delete{at("node"), 7}, Create{at("node"), ""}}}).code, ReplyCode::bad_version);
}

TEST_P(ContractTest, LaterOperationsSeeEarlierOnes) {
  auto party = join();
  ASSERT_EQ(party->ask(Create{at("old"), ""}).code, ReplyCode::ok);
  const Reply reply = party->ask(Transaction{{Delete{at("old")}, Create{at("old"), "again"}, Check{at("old"), 0},
                                              SetData{at("old"), "third", 0}, Create{at("old/below"), ""}}});
  EXPECT_EQ(reply.code, ReplyCode::ok);
  const Reply got = party->ask(Get{at("old")});
  EXPECT_EQ(got.data, "third");
  EXPECT_EQ(got.stat.version, 1);
  EXPECT_EQ(got.stat.children, 1);
}

TEST_P(ContractTest, CheckNeedsTheNodeAndItsVersion) {
  auto party = join();
  EXPECT_EQ(party->ask(Transaction{{Check{at("node")}, Create{at("privateLock"), ""}}}).code, ReplyCode::no_node);
  ASSERT_EQ(party->ask(Create{at("node"), ""}).code, ReplyCode::ok);
  EXPECT_EQ(party->ask(Transaction{{Check{at("node"), 3}, Create{at("privateLock"), ""}}}).code,
            ReplyCode::bad_version);
  EXPECT_EQ(party->ask(Exists{at("privateLock")}).code, ReplyCode::no_node);
  EXPECT_EQ(party->ask(Transaction{{Check{at("node"), 0}, Check{at("node")}, Create{at("privateLock"), ""}}}).code,
            ReplyCode::ok);
  EXPECT_EQ(party->ask(Exists{at("privateLock")}).code, ReplyCode::ok);
}

TEST_P(ContractTest, DeleteInATransactionChecksTheVersion) {
  auto party = join();
  ASSERT_EQ(party->ask(Create{at("own"), ""}).code, ReplyCode::ok);
  ASSERT_EQ(party->ask(Create{at("lock"), ""}).code, ReplyCode::ok);
  ASSERT_EQ(party->ask(SetData{at("lock"), "x"}).code, ReplyCode::ok);
  EXPECT_EQ(party->ask(Transaction{{Delete{at("own")}, Delete{at("lock"), 0}}}).code, ReplyCode::bad_version);
  EXPECT_EQ(party->ask(Exists{at("own")}).code, ReplyCode::ok);
  EXPECT_EQ(party->ask(Transaction{{Delete{at("own")}, Delete{at("lock"), 1}}}).code, ReplyCode::ok);
  EXPECT_TRUE(party->ask(List{root()}).children.empty());
}

TEST_P(ContractTest, ATransactionKeepsTheRulesOfItsParts) {
  auto party = join();
  ASSERT_EQ(party->ask(Create{at("full"), ""}).code, ReplyCode::ok);
  ASSERT_EQ(party->ask(Create{at("full/child"), ""}).code, ReplyCode::ok);
  EXPECT_EQ(party->ask(Transaction{{Delete{at("full")}}}).code, ReplyCode::not_empty);
  EXPECT_EQ(party->ask(Transaction{{Delete{at("full/child")}, Delete{at("full")}}}).code, ReplyCode::ok);
  EXPECT_EQ(party->ask(Transaction{{Create{at("eph"), "", CreateMode::ephemeral}, Create{at("eph/child"), ""}}}).code,
            ReplyCode::no_children_for_ephemerals);
}

TEST_P(ContractTest, AnEmptyTransactionIsRefused) {
  auto party = join();
  EXPECT_EQ(party->ask(Transaction{}).code, ReplyCode::invalid_argument);
}

TEST_P(ContractTest, TokensOfSuccessiveClaimsRise) {
  auto first = join();
  auto second = join();
  std::int64_t last = 0;
  for (int i = 0; i < 6; ++i) {
    Party& party = i % 2 == 0 ? *first : *second;
    const Reply claim = party.ask(
        Transaction{{Create{at("privateLock"), "", CreateMode::ephemeral}, SetData{at("privateLock"), "owner"}}});
    ASSERT_EQ(claim.code, ReplyCode::ok);
    EXPECT_GT(claim.operations[1].stat.mzxid, last);
    last = claim.operations[1].stat.mzxid;
    const Reply handed_over = party.ask(SetData{at("privateLock"), "next owner of the same session"});
    EXPECT_GT(handed_over.stat.mzxid, last);
    last = handed_over.stat.mzxid;
    ASSERT_EQ(party.ask(Delete{at("privateLock")}).code, ReplyCode::ok);
  }
}

TEST_P(ContractTest, OneOfTwoClaimsWins) {
  auto first = join();
  auto second = join();
  const Transaction claim{{Create{at("privateLock"), "", CreateMode::ephemeral}, SetData{at("privateLock"), "owner"}}};
  const auto first_tag = first->send(claim);
  const auto second_tag = second->send(claim);
  const ReplyCode a = first->wait(first_tag).code;
  const ReplyCode b = second->wait(second_tag).code;
  EXPECT_TRUE((a == ReplyCode::ok && b == ReplyCode::node_exists) ||
              (a == ReplyCode::node_exists && b == ReplyCode::ok))
      << name_of(a) << " " << name_of(b);
}

}  // namespace
}  // namespace forelock::contract
