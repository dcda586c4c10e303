// Locks that stay with their process: when, for whom, and until when.
#include "linger/linger_machine.h"
#include "support/test.h"

namespace forelock::linger {
namespace {

using lock::ContenderId;

constexpr auto foreground = Priority::foreground;
constexpr auto background = Priority::background;

class LingerMachineTest : public ::testing::Test {
 protected:
  explicit LingerMachineTest(LingerLimits limits = {.time = 10s, .locks = 3, .wanted = 2}) : machine_(limits) {}

  // A new contender that the servers grant the monitor.
  ContenderId grant(const std::string& monitor, Priority priority = foreground, bool may_linger = true) {
    const ContenderId contender = ask(monitor, priority, may_linger);
    machine_.granted(contender, token_of(contender));
    return contender;
  }
  ContenderId ask(const std::string& monitor, Priority priority = foreground, bool may_linger = true) {
    const ContenderId contender = ++last_;
    watched_ = machine_.ask(contender, {monitor, priority, may_linger}, "guid" + std::to_string(contender), now_);
    return contender;
  }
  // A lock that lingers.
  ContenderId keep(const std::string& monitor, Priority priority = foreground) {
    const ContenderId contender = grant(monitor, priority);
    EXPECT_TRUE(end(contender));
    return contender;
  }
  bool end(ContenderId contender, bool certain = true, bool may_wait = true) {
    return machine_.end_section(contender, certain, may_wait, now_);
  }
  // 0: the servers must be asked.
  ContenderId take(const std::string& monitor, Priority priority = foreground, bool may_linger = true,
                   bool certain = true) {
    const Lock* lock = machine_.take({monitor, priority, may_linger}, certain, now_);
    if (lock == nullptr) return 0;
    EXPECT_EQ(lock->token, token_of(lock->contender));
    EXPECT_EQ(lock->guid, "guid" + std::to_string(lock->contender));
    return lock->contender;
  }
  std::vector<ContenderId> given_up() { return machine_.take_given_up(); }
  static lock::Token token_of(ContenderId contender) { return 1000 + static_cast<lock::Token>(contender); }

