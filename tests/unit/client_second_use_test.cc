// Lock objects and clients that are used again: nothing of the first use is left. And what is left of a set when it
// ends. Against the answers of a session that the test gives by hand.
#include "slot_fixture.h"
#include "support/wait_until.h"

namespace forelock::client {
namespace {

using coordination::Create;
using coordination::CreateMode;
using coordination::Get;

class SecondUseTest : public SlotFixture {
 protected:
  template <class Slot>
  void hold(Slot& slot) {
    take(slot);
    ASSERT_TRUE(slot.holds());
  }
  // By another client.
  void take_away(const std::string& monitor) {
    for (const std::string& child : session_.read(coordination::List{"/" + monitor, false}).children) {
      session_.write(coordination::Delete{"/" + monitor + "/" + child});
    }
    core_->ensemble().on_watch({coordination::WatchEvent::Kind::deleted, "/" + monitor + "/privateLock"});
    session_.answer_all();
  }
  std::optional<OwnerRecord> record_at(const std::string& path) const {
    return OwnerRecord::from_json(session_.read(Get{path, false}).data);
  }
  std::uint64_t contenders() const { return core_->ensemble().statistics().contenders; }
};

// Who works under the second grant would stop at once.
TEST_F(SecondUseTest, TheLossOfALockStopsNothingUnderItsNextGrant) {
  const auto slot = make_slot();
  hold(*slot);
  take_away("P");
  ASSERT_EQ(slot->state(), LockState::lost);
  const auto of_the_lost_one = slot->stop_token();
  EXPECT_TRUE(of_the_lost_one.stop_requested());
  hold(*slot);
  EXPECT_FALSE(slot->stop_token().stop_requested());
  slot->retire();
  session_.answer_all();
}

TEST_F(SecondUseTest, TheLossOfASetStopsNothingUnderItsNextGrant) {
  const auto set = make_set();
  hold(*set);
  take_away("P");
  ASSERT_EQ(set->state(), LockState::lost);
  EXPECT_TRUE(set->stop_token().stop_requested());
  hold(*set);
  EXPECT_FALSE(set->stop_token().stop_requested());
  set->retire();
  session_.answer_all();
}

TEST_F(SecondUseTest, AStackIsThatOfOneAcquisition) {
  const auto slot = make_slot();
  slot->set_stack({"first"});
  hold(*slot);
  EXPECT_THAT(record_at("/P/privateLock")->stack, ElementsAre("first"));
  slot->release({});
  session_.answer_all();
  hold(*slot);
  EXPECT_THAT(record_at("/P/privateLock")->stack, IsEmpty());
  slot->set_stack({"of one that is refused"});
  EXPECT_THROW(slot->acquire(lock::never, false), RequestRejectedException);
  slot->release({});
  session_.answer_all();
  hold(*slot);
  EXPECT_THAT(record_at("/P/privateLock")->stack, IsEmpty());
  slot->retire();
  session_.answer_all();
}

// It waits again, and has been granted nothing yet.
TEST_F(SecondUseTest, WhoStepsAsideAndGoesToAnotherClassTellsNothingOfItsFormerGrant) {
  const auto slot = make_slot("P", Priority::background);
  hold(*slot);
  slot->alive(1min);
  session_.answer_all();
  session_.write(Create{"/P/A-", "another client's", CreateMode::ephemeral_sequential});
  slot->begin_step_aside(lock::never);
  session_.answer_all();
  ASSERT_EQ(slot->state(), LockState::waiting);
  ASSERT_TRUE(slot->set_priority(Priority::foreground));
  session_.answer_all();
  ASSERT_EQ(slot->state(), LockState::waiting);
  std::optional<OwnerRecord> ours;
  for (const std::string& child : session_.read(coordination::List{"/P", false}).children) {
    if (auto record = record_at("/P/" + child)) ours = std::move(record);
  }
  ASSERT_TRUE(ours);
  EXPECT_EQ(ours->priority, Priority::foreground);
  EXPECT_EQ(ours->acquired_at, std::nullopt);
  EXPECT_EQ(ours->alert_at, std::nullopt);
  EXPECT_EQ(ours->fencing_token, std::nullopt);
  EXPECT_EQ(slot->owner().acquired_at, std::nullopt);
  slot->retire();
  session_.answer_all();
}

// An outage that comes later has other reasons.
TEST_F(SecondUseTest, RefusedCredentialsAreForgottenWithAConnection) {
  core_->ensemble().on_session({.kind = coordination::SessionEvent::Kind::auth_failed});
  ASSERT_EQ(core_->ensemble().standing_problem(), ErrorCode::not_authorized);
  session_.connect(1h, TreeSession::id + 2);
  session_.disconnect();
  EXPECT_EQ(core_->ensemble().standing_problem(), std::nullopt);
  EXPECT_EQ(core_->ensemble().last_problem(), "");
}

// --- what is left of a set ---

TEST_F(SecondUseTest, ALostSetThatNobodyWaitsForGivesItsOtherMembersBack) {
  const auto set = make_set();
  hold(*set);
  take_away("P");
  ASSERT_EQ(set->state(), LockState::lost);
  ASSERT_EQ(contenders(), 1u);
  set->release_detached();
  session_.answer_all();
  EXPECT_EQ(contenders(), 0u);
  EXPECT_FALSE(session_.read(Get{"/Q/privateLock", false}).ok());
  EXPECT_EQ(set->state(), LockState::free);
}

// Readers cannot take it from the transaction any more.
TEST_F(SecondUseTest, EachMemberOfASetThatIsAliveHasItsOwnToken) {
  const auto other = std::make_shared<LockSlot>(core_, "test", "Q", Priority::foreground, options());
  hold(*other);
  const auto set = make_set();
  take(*set);
  ASSERT_EQ(set->waits_for(), "Q");
  other->release({});
  session_.answer_all();
  ASSERT_TRUE(set->holds());
  ASSERT_NE(set->tokens()[0].token, set->tokens()[1].token);
  set->alive(1min);
  session_.answer_all();
  EXPECT_EQ(record_at("/P/privateLock")->fencing_token, set->tokens()[0].token);
  EXPECT_EQ(record_at("/Q/privateLock")->fencing_token, set->tokens()[1].token);
  set->retire();
  session_.answer_all();
}

// --- requests without a connection ---

// Nothing else happens in this client that would give its thread a reason to look, once it has begun.
TEST(RequestWithoutAConnection, IsRefusedWhenItsTimeIsOver) {
  Settings settings;
  settings.set("zookeeper.connection.retry", "1", "test");
  settings.set("zookeeper.connection.delay", "100", "test");
  const auto core = std::make_shared<ClientCore>(std::move(settings), LogSink());
  core->start_threads();
  for (int i = 0; i < 2; ++i) {
    auto answer = core->ensemble().request(Get{"/P", false});
    if (answer.wait_for(30s) != std::future_status::ready) ADD_FAILURE() << "request " << i;
    core->ensemble().tick();
    EXPECT_EQ(answer.get().code, coordination::ReplyCode::connection_loss);
  }
  core->close();
}

// --- a class that is changed before there is a node ---

TEST_F(SecondUseTest, ASetWhosePriorityIsChangedBeforeItHasANodeWaitsInItsNewClass) {
  const auto other = std::make_shared<LockSlot>(core_, "test", "Q", Priority::foreground, options());
  hold(*other);
  session_.disconnect();
  const auto set =
      std::make_shared<SetSlot>(core_, "test", std::vector<std::string>{"P", "Q"}, Priority::background, options());
  set->acquire(lock::never, false);
  ASSERT_TRUE(set->set_priority(Priority::foreground));
  session_.reconnect(1h);
  session_.answer_all();
  ASSERT_EQ(set->waits_for(), "Q");
  for (const std::string& child : session_.read(coordination::List{"/Q", false}).children) {
    EXPECT_FALSE(child.starts_with("B-")) << child;
  }
  set->retire();
  other->retire();
  session_.answer_all();
}

}  // namespace
}  // namespace forelock::client
