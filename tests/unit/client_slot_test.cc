// A lock object against the answers of a session that the test gives by hand.
#include "records/wall_time.h"
#include "slot_fixture.h"
#include "support/wait_until.h"
#include "unlock_points.h"

namespace forelock::client {
namespace {

using SlotTest = SlotFixture;

TEST_F(SlotTest, ALockThatIsGrantedWhileItsObjectIsDestroyedIsReleased) {
  if (!test::unlock_points_work()) GTEST_SKIP() << "the thread sanitizer watches the mutexes";
  for (int i = 0; i < 2; ++i) {  // the first time makes the monitor, the second one watches it
    const auto slot = make_slot();
    take(*slot);
    ASSERT_TRUE(slot->holds());
    slot->retire();
    session_.answer_all();
  }

  int point = 1;
  for (bool reached = true; reached; ++point) {
    const auto slot = make_slot();
    slot->acquire(lock::never, false, [](std::exception_ptr) {});
    ASSERT_EQ(session_.waiting(), 1u) << "the claim, whose answer is the grant";
    reached = test::run_at_unlock_point(
        point, [&] { slot->retire(); }, [&] { session_.answer_one(); });
    session_.answer_all();
    EXPECT_EQ(core_->ensemble().statistics().contenders, 0u) << "held by no object; granted at point " << point;
  }
  EXPECT_GT(point, 2);
}

// The server keeps every transaction in memory for a while, so nothing long is in one twice.
TEST_F(SlotTest, AClaimTellsTheStackInPrivateLockAlone) {
  const auto slot = std::make_shared<LockSlot>(core_, "test", "P", Priority::foreground, LockOptions());
  take(*slot);
  ASSERT_TRUE(slot->holds());
  std::size_t contenders = 0;
  for (const std::string& child : session_.read(coordination::List{"/P", false}).children) {
    const auto record = OwnerRecord::from_json(session_.read(coordination::Get{"/P/" + child, false}).data);
    ASSERT_TRUE(record) << child;
    EXPECT_EQ(record->lock_info, "test") << child;
    EXPECT_EQ(record->stack.empty(), child != "privateLock") << child;
    if (child != "privateLock") ++contenders;
  }
  EXPECT_EQ(contenders, 1u);
  slot->retire();
  session_.answer_all();
}

// By ourselves, in the middle of an outage: another session takes its place, and what was held is not held by that.
TEST_F(SlotTest, ALockIsLostWithASessionThatIsGivenUpWhileItIsDisconnected) {
  const auto slot = make_slot();
  take(*slot);
  ASSERT_TRUE(slot->holds());
  session_.disconnect();
  core_->ensemble().use_session(nullptr);
  EXPECT_FALSE(slot->holds());
  const ClientStatistics statistics = core_->statistics();
  EXPECT_EQ(statistics.lost, 1u);
  EXPECT_EQ(statistics.lost_by_reason, (std::array<std::uint64_t, 4>{0, 1, 0, 0})) << "the session has ended";
  session_.connect(1h, TreeSession::id + 2);
  EXPECT_FALSE(slot->holds());
  session_.answer_all();
  slot->retire();
}

// The code of the error, or "held".
std::string text_of(const std::exception_ptr& error) {
  try {
    if (error) std::rethrow_exception(error);
  } catch (const Error& problem) {
    return std::string(name_of(problem.code()));
  }
  return "held";
}

// Another thread may have used the object meanwhile: the answer of its acquisition is not given away.
TEST_F(SlotTest, AnAcquisitionThatHasEndedIsNotTakenForTheNextOne) {
  const auto slot = make_slot();
  const auto first = slot->acquire(lock::never, false);
  EXPECT_FALSE(slot->wait_until(first, now()));
  session_.answer_all();
  slot->release_detached();
  std::string answer;
  const auto second = slot->acquire(lock::never, false, [&](std::exception_ptr error) { answer = text_of(error); });
  ASSERT_EQ(slot->state(), LockState::waiting);
  EXPECT_TRUE(slot->wait_until(first, lock::never));
  EXPECT_FALSE(slot->tell_end(first, [](std::exception_ptr) { ADD_FAILURE() << "has ended before"; }));
  EXPECT_EQ(slot->wait(first, lock::never)->refusal.reason, lock::RefusalReason::cancelled);
  EXPECT_FALSE(slot->wait_until(second, now()));
  slot->retire();
  EXPECT_EQ(answer, "cancelled");
  session_.answer_all();
}

TEST_F(SlotTest, AWaitingAcquisitionIsAnsweredWhenItsObjectIsDestroyed) {
  const auto slot = make_slot();
  std::vector<std::string> answers;
  slot->acquire(lock::never, false, [&](std::exception_ptr error) { answers.push_back(text_of(error)); });
  slot->retire();
  EXPECT_EQ(answers, std::vector<std::string>{"cancelled"});
  session_.answer_all();
  EXPECT_EQ(answers.size(), 1u);
}

// Decided, but the dispatcher has not come to it: its thread does not run here.
TEST_F(SlotTest, AGrantThatIsNotToldYetIsWithdrawnWhenItsObjectIsDestroyed) {
  const auto slot = make_slot();
  std::vector<std::string> answers;
  slot->acquire(lock::never, false, [&](std::exception_ptr error) { answers.push_back(text_of(error)); });
  session_.answer_all();
  ASSERT_TRUE(slot->holds());
  EXPECT_TRUE(answers.empty());
  slot->retire();
  EXPECT_EQ(answers, std::vector<std::string>{"cancelled"});
  session_.answer_all();
  EXPECT_EQ(core_->ensemble().statistics().contenders, 0u);
}

TEST_F(SlotTest, AReleaseThatIsUnderWayIsAnsweredWhenItsObjectIsDestroyed) {
  const auto slot = make_slot();
  std::vector<std::string> answers;
  take(*slot);
  slot->release([&](std::exception_ptr error) { answers.push_back(text_of(error)); });
  slot->retire();
  EXPECT_EQ(answers, std::vector<std::string>{"cancelled"});
  session_.answer_all();
  EXPECT_EQ(core_->ensemble().statistics().contenders, 0u) << "it goes on by itself";
}

TEST_F(SlotTest, AnAcquisitionThatMeetsTheEndOfItsClientIsAnsweredOnce) {
  if (!test::unlock_points_work()) GTEST_SKIP() << "the thread sanitizer watches the mutexes";
  int point = 1;
  for (bool reached = true; reached; ++point) {
    const auto core = std::make_shared<ClientCore>(Settings(), LogSink());
    core->start_threads();
    TreeSession session(*core);
    session.connect(1h);
    const auto slot = std::make_shared<LockSlot>(core, "test", "P", Priority::foreground, LockOptions{});
    std::atomic<int> answers{0};
    std::string outcome = "taken";
    const auto acquire = [&] {
      try {
        slot->acquire(lock::never, false, [&](std::exception_ptr) { ++answers; });
      } catch (const Error& problem) {
        outcome = name_of(problem.code());
      }
    };
    reached = test::run_at_unlock_point(point, acquire, [&] { core->close(); });
    core->close();
    EXPECT_EQ(answers, outcome == "taken" ? 1 : 0) << outcome << ", closed at point " << point;
  }
  EXPECT_GT(point, 3);
}

// One thread unlocks and another one locks, the same object: what the second is granted is not the first one's to end.
TEST_F(SlotTest, AnAcquisitionMeetsTheEndOfAnotherThreadsUnlock) {
  if (!test::unlock_points_work()) GTEST_SKIP() << "the thread sanitizer watches the mutexes";
  int point = 1;
  for (bool reached = true; reached; ++point) {
    const auto slot = make_slot("point-" + std::to_string(point));
    take(*slot);
    ASSERT_TRUE(slot->holds());
    std::thread unlocking([&] { slot->release_and_wait(); });
    while (session_.waiting() == 0) std::this_thread::yield();
    std::string outcome = "taken";
    reached = test::run_at_unlock_point(
        point, [&] { session_.answer_one(); },
        [&] {
          try {
            slot->acquire(lock::never, false);
          } catch (const Error& problem) {
            outcome = name_of(problem.code());
          }
        });
    unlocking.join();
    session_.answer_all();
    if (reached) {
      EXPECT_EQ(slot->holds(), outcome == "taken") << outcome << " at point " << point;
    }
    slot->retire();
    session_.answer_all();
  }
  EXPECT_GT(point, 2);
}

// As before, but the lock is lost before its release is answered.
TEST_F(SlotTest, AnAcquisitionMeetsALossDuringAnotherThreadsUnlock) {
  if (!test::unlock_points_work()) GTEST_SKIP() << "the thread sanitizer watches the mutexes";
  const auto slot = make_slot();
  take(*slot);
  ASSERT_TRUE(slot->holds());
  std::string outcome = "taken";
  ASSERT_TRUE(test::run_at_unlock_point(
      1, [&] { EXPECT_THROW(slot->release_and_wait(), SessionExpiredException); },
      [&] {
        core_->ensemble().on_session({.kind = coordination::SessionEvent::Kind::expired});
        session_.connect(1h, TreeSession::id + 1);
        try {
          slot->acquire(lock::never, false);
        } catch (const Error& problem) {
          outcome = name_of(problem.code());
        }
      }));
  EXPECT_EQ(outcome, "already_held");
  EXPECT_EQ(slot->state(), LockState::free);
  session_.answer_all();
  EXPECT_EQ(core_->ensemble().statistics().contenders, 0u) << "held by no object";
}

// Of one thread's lock, whose acquisition another thread still waits for.
TEST_F(SlotTest, AnAcquisitionIsToldThatItsLockWasLostWhileItSteppedAside) {
  const auto slot = make_slot();
  const auto acquisition = slot->acquire(lock::never, false);
  session_.answer_all();
  slot->begin_step_aside(lock::never);
  std::vector<std::string> answers;
  ASSERT_TRUE(slot->tell_end(acquisition, [&](std::exception_ptr error) { answers.push_back(text_of(error)); }));
  session_.write(coordination::Delete{"/P/privateLock"});
  session_.answer_all();
  ASSERT_EQ(slot->state(), LockState::lost);
  slot->retire();  // gives the answers that are owed on this thread
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers.front(), "lock_unhealthy");
}

// Whatever it is; here that nobody shares the object.
TEST_F(SlotTest, AnAcquisitionThatThrowsLeavesTheObjectFree) {
  LockSlot slot(core_, "test", "P", Priority::foreground, LockOptions());
  for (int i = 0; i < 2; ++i) {
    EXPECT_THROW(slot.acquire(lock::never, false), std::bad_weak_ptr);
    EXPECT_EQ(slot.state(), LockState::free);
  }
}

// With the new grant comes a new token, which readers take from its transaction.
// It may own what calls the lock object or the client when it dies.
TEST_F(SlotTest, TheCallbackOfARefusedAcquisitionDiesWithoutAMutex) {
  const auto slot = make_slot();
  const auto set =
      std::make_shared<SetSlot>(core_, "test", std::vector<std::string>{"Q"}, Priority::foreground, LockOptions());
  const auto refuse = [&](Hold& hold) {
    hold.acquire(lock::never, false);
    std::atomic<bool> asked = false;
    bool answered = false;
    std::jthread other;
    const auto ask = [&](const int*) {
      other = std::jthread([&] {
        hold.on_queued({});  // under the object's mutex
        core_->in_step([](agent::Agent&) {});
        asked = true;
      });
      answered = test::wait_until([&] { return asked.load(); }, 1s);
    };
    std::shared_ptr<const int> owned(new int(1), [&](const int* number) {
      ask(number);
      delete number;
    });
    EXPECT_THROW(hold.acquire(lock::never, false, [owned = std::move(owned)](std::exception_ptr) {}),
                 RequestRejectedException);
    EXPECT_TRUE(answered);
  };
  refuse(*slot);
  refuse(*set);
  slot->retire();
  set->retire();
}

// A copy would be made with the mutex of the client, which what the callback owns may want, and would outlive the call.
TEST_F(SlotTest, TheCallbackOfAReleaseIsNotCopied) {
  struct Callback {
    explicit Callback(int& copies) : copies_(&copies) {}
    Callback(const Callback& other) : copies_(other.copies_) { ++*copies_; }
    Callback(Callback&& other) noexcept = default;
    void operator()(const std::exception_ptr&) const {}
    int* copies_;
  };
  const auto slot = make_slot();
  take(*slot);
  int copies = 0;
  slot->release(Callback(copies));
  session_.answer_all();
  EXPECT_EQ(slot->state(), LockState::free);
  slot->release(Callback(copies));  // is not held
  slot->retire();
  EXPECT_EQ(copies, 0);
}

TEST_F(SlotTest, TheRecordKeepsNoTokenOfAnEarlierGrant) {
  const auto slot = make_slot();
  take(*slot);
  slot->alive(1s);
  session_.answer_all();
  ASSERT_TRUE(slot->owner().fencing_token);
  slot->begin_step_aside(lock::never);
  session_.answer_all();
  ASSERT_TRUE(slot->holds());
  EXPECT_FALSE(slot->owner().fencing_token);
  slot->retire();
  session_.answer_all();
}

TEST_F(SlotTest, WhoSaysThatItIsAliveMayKeepTheLockForLonger) {
  LockOptions options;
  options.capture_stack = false;
  options.auto_unlock_after = 1h;
  const auto slot = std::make_shared<LockSlot>(core_, "test", "P", Priority::foreground, options);
  take(*slot);
  const auto first = slot->owner().auto_unlock_at;
  ASSERT_TRUE(first);
  EXPECT_TRUE(test::wait_until([&] {
    slot->alive(1s);
    session_.answer_all();
    return slot->owner().auto_unlock_at > first;
  }));
  const auto written = OwnerRecord::from_json(session_.read(coordination::Get{"/P/privateLock", false}).data);
  ASSERT_TRUE(written);
  EXPECT_EQ(written->auto_unlock_at, slot->owner().auto_unlock_at);
  slot->retire();
  session_.answer_all();
}

// Otherwise it would be worth another attempt, with the same credentials.
TEST_F(SlotTest, AWaitThatRefusedCredentialsEndSaysSo) {
  const auto slot = make_slot();
  const auto acquisition = slot->acquire(lock::never, false);
  core_->ensemble().on_session({.kind = coordination::SessionEvent::Kind::auth_failed});
  const auto refusal = slot->wait(acquisition, lock::never);
  ASSERT_TRUE(refusal);
  ASSERT_EQ(refusal->refusal.reason, lock::RefusalReason::session_expired);
  try {
    std::rethrow_exception(slot->error_of(*refusal, false));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::not_authorized);
    EXPECT_NE(std::string(error.what()).find("zookeeper.auth.digest.file"), std::string::npos) << error.what();
  }
}

