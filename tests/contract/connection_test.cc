// What happens to requests and nodes when the connection or the session ends.
#include "contract/contract_test.h"

namespace forelock::contract {
namespace {

using namespace coordination;
using Kind = SessionEvent::Kind;

// The holder's deadline is counted from this instant: with one after the first message to a server, a lock could be
// held for longer than its session lives.
TEST_P(ContractTest, ANewSessionSaysWhenItWasAskedFor) {
  const auto before = backend().now();
  Party party(backend(), Identity::anyone);
  const auto made = backend().now();
  party.connect();
  const auto events = party.recorder.session_events();
  ASSERT_FALSE(events.empty());
  EXPECT_GE(events.front().asked_at, before);
  EXPECT_LE(events.front().asked_at, made);
}

TEST_P(ContractTest, ALostReplyTellsNothingAboutTheEffect) {
  if (!can().cut || !can().withhold_replies) GTEST_SKIP();
  auto other = join();
  auto party = join();
  party->handle().withhold_replies();
  const auto applied = party->send(Create{at("applied"), ""});
  ASSERT_TRUE(backend().run_until([&] { return other->ask(Exists{at("applied")}).ok(); }));
  EXPECT_FALSE(party->recorder.reply(applied).has_value());
  party->handle().cut();
  const Reply lost = party->wait(applied);
  EXPECT_EQ(lost.code, ReplyCode::connection_loss);
  EXPECT_EQ(effect_of(lost.code), Effect::unknown);
  ASSERT_TRUE(party->wait_for(Kind::disconnected));

  party->handle().heal();
  ASSERT_TRUE(party->wait_for(Kind::connected, 2));
  party->send(Sync{root()});
  EXPECT_EQ(party->ask(Exists{at("applied")}).code, ReplyCode::ok);
}

TEST_P(ContractTest, WithoutAConnectionRequestsFailAtOnce) {
  if (!can().cut) GTEST_SKIP();
  auto other = join();
  auto party = join();
  party->handle().cut();
  ASSERT_TRUE(party->wait_for(Kind::disconnected));
  EXPECT_EQ(party->ask(Create{at("node"), ""}).code, ReplyCode::connection_loss);
  EXPECT_EQ(party->ask(Transaction{{Create{at("a"), ""}, Create{at("b"), ""}}}).code, ReplyCode::connection_loss);
  party->handle().heal();
  ASSERT_TRUE(party->wait_for(Kind::connected, 2));
  party->send(Sync{root()});
  EXPECT_EQ(party->ask(Exists{at("node")}).code, ReplyCode::no_node);
  EXPECT_EQ(party->ask(Exists{at("a")}).code, ReplyCode::no_node);
}

TEST_P(ContractTest, TheSessionSurvivesALostConnection) {
  if (!can().cut) GTEST_SKIP();
  auto other = join();
  auto party = join();
  const SessionId id = party->id();
  ASSERT_EQ(party->ask(Create{at("mine"), "", CreateMode::ephemeral}).code, ReplyCode::ok);
  for (std::size_t round = 1; round <= 3; ++round) {
    party->handle().cut();
    ASSERT_TRUE(party->wait_for(Kind::disconnected, round));
    other->settle(root());
    EXPECT_EQ(other->ask(Exists{at("mine")}).code, ReplyCode::ok);
    party->handle().heal();
    ASSERT_TRUE(party->wait_for(Kind::connected, round + 1));
    EXPECT_EQ(party->id(), id);
    EXPECT_EQ(party->ask(Exists{at("mine")}).stat.ephemeral_owner, id);
  }
  EXPECT_EQ(party->recorder.count(Kind::expired), 0u);
}

TEST_P(ContractTest, WatchesSurviveALostConnection) {
  if (!can().cut) GTEST_SKIP();
  auto other = join();
  auto party = join();
  ASSERT_EQ(party->ask(List{root(), true}).code, ReplyCode::ok);
  ASSERT_EQ(party->ask(Exists{at("node"), true}).code, ReplyCode::no_node);
  party->handle().cut();
  ASSERT_TRUE(party->wait_for(Kind::disconnected));
  ASSERT_EQ(other->ask(Create{at("node"), ""}).code, ReplyCode::ok);
  party->handle().heal();
  ASSERT_TRUE(party->wait_for(Kind::connected, 2));
  // Told at the latest before the reply of a request that shows the change.
  party->settle(root());
  std::vector<WatchEvent::Kind> kinds;
  for (const WatchEvent& event : party->recorder.watches()) kinds.push_back(event.kind);
  std::sort(kinds.begin(), kinds.end());
  EXPECT_EQ(kinds, (std::vector{WatchEvent::Kind::created, WatchEvent::Kind::children_changed}));
}

TEST_P(ContractTest, AnExpiredSessionIsOver) {
  if (!can().expire) GTEST_SKIP();
  auto other = join();
  auto party = join();
  ASSERT_EQ(party->ask(Create{at("mine"), "", CreateMode::ephemeral}).code, ReplyCode::ok);
  ASSERT_EQ(party->ask(Create{at("A-"), "", CreateMode::ephemeral_sequential}).code, ReplyCode::ok);
  party->handle().expire();
  ASSERT_TRUE(party->wait_for(Kind::expired));
  EXPECT_EQ(party->recorder.count(Kind::expired), 1u);
  other->settle(root());
  EXPECT_TRUE(other->ask(List{root()}).children.empty());
  EXPECT_EQ(party->ask(Exists{root()}).code, ReplyCode::session_expired);
  EXPECT_EQ(party->ask(Transaction{{Create{at("a"), ""}, Create{at("b"), ""}, Delete{at("a")}}}).code,
            ReplyCode::session_expired);
  EXPECT_EQ(party->ask(Sync{root()}).code, ReplyCode::session_expired);
  EXPECT_EQ(party->ask(Get{root(), true}).code, ReplyCode::session_expired);
}

TEST_P(ContractTest, ExpiryAnswersWhatIsPending) {
  if (!can().expire || !can().withhold_replies) GTEST_SKIP();
  auto party = join();
  party->handle().withhold_replies();
  std::vector<RequestTag> sent;
  for (int i = 0; i < 20; ++i) sent.push_back(party->send(Exists{root()}));
  party->handle().expire();
  party->handle().cut();
  party->handle().heal();
  ASSERT_TRUE(party->wait_for(Kind::expired));
  for (const RequestTag tag : sent) EXPECT_EQ(effect_of(party->wait(tag).code), Effect::unknown);
}

TEST_P(ContractTest, ANewSessionIsAnother) {
  if (!can().expire) GTEST_SKIP();
  auto party = join();
  party->handle().expire();
  ASSERT_TRUE(party->wait_for(Kind::expired));
  auto next = join();
  EXPECT_NE(next->id(), party->id());
  EXPECT_EQ(next->ask(Create{at("mine"), "", CreateMode::ephemeral}).code, ReplyCode::ok);
}

TEST_P(ContractTest, CloseAnswersEverything) {
  auto party = join();
  std::vector<RequestTag> sent;
  for (int i = 0; i < 200; ++i) {
    sent.push_back(party->send(Create{at("n" + std::to_string(i)), ""}));
    sent.push_back(party->send(Transaction{{Check{root()}, SetData{root(), "x"}}}));
  }
  party->handle().close();
  const auto replies = party->recorder.replies();
  ASSERT_EQ(replies.size(), sent.size());
  for (std::size_t i = 0; i < sent.size(); ++i) {
    EXPECT_EQ(replies[i].tag, sent[i]);
    EXPECT_TRUE(replies[i].reply.ok() || replies[i].reply.code == ReplyCode::connection_loss);
  }
  party->handle().close();
  EXPECT_EQ(party->recorder.log().size(), replies.size() + 1) << "replies and `connected`, nothing else";
}

TEST_P(ContractTest, CloseWithoutAConnectionAnswersEverything) {
  if (!can().cut) GTEST_SKIP();
  auto party = join();
  party->handle().cut();
  std::vector<RequestTag> sent;
  for (int i = 0; i < 20; ++i) sent.push_back(party->send(Exists{root()}));
  party->handle().close();
  for (const RequestTag tag : sent) EXPECT_TRUE(party->recorder.reply(tag).has_value());
}

}  // namespace
}  // namespace forelock::contract
