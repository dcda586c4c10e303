#include "contract/contract_test.h"

namespace forelock::contract {
namespace {

using namespace coordination;

TEST_P(ContractTest, WhoIsNotPermittedIsToldSo) {
  if (!can().access_control) GTEST_SKIP();
  auto owner = join(Identity::owner);
  auto stranger = join(Identity::anyone);
  ASSERT_EQ(owner->ask(Create{at("closed"), "secret"}).code, ReplyCode::ok);
  ASSERT_EQ(owner->ask(Create{at("closed/child"), ""}).code, ReplyCode::ok);
  stranger->settle(root());
  EXPECT_EQ(stranger->ask(Get{at("closed")}).code, ReplyCode::no_auth);
  EXPECT_EQ(stranger->ask(List{at("closed")}).code, ReplyCode::no_auth);
  EXPECT_EQ(stranger->ask(SetData{at("closed"), "x"}).code, ReplyCode::no_auth);
  EXPECT_EQ(stranger->ask(Create{at("closed/mine"), ""}).code, ReplyCode::no_auth);
  EXPECT_EQ(stranger->ask(Delete{at("closed/child")}).code, ReplyCode::no_auth);
  EXPECT_EQ(stranger->ask(Transaction{{Create{at("open"), ""}, SetData{at("closed"), "x"}}}).code, ReplyCode::no_auth);
  EXPECT_EQ(effect_of(ReplyCode::no_auth), Effect::not_applied);
  EXPECT_EQ(stranger->ask(Exists{at("closed")}).code, ReplyCode::ok) << "existence is no secret";
  EXPECT_EQ(stranger->ask(Exists{at("open")}).code, ReplyCode::no_node);
  EXPECT_EQ(owner->ask(Get{at("closed")}).data, "secret");
}

TEST_P(ContractTest, OwnersShare) {
  if (!can().access_control) GTEST_SKIP();
  auto first = join(Identity::owner);
  auto second = join(Identity::owner);
  ASSERT_EQ(first->ask(Create{at("ours"), "1"}).code, ReplyCode::ok);
  second->settle(root());
  EXPECT_EQ(second->ask(Get{at("ours")}).data, "1");
  EXPECT_EQ(second->ask(SetData{at("ours"), "2"}).code, ReplyCode::ok);
}

TEST_P(ContractTest, AQuotaStopsCreations) {
  if (!can().quota) GTEST_SKIP();
  auto party = join();
  ASSERT_EQ(party->ask(Create{at("P"), ""}).code, ReplyCode::ok);
  backend().limit_descendants(at("P"), 3);
  party->settle(root());
  EXPECT_EQ(party->ask(Create{at("P/1"), ""}).code, ReplyCode::ok);
  EXPECT_EQ(party->ask(Create{at("P/2"), ""}).code, ReplyCode::ok);
  // A leader counts what it has applied itself, which may be a moment behind what a follower has answered.
  EXPECT_TRUE(backend().run_until([&] {
    const ReplyCode code = party->ask(Create{at("P/3"), ""}).code;
    if (code == ReplyCode::ok) party->ask(Delete{at("P/3")});
    return code == ReplyCode::quota_exceeded;
  }));
  const std::int64_t before = party->ask(List{at("P")}).stat.created_children();
  EXPECT_EQ(party->ask(Transaction{{Create{at("P/3"), ""}, SetData{at("P"), "x"}}}).code, ReplyCode::quota_exceeded);
  EXPECT_EQ(party->ask(List{at("P")}).stat.created_children(), before);
}

}  // namespace
}  // namespace forelock::contract