TEST_F(SlotTest, AClaimOfASessionWithoutEphemeralNodesNamesTheServersSetting) {
  const auto slot = make_slot();
  try {
    std::rethrow_exception(slot->error_of(
        {.refusal = {.reason = lock::RefusalReason::rejected, .code = coordination::ReplyCode::no_ephemerals}}, false));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::server_error);
    EXPECT_NE(error.hint().find("localSessionsUpgradingEnabled"), std::string::npos) << error.hint();
  }
}

// Lost with its session, it is still there: the servers keep it for a moment.
TEST_F(SlotTest, AGuardedWriteUnderALockThatWasLostMeanwhileSaysThatItIsNotOurs) {
  const auto slot = make_slot();
  take(*slot);
  std::string told = "nothing";
  std::thread writer([&] {
    try {
      slot->write_guarded({SetNode{"/nowhere", "x"}});
    } catch (const Error& error) {
      told = name_of(error.code());
    }
  });
  EXPECT_TRUE(test::wait_until([this] { return session_.waiting() == 1; }));
  session_.answer_one();  // no such node
  EXPECT_TRUE(test::wait_until([this] { return session_.waiting() == 1; })) << "whether the lock is ours";
  core_->ensemble().on_session({.kind = coordination::SessionEvent::Kind::expired});
  session_.answer_one();
  writer.join();
  EXPECT_EQ(told, "lock_unhealthy");
}