  LingerMachine machine_;
  lock::TimePoint now_ = lock::TimePoint() + 1h;
  ContenderId last_ = 0;
  bool watched_ = false;
};

TEST_F(LingerMachineTest, TheNextSectionGetsTheLockOnce) {
  const ContenderId kept = keep("P");
  EXPECT_TRUE(watched_);
  EXPECT_EQ(machine_.lingering(), 1u);
  EXPECT_EQ(take("Q"), 0u);
  EXPECT_EQ(take("P"), kept);
  EXPECT_EQ(machine_.lingering(), 0u);
  EXPECT_EQ(take("P"), 0u) << "it is in use";
  EXPECT_THAT(given_up(), IsEmpty());
  EXPECT_TRUE(end(kept));
  EXPECT_EQ(take("P"), kept) << "and again";
}

TEST_F(LingerMachineTest, AMonitorIsForgottenWithItsLastContender) {
  const ContenderId kept = keep("P");
  const ContenderId refused = ask("P");
  EXPECT_EQ(machine_.monitors(), 1u);
  machine_.ended(refused);
  EXPECT_EQ(machine_.monitors(), 1u);
  machine_.ended(kept);
  const ContenderId used = grant("Q", foreground, false);
  EXPECT_FALSE(end(used));
  EXPECT_EQ(machine_.monitors(), 0u);
}

TEST_F(LingerMachineTest, WhatIsGivenBackUnusedDoesNotStay) {
  const ContenderId unused = grant("P");
  machine_.given_back(unused);
  EXPECT_FALSE(end(unused));
  EXPECT_EQ(machine_.lingering(), 0u);
  EXPECT_FALSE(machine_.ended(unused));
  const ContenderId held = grant("P");
  const ContenderId waiting = ask("P");
  machine_.given_back(waiting);
  EXPECT_FALSE(end(waiting)) << "nor is one that is asked for";
  EXPECT_FALSE(machine_.ended(waiting));
  machine_.changed("P", now_);
  EXPECT_FALSE(end(held));
  keep("P");  // since it was the withdrawn one's node that went, not another client's
}

// Or the next client that comes would be taken for it.
TEST_F(LingerMachineTest, OfAnAttemptThatDidNotQueueNoNewsAreDue) {
  const ContenderId held = grant("P");
  const ContenderId attempt = ask("P");
  EXPECT_FALSE(machine_.ended(attempt, false));
  EXPECT_TRUE(end(held));
  machine_.changed("P", now_);
  EXPECT_THAT(given_up(), ElementsAre(held));
  machine_.ended(held);
  EXPECT_FALSE(end(grant("P"))) << "another client wanted it just now";
}

TEST_F(LingerMachineTest, NothingLingersUnlessItIsAskedFor) {
  LingerMachine off({});
  const std::string monitor = "P";
  EXPECT_FALSE(off.on());
  EXPECT_FALSE(off.ask(1, {monitor}, "guid", now_));
  off.granted(1, 7);
  EXPECT_FALSE(off.end_section(1, true, true, now_));
  EXPECT_EQ(off.take({monitor}, true, now_), nullptr);
  EXPECT_EQ(off.contenders(), 0u);
}

TEST_F(LingerMachineTest, ANewcomerEndsIt) {
  const ContenderId kept = keep("P");
  machine_.contended(kept, now_);
  EXPECT_THAT(given_up(), ElementsAre(kept));
  EXPECT_EQ(take("P"), 0u);
  machine_.contended(kept, now_);
  machine_.changed("P", now_);
  EXPECT_THAT(given_up(), IsEmpty()) << "once";
}

TEST_F(LingerMachineTest, TheNewsOfAChangeIsEnough) {
  const ContenderId p = keep("P");
  const ContenderId q = keep("Q");
  machine_.changed("R", now_);
  EXPECT_THAT(given_up(), IsEmpty());
  machine_.changed("Q", now_);
  EXPECT_THAT(given_up(), ElementsAre(q));
  EXPECT_EQ(take("P"), p);
}

TEST_F(LingerMachineTest, ALockThatWasWantedWhileItWasInUseIsReleased) {
  const ContenderId contended = grant("P");
  machine_.contended(contended, now_);
  const ContenderId changed = grant("Q");
  machine_.changed("Q", now_);
  EXPECT_THAT(given_up(), IsEmpty()) << "their callers hold them";
  EXPECT_FALSE(end(contended));
  EXPECT_FALSE(end(changed));
}

TEST_F(LingerMachineTest, AMonitorThatOthersWantedIsLeftAloneForAWhile) {
  machine_.contended(keep("P"), now_);
  now_ += 9s;
  const ContenderId soon = grant("P");
  EXPECT_FALSE(watched_) << "its lock will not linger, so nothing needs to be watched";
  EXPECT_FALSE(end(soon));
  now_ += 1s;
  keep("P");
  EXPECT_TRUE(watched_);
}

TEST_F(LingerMachineTest, OfMonitorsThatOthersWantedTheLastAreRemembered) {
  for (const char* monitor : {"P", "Q", "R"}) machine_.contended(keep(monitor), now_);
  keep("P");
  EXPECT_FALSE(end(grant("Q")));
  EXPECT_FALSE(end(grant("R")));
}

TEST_F(LingerMachineTest, AContenderOfThisProcessThatWaitsGetsTheLockFromTheEngine) {
  const ContenderId holder = grant("P");
  const ContenderId waiter = ask("P");
  machine_.contended(holder, now_);
  EXPECT_FALSE(end(holder));
  machine_.granted(waiter, token_of(waiter));
  EXPECT_TRUE(end(waiter)) << "it was no other process that wanted the monitor";
}

TEST_F(LingerMachineTest, AContenderThatHasGivenUpWaitsNoMore) {
  const ContenderId holder = grant("P");
  EXPECT_FALSE(machine_.ended(ask("P")));
  EXPECT_TRUE(end(holder));
}

// Its node's removal changes the monitor's children like a newcomer does.
TEST_F(LingerMachineTest, ACourseOfThisProcessAloneIsNoReasonToLeaveTheMonitorAlone) {
  const ContenderId holder = grant("P");
  machine_.ended(ask("P"));
  machine_.changed("P", now_);
  EXPECT_FALSE(end(holder)) << "what has changed is not known";
  EXPECT_TRUE(end(grant("P")));
}

TEST_F(LingerMachineTest, WhoHasGivenUpExplainsOneChange) {
  const ContenderId holder = grant("P");
  machine_.ended(ask("P"));
  machine_.changed("P", now_);
  machine_.changed("P", now_);
  EXPECT_FALSE(end(holder));
  EXPECT_FALSE(end(grant("P")));
}

TEST_F(LingerMachineTest, WhoWantsToKnowItsPlaceGetsALockWhoseContenderTellsIt) {
  const ContenderId silent = keep("P");
  const std::string monitor = "P";
  const Wish wish{monitor, foreground, true, true};
  EXPECT_EQ(machine_.take(wish, true, now_), nullptr);
  EXPECT_THAT(given_up(), ElementsAre(silent));
  machine_.ended(silent);
  machine_.ask(77, wish, "guid77", now_);
  machine_.granted(77, token_of(77));
  EXPECT_TRUE(end(77));
  EXPECT_EQ(take("P"), 77u) << "the others need not listen";
  EXPECT_TRUE(end(77));
  EXPECT_NE(machine_.take(wish, true, now_), nullptr);
}

TEST_F(LingerMachineTest, AHolderThatStepsAsideWaits) {
  const ContenderId aside = grant("P");
  machine_.stepped_aside(aside);
  const ContenderId other = grant("P");
  EXPECT_FALSE(end(other));
  machine_.granted(aside, token_of(aside));
  EXPECT_TRUE(end(aside));
}

TEST_F(LingerMachineTest, AnAcquisitionThatCannotHaveItMakesRoomForItself) {
  const ContenderId other_class = keep("P");
  EXPECT_EQ(take("P", background), 0u);
  EXPECT_THAT(given_up(), ElementsAre(other_class));
  const ContenderId bound = keep("Q");
  EXPECT_EQ(take("Q", foreground, false), 0u);
  EXPECT_THAT(given_up(), ElementsAre(bound));
  EXPECT_TRUE(end(grant("P"))) << "no other process wanted it";
}

TEST_F(LingerMachineTest, ALockThatIsNotCertainIsNotHandedOut) {
  const ContenderId kept = keep("P");
  EXPECT_EQ(take("P", foreground, true, false), 0u);
  EXPECT_THAT(given_up(), ElementsAre(kept));
}

TEST_F(LingerMachineTest, ALockThatIsNotCertainDoesNotLinger) {
  EXPECT_FALSE(end(grant("P"), false));
}

TEST_F(LingerMachineTest, ALockThatIsLostIsGone) {
  const ContenderId kept = keep("P");
  EXPECT_TRUE(machine_.ended(kept));
  EXPECT_EQ(take("P"), 0u);
  EXPECT_THAT(given_up(), IsEmpty());
  EXPECT_EQ(machine_.contenders(), 0u);
  EXPECT_FALSE(machine_.ended(grant("P"))) << "its caller held it";
}

TEST_F(LingerMachineTest, AnOutageEndsThemAll) {
  const ContenderId p = keep("P");
  const ContenderId q = keep("Q");
  const ContenderId used = grant("R");
  machine_.disconnected();
  EXPECT_THAT(given_up(), ElementsAre(p, q));
  EXPECT_FALSE(end(used)) << "what has become of it is not known";
  EXPECT_TRUE(machine_.ended(p));
  keep("P");
}

TEST_F(LingerMachineTest, ItsTimeEndsUnlessItIsUsed) {
  const ContenderId p = keep("P");
  now_ += 4s;
  const ContenderId q = keep("Q");
  EXPECT_EQ(machine_.next_timer(), now_ + 6s);
  now_ += 6s;
  EXPECT_EQ(take("P"), 0u) << "late, but not too late to see it";
  EXPECT_THAT(given_up(), ElementsAre(p));
  EXPECT_EQ(take("Q"), q);
  EXPECT_EQ(machine_.next_timer(), lock::never);
  now_ += 1h;
  machine_.tick(now_);
  EXPECT_THAT(given_up(), IsEmpty());
  EXPECT_TRUE(end(q));
  now_ += 10s - 1ns;
  machine_.tick(now_);
  EXPECT_THAT(given_up(), IsEmpty());
  now_ += 1ns;
  machine_.tick(now_);
  EXPECT_THAT(given_up(), ElementsAre(q));
}

TEST_F(LingerMachineTest, BeyondTheBoundTheLeastRecentlyUsedOneGoes) {
  const ContenderId p = keep("P");
  const ContenderId q = keep("Q");
  keep("R");
  EXPECT_THAT(given_up(), IsEmpty());
  EXPECT_EQ(take("P"), p);
  EXPECT_TRUE(end(p));
  keep("S");
  EXPECT_THAT(given_up(), ElementsAre(q));
  EXPECT_EQ(machine_.lingering(), 3u);
}

TEST_F(LingerMachineTest, WhatEndsWithItsSectionDoesNotLinger) {
  EXPECT_FALSE(end(grant("P", foreground, false)));
  const ContenderId kept = keep("Q");
  ASSERT_EQ(take("Q"), kept);
  machine_.bind_to_section(kept);
  EXPECT_FALSE(end(kept));
}

// The next grant has a record of its own.
TEST_F(LingerMachineTest, WhatStepsAsideIsBoundToNoSectionAnyMore) {
  const ContenderId aside = grant("P");
  machine_.bind_to_section(aside);
  machine_.stepped_aside(aside);
  machine_.granted(aside, token_of(aside));
  EXPECT_TRUE(end(aside));
}

class ReusedLockTest : public LingerMachineTest {
 protected:
  ReusedLockTest() : LingerMachineTest({.time = 10s, .locks = 3, .wanted = 2, .reused = true, .used = 2}) {}
};

TEST_F(ReusedLockTest, ALockLingersFromTheSecondSectionOn) {
  EXPECT_FALSE(end(grant("P")));
  EXPECT_FALSE(watched_) << "nothing is asked for that it does not need";
  now_ += 10s - 1ns;
  const ContenderId again = grant("P");
  EXPECT_TRUE(watched_);
  EXPECT_TRUE(end(again));
  EXPECT_EQ(take("P"), again);
}

TEST_F(ReusedLockTest, AfterItsTimeItIsLikeAnyOther) {
  end(grant("P"));
  now_ += 10s;
  EXPECT_FALSE(end(grant("P")));
}

TEST_F(ReusedLockTest, EachUseCounts) {
  end(grant("P"));
  ASSERT_TRUE(end(grant("P")));
  now_ += 9s;
  const ContenderId kept = take("P");
  ASSERT_NE(kept, 0u);
  EXPECT_TRUE(end(kept));
  now_ += 9s;
  EXPECT_EQ(take("P", background), 0u) << "another class gets a grant of its own";
  EXPECT_TRUE(end(grant("P", background)));
}

TEST_F(ReusedLockTest, OfMonitorsThatWereUsedTheLastAreRemembered) {
  for (const char* monitor : {"P", "Q", "R"}) end(grant(monitor));
  EXPECT_TRUE(end(grant("Q")));
  EXPECT_TRUE(end(grant("R")));
  EXPECT_FALSE(end(grant("P")));
}

class DelayedReleaseTest : public LingerMachineTest {
 protected:
  DelayedReleaseTest() : LingerMachineTest({.delay = 2ms}) {}
};

TEST_F(DelayedReleaseTest, ItGoesWithTheNextRequest) {
  const ContenderId p = grant("P");
  EXPECT_FALSE(watched_);
  EXPECT_TRUE(end(p));
  EXPECT_EQ(machine_.lingering(), 0u);
  EXPECT_THAT(given_up(), IsEmpty());
  EXPECT_EQ(machine_.next_timer(), now_ + 2ms);
  grant("Q");
  EXPECT_THAT(given_up(), ElementsAre(p));
  EXPECT_EQ(machine_.next_timer(), lock::never);
  EXPECT_TRUE(machine_.ended(p)) << "its caller has long finished";
}

TEST_F(DelayedReleaseTest, OrWhenItsTimeEnds) {
  const ContenderId p = grant("P");
  ASSERT_TRUE(end(p));
  now_ += 2ms;
  machine_.tick(now_);
  EXPECT_THAT(given_up(), ElementsAre(p));
}

TEST_F(DelayedReleaseTest, NoOtherSectionGetsTheLock) {
  const ContenderId p = grant("P");
  ASSERT_TRUE(end(p));
  EXPECT_EQ(take("P"), 0u);
  EXPECT_THAT(given_up(), ElementsAre(p)) << "before it is asked for anew";
}

TEST_F(DelayedReleaseTest, ItIsNotDelayedWhereOthersWait) {
  EXPECT_FALSE(end(grant("P"), true, false)) << "the caller says so";
  const ContenderId contended = grant("Q");
  machine_.contended(contended, now_);
  EXPECT_FALSE(end(contended));
  const ContenderId behind = grant("R");
  ask("R");
  EXPECT_FALSE(end(behind));
  const ContenderId late = grant("S");
  ASSERT_TRUE(end(late));
  machine_.changed("S", now_);
  EXPECT_THAT(given_up(), ElementsAre(late));
}

TEST_F(DelayedReleaseTest, ItIsNotDelayedWhereTheSameMonitorIsUsedAgainAndAgain) {
  ASSERT_TRUE(end(grant("P")));
  EXPECT_FALSE(end(grant("P")));
  now_ += 999ms;
  EXPECT_FALSE(end(grant("P")));
  now_ += 1s;
  EXPECT_TRUE(end(grant("P")));
}

TEST_F(DelayedReleaseTest, ItIsNotDelayedOverAnOutage) {
  const ContenderId used = grant("P");
  const ContenderId unused = grant("Q");
  ASSERT_TRUE(end(unused));
  machine_.disconnected();
  EXPECT_THAT(given_up(), ElementsAre(unused));
  EXPECT_FALSE(end(used));
  EXPECT_FALSE(end(grant("R"), false));
}

TEST_F(DelayedReleaseTest, BeyondTheBoundTheFirstOneGoes) {
  std::vector<ContenderId> contenders;
  for (std::size_t i = 0; i <= LingerMachine::most_delayed; ++i) contenders.push_back(grant(std::to_string(i)));
  for (const ContenderId one : contenders) EXPECT_TRUE(end(one));
  EXPECT_THAT(given_up(), ElementsAre(contenders.front()));
}

TEST_F(LingerMachineTest, WhatLingersIsNotDelayedButWhatMayNotLinger) {
  LingerMachine both({.time = 10s, .delay = 2ms});
  const std::string monitor = "P";
  both.ask(1, {monitor, foreground, false}, "guid", now_);
  both.granted(1, 7);
  EXPECT_TRUE(both.end_section(1, true, true, now_));
  EXPECT_EQ(both.lingering(), 0u);
  EXPECT_EQ(both.next_timer(), now_ + 2ms);
  EXPECT_EQ(both.take({monitor}, true, now_), nullptr);
  both.ask(2, {monitor}, "guid", now_);
  both.granted(2, 8);
  EXPECT_TRUE(both.end_section(2, true, true, now_));
  EXPECT_EQ(both.lingering(), 1u);
  EXPECT_EQ(both.next_timer(), now_ + 10s);
}

TEST_F(LingerMachineTest, NothingIsRememberedOfWhatHasEnded) {
  const ContenderId kept = keep("P");
  machine_.contended(kept, now_);
  EXPECT_TRUE(machine_.ended(kept));
  end(grant("P"));
  EXPECT_FALSE(machine_.ended(ask("Q")));
  EXPECT_EQ(machine_.contenders(), 0u);
}

}  // namespace
}  // namespace forelock::linger
