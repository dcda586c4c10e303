// A lock set object against the answers of a session that the test gives by hand.
#include "slot_fixture.h"
#include "support/wait_until.h"

namespace forelock::client {
namespace {

class SetTest : public SlotFixture {
 protected:
  // The code of the error, or "nothing".
  std::string code_of(const std::exception_ptr& error) {
    try {
      if (error) std::rethrow_exception(error);
    } catch (const Error& problem) {
      message_ = problem.what();
      monitor_ = problem.monitor();
      return std::string(name_of(problem.code()));
    }
    return "nothing";
  }

  void take_away(const std::string& monitor);
  std::string message_;
  std::string monitor_;
};

TEST_F(SetTest, AllKnownMembersAreAskedForInOneRequestAndGivenBackSo) {
  const auto set = make_set({"c", "a", "b", "a"});
  EXPECT_THAT(set->monitors(), ElementsAre("a", "b", "c"));
  for (int i = 0; i < 2; ++i) {  // the first time makes the monitors, the second one watches them
    take(*set);
    ASSERT_TRUE(set->holds());
    set->release({});
    session_.answer_all();
  }

  set->acquire(lock::never, false);
  EXPECT_EQ(session_.waiting(), 1u) << "a claim for each member";
  session_.answer_all();
  ASSERT_TRUE(set->healthy());
  const auto tokens = set->tokens();
  ASSERT_EQ(tokens.size(), 3u);
  EXPECT_EQ(tokens[2].monitor, "c");
  EXPECT_LT(0, tokens[0].token);
  EXPECT_EQ(tokens[0].token, tokens[1].token) << "one transaction";
  set->release({});
  EXPECT_EQ(session_.waiting(), 1u);
  session_.answer_all();
  EXPECT_EQ(core_->ensemble().statistics().contenders, 0u);
  EXPECT_EQ(set->state(), LockState::free);
}

// Whose monitors others have used since: their claims need a look at each queue, but share a request.
TEST_F(SetTest, MembersThatOthersHaveUsedAreAskedForInOneRequestToo) {
  std::vector<std::string> names;
  for (int i = 10; i < 50; ++i) names.push_back("m" + std::to_string(i));
  const auto set = make_set(names);
  const auto cycle = [&] {
    take(*set);
    ASSERT_TRUE(set->holds());
    set->release({});
    session_.answer_all();
  };
  for (int i = 0; i < 2; ++i) cycle();  // the first time makes the monitors, the second one watches them
  const auto requests = [&] { return core_->ensemble().statistics().requests; };
  for (int i = 0; i < 2; ++i) {  // the first time the numbers only show that others were there
    for (const std::string& name : names) {
      const auto mode = coordination::CreateMode::ephemeral_sequential;
      session_.write(coordination::Delete{session_.write(coordination::Create{"/" + name + "/A-", "", mode}).path});
    }
    const auto before = requests();
    cycle();
    EXPECT_EQ(requests() - before, names.size() + 2) << "one transaction each way, and a listing of each queue";
  }
}

// Neither the claims behind a busy member are sent, nor the looks at their queues.
TEST_F(SetTest, WhatIsBehindABusyMemberIsNotAskedFor) {
  std::vector<std::string> names;
  for (int i = 10; i < 50; ++i) names.push_back("m" + std::to_string(i));
  const auto set = make_set(names);
  for (int i = 0; i < 3; ++i) {
    if (i == 2) {
      const auto mode = coordination::CreateMode::ephemeral_sequential;
      for (const std::string& name : names) session_.write(coordination::Create{"/" + name + "/A-", "", mode});
      for (const std::string& name : names) {
        for (const std::string& child : session_.read(coordination::List{"/" + name, false}).children) {
          session_.write(coordination::Delete{"/" + name + "/" + child});
        }
      }
    }
    take(*set);
    ASSERT_TRUE(set->holds());
    set->release({});
    session_.answer_all();
  }
  session_.write(coordination::Create{"/m12/privateLock", "", coordination::CreateMode::ephemeral});
  const auto before = core_->ensemble().statistics().requests;
  take(*set);
  EXPECT_EQ(set->waits_for(), "m12");
  EXPECT_LT(core_->ensemble().statistics().requests - before, names.size() / 2);
}

// A single lock that was granted after them does so before.
TEST_F(SetTest, MembersWatchTheirNodesLaterThanOtherLocks) {
  const auto set = make_set({"a", "b", "c"});
  take(*set);
  ASSERT_TRUE(set->holds());
  const auto single = hold("d");
  ASSERT_TRUE(test::wait_until([&] {
    core_->ensemble().tick();
    return session_.waiting() > 0;
  }));
  EXPECT_EQ(session_.waiting(), 2u) << "privateLock and the own node of d";
  session_.answer_all();
}

TEST_F(SetTest, TheOtherMembersAreNamedInPrivateLockAlone) {
  const auto set = make_set({"a", "b"});
  take(*set);
  ASSERT_EQ(set->state(), LockState::held);
  for (const std::string& child : session_.read(coordination::List{"/b", false}).children) {
    const auto record = OwnerRecord::from_json(session_.read(coordination::Get{"/b/" + child, false}).data);
    ASSERT_TRUE(record) << child;
    EXPECT_EQ(record->set_size, 2u) << child;
    EXPECT_EQ(record->set_members.size(), child == "privateLock" ? 2u : 0u) << child;
  }
  set->release({});
  session_.answer_all();
}

TEST_F(SetTest, ABusyMemberIsWaitedForWithTheSmallerOnesAlone) {
  const auto b = hold("b");
  const auto set = make_set({"a", "b", "c"});
  take(*set);
  EXPECT_EQ(set->state(), LockState::waiting);
  EXPECT_EQ(set->waits_for(), "b");
  const auto c = hold("c");  // it is free
  c->release({});
  b->release({});
  session_.answer_all();
  EXPECT_TRUE(set->holds());
  EXPECT_EQ(set->waits_for(), std::nullopt);
}

TEST_F(SetTest, AFailureIsToldWhenEverythingHasBeenGivenBack) {
  const auto b = hold("b");
  const auto set = make_set({"a", "b", "c"});
  const auto acquisition = set->acquire(lock::never, true);
  const auto contenders = [this] { return core_->ensemble().statistics().contenders; };
  while (set->state() == LockState::waiting && contenders() > 2) ASSERT_TRUE(session_.answer_one());
  session_.answer_all();
  EXPECT_EQ(set->state(), LockState::free);
  EXPECT_EQ(core_->ensemble().statistics().contenders, 1u) << "that of b";
  const auto failure = set->wait(acquisition, lock::never);
  ASSERT_TRUE(failure);
  EXPECT_EQ(code_of(set->error_of(*failure, false)), "lock_unavailable");
  EXPECT_EQ(monitor_, "b");
}

TEST_F(SetTest, ACancelledAcquisitionEndsWhenWhatItTookHasGoneBack) {
  const auto b = hold("b");
  const auto set = make_set({"a", "b"});
  EXPECT_FALSE(set->cancel());
  const auto acquisition = set->acquire(lock::never, false);
  session_.answer_all();
  ASSERT_EQ(set->waits_for(), "b");
  EXPECT_TRUE(set->cancel());
  EXPECT_EQ(set->state(), LockState::waiting) << "the release of a is under way";
  EXPECT_FALSE(set->cancel());
  session_.answer_all();
  EXPECT_EQ(set->state(), LockState::free);
  EXPECT_EQ(code_of(set->error_of(*set->wait(acquisition, lock::never), false)), "cancelled");
  EXPECT_EQ(core_->ensemble().statistics().contenders, 1u);
}

TEST_F(SetTest, AnAcquisitionThatHasEndedIsNotTakenForTheNextOne) {
  const auto set = make_set({"a", "b"});
  const auto first = set->acquire(lock::never, false);
  session_.answer_all();
  set->release({});
  session_.answer_all();
  const auto second = set->acquire(lock::never, false);
  ASSERT_EQ(set->state(), LockState::waiting);
  EXPECT_EQ(set->wait(first, lock::never)->refusal.reason, lock::RefusalReason::cancelled);
  session_.answer_all();
  EXPECT_FALSE(set->wait(second, lock::never));
  EXPECT_TRUE(set->holds());
}

TEST_F(SetTest, ASetThatIsDestroyedWhileItWaitsLeavesNothingAndAnswersItsCaller) {
  const auto b = hold("b");
  std::vector<std::string> answers;
  {
    const auto set = make_set({"a", "b", "c"});
    set->acquire(lock::never, false, [&](std::exception_ptr error) { answers.push_back(code_of(error)); });
    session_.answer_all();
    set->retire();
  }
  EXPECT_THAT(answers, ElementsAre("cancelled"));
  session_.answer_all();
  EXPECT_EQ(core_->ensemble().statistics().contenders, 1u);
}

TEST_F(SetTest, ASetThatIsDestroyedWhileItHoldsIsReleased) {
  const auto set = make_set({"a", "b"});
  take(*set);
  set->retire();
  session_.answer_all();
  EXPECT_EQ(core_->ensemble().statistics().contenders, 0u);
}

TEST_F(SetTest, TheEndOfTheSessionLosesAHeldSetAndEndsOneThatWaits) {
  const auto held = make_set({"a", "b"});
  take(*held);
  const auto waiting = make_set({"b", "c"});
  const auto acquisition = waiting->acquire(lock::never, false);
  session_.answer_all();
  ASSERT_EQ(waiting->waits_for(), "b");
  core_->ensemble().on_session({.kind = coordination::SessionEvent::Kind::expired});
  EXPECT_EQ(held->state(), LockState::lost);
  EXPECT_THROW(held->check_health(), LockUnhealthyException);
  EXPECT_EQ(waiting->state(), LockState::free);
  EXPECT_EQ(code_of(waiting->error_of(*waiting->wait(acquisition, lock::never), false)), "session_expired");
  EXPECT_THROW(held->release_and_wait(), SessionExpiredException);
  EXPECT_EQ(held->state(), LockState::free);
  EXPECT_EQ(core_->ensemble().statistics().contenders, 0u);
}

TEST_F(SetTest, AFailureWithoutAConnectionIsToldAtOnce) {
  const auto b = hold("b");
  const auto set = make_set({"a", "b"});
  take(*set);
  core_->ensemble().on_session({.kind = coordination::SessionEvent::Kind::disconnected});
  EXPECT_TRUE(set->cancel());
  EXPECT_EQ(set->state(), LockState::free);
  EXPECT_EQ(core_->ensemble().statistics().contenders, 3u) << "to be removed when there is a connection again";
}

// A background set has a time for asking who waits behind it. That may come during its release, and ends nothing.
TEST_F(SetTest, ATimeOfItsWaitDoesNotEndItsRelease) {
  core_->start_threads();
  const auto b = hold("b");
  const std::vector<std::string> members = {"a", "b"};
  const auto set = std::make_shared<SetSlot>(core_, "test", members, Priority::background, options());
  take(*set);
  ASSERT_EQ(set->waits_for(), "b");
  const lock::TimePoint begun = now();
  b->release({});
  session_.answer_all();
  ASSERT_TRUE(set->holds());
  std::promise<std::string> answer;
  auto answered = answer.get_future();
  set->release([&](std::exception_ptr error) { answer.set_value(code_of(error)); });
  // When the core tells of a deadline, it has told of all earlier times.
  const auto late = std::make_shared<LockSlot>(core_, "test", "c", Priority::foreground, options());
  const lock::TimePoint deadline = begun + 150ms;
  EXPECT_TRUE(late->wait(late->acquire(deadline, false), deadline));
  EXPECT_NE(answered.wait_for(0s), std::future_status::ready) << "no server has answered";
  session_.answer_all();
  EXPECT_EQ(answered.get(), "nothing");
}

TEST_F(SetTest, AReleaseWithoutAnAnswerEndsAndGoesOnInTheBackground) {
  session_.connect(300ms);
  const auto set = make_set({"a", "b"});
  take(*set);
  EXPECT_THROW(set->release_and_wait(), Error);
  EXPECT_EQ(set->state(), LockState::free);
  EXPECT_THROW(set->release_and_wait(), NoNodeException);
}

TEST_F(SetTest, AnAcquisitionThatThrowsLeavesTheObjectFree) {
  SetSlot set(core_, "test", {"a"}, Priority::foreground, options());
  for (int i = 0; i < 2; ++i) {
    EXPECT_THROW(set.acquire(lock::never, false), std::bad_weak_ptr);
    EXPECT_EQ(set.state(), LockState::free);
  }
}

TEST_F(SetTest, OneAcquisitionAtATime) {
  const auto set = make_set({"a"});
  set->acquire(lock::never, false);
  try {
    set->acquire(lock::never, false);
    FAIL();
  } catch (const RequestRejectedException& problem) {
    EXPECT_EQ(problem.code(), ErrorCode::already_held);
  }
  session_.answer_all();
  EXPECT_TRUE(set->holds());
  EXPECT_THROW(make_set({"b"})->release_and_wait(), NoNodeException);
}

// An administrator, who has removed the lock: its watch tells.
void SetTest::take_away(const std::string& monitor) {
  for (const std::string& child : session_.read(coordination::List{"/" + monitor, false}).children) {
    session_.write(coordination::Delete{"/" + monitor + "/" + child});
  }
}

TEST_F(SetTest, WhatIsLeftOfALostSetIsReleasedBeforeItIsTakenAgain) {
  const auto set = make_set({"a", "b"});
  take(*set);
  ASSERT_TRUE(set->holds());
  take_away("a");
  core_->ensemble().on_watch({coordination::WatchEvent::Kind::deleted, "/a/privateLock"});
  session_.answer_all();
  ASSERT_EQ(set->state(), LockState::lost);
  take(*set);
  EXPECT_TRUE(set->holds()) << "it waits for what it had kept itself";
  EXPECT_EQ(core_->ensemble().statistics().contenders, 2u);
}

// The watch on a member that is held comes a second after its grant at the earliest.
TEST_F(SetTest, AMemberThatWasTakenAwayWhileTheSetWaitedIsTakenAgain) {
  const auto b = hold("b");
  const auto set = make_set({"a", "b", "c"});
  take(*set);
  ASSERT_EQ(set->waits_for(), "b");
  take_away("a");
  session_.write(coordination::Create{"/a/privateLock", "another client's", coordination::CreateMode::ephemeral});
  b->release({});
  session_.answer_all();
  EXPECT_FALSE(set->holds()) << "beside another holder";
  EXPECT_EQ(set->waits_for(), "a");
}

TEST_F(SetTest, WhatALargeSetHeldWhileItWaitedIsProvedInFewRequests) {
  std::vector<std::string> names;
  for (int i = 100; i < 400; ++i) names.push_back("m" + std::to_string(i));
  const auto last = hold(names.back());
  const auto set = make_set(names);
  take(*set);
  ASSERT_EQ(set->waits_for(), names.back());
  const auto before = core_->ensemble().statistics().requests;
  last->release({});
  session_.answer_all();
  ASSERT_TRUE(set->holds());
  EXPECT_LT(core_->ensemble().statistics().requests - before, 10u);
}

TEST_F(SetTest, ASetWhoseProofIsNotAnsweredFailsInTime) {
  core_->start_threads();
  const auto b = hold("b");
  const auto set = make_set({"a", "b"});
  const auto acquisition = set->acquire(now() + 200ms, false);
  session_.answer_all();
  ASSERT_EQ(set->waits_for(), "b");
  b->release({});
  ASSERT_TRUE(test::wait_until([&] { return !set->waits_for() || !session_.answer_one(); }));
  ASSERT_EQ(set->state(), LockState::waiting);
  ASSERT_EQ(set->waits_for(), std::nullopt) << "held but for the proof";
  const auto failure = set->wait(acquisition, lock::never);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->refusal.reason, lock::RefusalReason::timed_out);
  session_.answer_all();
  EXPECT_EQ(core_->ensemble().statistics().contenders, 0u);
}

TEST_F(SetTest, AWaitingBackgroundSetKeepsItsMembersBeforeItsOwnClass) {
  const auto b = hold("b");
  const auto in_background = [&](const std::vector<std::string>& members) {
    return std::make_shared<SetSlot>(core_, "test", members, Priority::background, options());
  };
  const auto set = in_background({"a", "b"});
  take(*set);
  ASSERT_EQ(set->waits_for(), "b");
  const auto equal = in_background({"a"});
  take(*equal);
  EXPECT_FALSE(equal->holds());
  const auto urgent = std::make_shared<LockSlot>(core_, "test", "a", Priority::foreground, options());
  take(*urgent);
  EXPECT_TRUE(urgent->holds());
}

TEST_F(SetTest, InvalidMembersAreRefused) {
  const auto refusal = [&](const std::vector<std::string>& monitors) {
    try {
      make_set(monitors);
    } catch (const RequestRejectedException& problem) {
      EXPECT_EQ(problem.code(), ErrorCode::invalid_argument);
      return std::string(problem.what());
    }
    return std::string("none");
  };
  EXPECT_THAT(refusal({}), HasSubstr("without a member"));
  EXPECT_THAT(refusal({"a", ""}), HasSubstr("monitor id"));
  std::vector<std::string> many;
  for (std::size_t i = 0; i < LockSet::max_members; ++i) many.push_back("m" + std::to_string(i));
  many.push_back("m0");
  EXPECT_EQ(refusal(many), "none") << "the same one twice counts once";
  many.push_back("one more");
  EXPECT_THAT(refusal(many), HasSubstr("at most 1000"));
}

}  // namespace
}  // namespace forelock::client