// The margin that was checked against the time-out asked for may be more than the granted one.
TEST_F(SlotTest, ThereIsNoDangerOnAGoodConnectionWithAShorterSessionThanAskedFor) {
  Settings settings;
  settings.set("zookeeper.session.timeout", "90000");
  const auto core = std::make_shared<ClientCore>(std::move(settings), LogSink());
  core->start_threads();
  TreeSession session(*core);
  session.connect(12s);
  const auto slot = std::make_shared<LockSlot>(core, "test", "P", Priority::foreground, LockOptions{});
  std::atomic<bool> danger{false};
  slot->on_danger(30s, [&] { danger = true; });
  slot->acquire(lock::never, false);
  session.answer_all();
  ASSERT_TRUE(slot->holds());
  slot->on_danger(30s, [&] { danger = true; });  // of a lock that is held
  core->ensemble().tick();
  std::atomic<bool> later{false};
  core->post({.run = [&] { later = true; }});
  ASSERT_TRUE(test::wait_until([&] { return later.load(); }));
  EXPECT_FALSE(danger);
  slot->retire();
}

TEST_F(SlotTest, AnAcquisitionThatHasJustBegunCanBeCancelled) {
  if (!test::unlock_points_work()) GTEST_SKIP() << "the thread sanitizer watches the mutexes";
  int point = 1;
  for (bool reached = true; reached; ++point) {
    const auto slot = make_slot();
    bool waiting = false;
    bool cancelled = false;
    reached = test::run_at_unlock_point(
        point, [&] { slot->acquire(lock::never, false); },
        [&] {
          waiting = slot->state() == LockState::waiting;
          cancelled = slot->cancel();
        });
    EXPECT_EQ(cancelled, waiting) << "at point " << point;
    EXPECT_EQ(slot->state(), cancelled ? LockState::free : LockState::waiting) << "at point " << point;
    slot->retire();
    session_.answer_all();
  }
  EXPECT_GT(point, 2);
}

// Whoever acts on these instants would take the lock of a holder that has said it is alive.
TEST_F(SlotTest, AliveMovesTheInstantsOfTheRecord) {
  LockOptions options;
  options.capture_stack = false;
  options.auto_unlock_after = 1h;
  const auto slot = std::make_shared<LockSlot>(core_, "test", "P", Priority::foreground, options);
  take(*slot);
  ASSERT_TRUE(slot->holds());
  const auto before = slot->owner();
  ASSERT_TRUE(before.auto_unlock_at);
  ASSERT_TRUE(test::wait_until([&] { return records::wall_time_now() > *before.acquired_at; }));
  slot->alive(1min);
  session_.answer_all();
  const auto after = OwnerRecord::from_json(session_.read(coordination::Get{"/P/privateLock", false}).data);
  ASSERT_TRUE(after);
  EXPECT_GT(after->auto_unlock_at, before.auto_unlock_at);
  EXPECT_TRUE(after->alert_at);
  EXPECT_EQ(*after, slot->owner());
  slot->retire();
  session_.answer_all();
}

// What it has said of one grant is not true of the next.
TEST_F(SlotTest, WhoSteppedAsideHasTheRecordOfItsNewGrant) {
  const auto slot = make_slot();
  take(*slot);
  slot->alive(1min);
  session_.answer_all();
  ASSERT_EQ(slot->owner().fencing_token, slot->token());
  slot->begin_step_aside(lock::never);
  session_.answer_all();
  ASSERT_TRUE(slot->holds());
  EXPECT_EQ(slot->owner().fencing_token, std::nullopt) << "nobody has written it";
  EXPECT_EQ(slot->owner().alert_at, std::nullopt);
  EXPECT_EQ(slot->owner().expected_runtime, std::nullopt);
  slot->retire();
  session_.answer_all();
}

}  // namespace
}  // namespace forelock::client
