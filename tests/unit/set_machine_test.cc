// A set of locks as one: which members are asked for, kept and given back.
#include "sets/set_machine.h"
#include "sets/canonical_order.h"
#include "support/test.h"

namespace forelock::sets {
namespace {

using lock::Refusal;
using lock::RefusalReason;
using lock::ReleaseOutcome;

std::string letter(std::size_t member) {
  return std::string(1, static_cast<char>('a' + member));
}

// Carries commands out only as far as a test says: what a driver would do with locks of its own.
class SetMachineTest : public ::testing::Test {
 protected:
  // The commands since the last call, as "try a", "wait b", "aside a", "prove a", "drop c", "knock d".
  std::vector<std::string> commands() {
    std::vector<std::string> texts;
    for (const Command& command : set_.take_commands()) {
      switch (command.kind) {
        case Command::Kind::try_once:
          texts.push_back("try " + letter(command.member));
          break;
        case Command::Kind::acquire:
          texts.push_back("wait " + letter(command.member));
          break;
        case Command::Kind::step_aside:
          texts.push_back("aside " + letter(command.member));
          break;
        case Command::Kind::prove:
          texts.push_back("prove " + letter(command.member));
          break;
        case Command::Kind::knock:
          texts.push_back("knock " + letter(command.member));
          continue;
        case Command::Kind::give_up:
          texts.push_back("drop " + letter(command.member));
          dropped_.push_back(command.attempt);
          continue;
      }
      latest_[command.member] = command.attempt;
    }
    return texts;
  }
  // Events in their order: "begin", "+a" a is granted, "-a" refused, "=a" proved, "!a" lost, "." looks away from the
  // commands so far, as "begin" does.
  void play(const std::string& events) {
    std::istringstream words(events);
    for (std::string word; words >> word;) {
      if (word == "begin") set_.begin(false);
      if (word == "begin" || word == ".") commands();
      if (word[0] == '+') grant(word[1]);
      if (word[0] == '-') refuse(word[1]);
      if (word[0] == '=') prove(word[1]);
      if (word[0] == '!') lose(word[1]);
    }
  }
  std::vector<std::string> after(const std::string& events) {
    play(events);
    return commands();
  }
  void grant(char member) { set_.granted(attempt(member), ++token_); }
  void prove(char member) { set_.proved(attempt(member)); }
  void refuse(char member, RefusalReason reason = RefusalReason::unavailable) {
    set_.refused(attempt(member), {.reason = reason});
  }
  void lose(char member, LossReason reason = LossReason::removed) { set_.lost(attempt(member), reason); }
  AttemptId attempt(char member) { return latest_.at(static_cast<std::size_t>(member - 'a')); }
  // Everything that was given up has ended.
  void finish(ReleaseOutcome outcome = ReleaseOutcome::released) {
    for (const AttemptId id : std::exchange(dropped_, {})) set_.released(id, outcome);
  }
  void hold_all() {
    set_.begin(false);
    commands();
    for (std::size_t i = 0; i < set_.members(); ++i) grant(letter(i)[0]);
    ASSERT_EQ(set_.stage(), SetStage::held);
  }

  SetMachine set_{4};
  std::map<std::size_t, AttemptId> latest_;
  std::vector<AttemptId> dropped_;
  lock::Token token_ = 100;
};

TEST_F(SetMachineTest, AllMembersAreAskedForAtOnce) {
  ASSERT_TRUE(set_.begin(false));
  EXPECT_THAT(commands(), ElementsAre("try a", "try b", "try c", "try d"));
  play("+a +b +c");
  EXPECT_EQ(set_.stage(), SetStage::taking);
  play("+d");
  EXPECT_EQ(set_.stage(), SetStage::held);
  EXPECT_THAT(commands(), IsEmpty());
  EXPECT_EQ(set_.token(0), 101);
  EXPECT_EQ(set_.token(3), 104);
}

TEST_F(SetMachineTest, WhatIsBehindABusyMemberGoesBackBeforeItIsWaitedFor) {
  EXPECT_THAT(after("begin +a +c"), IsEmpty()) << "b may still be granted";
  EXPECT_THAT(after("-b"), ElementsAre("drop c", "drop d", "wait b"));
  EXPECT_EQ(set_.waits_for(), 1u);
  EXPECT_TRUE(set_.holds(0));
  EXPECT_FALSE(set_.holds(2));
}

TEST_F(SetMachineTest, ABusyMemberIsNotWaitedForUntilAllBeforeItAreHeld) {
  EXPECT_THAT(after("begin -c"), ElementsAre("drop d"));
  EXPECT_EQ(set_.waits_for(), std::nullopt);
  EXPECT_THAT(after("+b"), IsEmpty());
  EXPECT_THAT(after("+a"), ElementsAre("wait c"));
}

TEST_F(SetMachineTest, TheSmallestBusyMemberIsTheOneThatIsWaitedFor) {
  EXPECT_THAT(after("begin -c -a"), ElementsAre("drop d", "drop b", "wait a"));
  EXPECT_EQ(set_.waits_for(), 0u);
}

TEST_F(SetMachineTest, AllTheRestIsAskedForAgainWhenTheBusyMemberHasCome) {
  EXPECT_THAT(after("begin +a -b . +b"), ElementsAre("prove a", "try c", "try d"));
  EXPECT_EQ(set_.waits_for(), std::nullopt);
  EXPECT_THAT(after("+c -d"), ElementsAre("wait d"));
  EXPECT_THAT(after("+d"), ElementsAre("prove a", "prove b", "prove c"));
  play("=a =b =c");
  EXPECT_EQ(set_.stage(), SetStage::held);
}

// Another process may keep all of them, one of which it gives up with each wait.
TEST_F(SetMachineTest, ASetThatWaitsASecondTimeKnocksAtWhatItHasNotGotYet) {
  EXPECT_THAT(after("begin -a"), ElementsAre("drop b", "drop c", "drop d", "wait a"));
  EXPECT_THAT(after("+a . +d -b"), ElementsAre("drop c", "drop d", "knock c", "wait b")) << "d was free";
  EXPECT_THAT(after("+b . -c"), ElementsAre("drop d", "wait c"));
  ASSERT_TRUE(set_.cancel());
  play(".");
  finish();
  ASSERT_TRUE(set_.begin(false));
  EXPECT_THAT(after(". +a -b"), ElementsAre("drop c", "drop d", "wait b")) << "the first time of another acquisition";
}

TEST_F(SetMachineTest, ASetKnocksOnceAtEachMember) {
  EXPECT_THAT(after("begin -a . +a . -b"), ElementsAre("drop c", "drop d", "knock c", "knock d", "wait b"));
  EXPECT_THAT(after("+b . -c"), ElementsAre("drop d", "wait c")) << "a member that is in use is not freed by knocking";
}

// What was held while it waited may have been taken away.
TEST_F(SetMachineTest, ASetThatHasWaitedIsNotHeldBeforeEachMemberIsProvedAnew) {
  EXPECT_THAT(after("begin +a +b -c . +c"), ElementsAre("prove a", "prove b", "try d"));
  play("=a +d");
  EXPECT_EQ(set_.stage(), SetStage::taking);
  EXPECT_TRUE(set_.proving());
  EXPECT_EQ(set_.waits_for(), std::nullopt);
  play("=b");
  EXPECT_EQ(set_.stage(), SetStage::held);
  EXPECT_FALSE(set_.proving());
  EXPECT_THAT(commands(), IsEmpty());
}

TEST_F(SetMachineTest, AMemberThatIsFoundMissingInTheEndIsTakenAgainAndTheOthersAreProvedOnceMore) {
  EXPECT_THAT(after("begin +a +b +c -d . +d"), ElementsAre("prove a", "prove b", "prove c"));
  EXPECT_THAT(after("=a =c !b"), ElementsAre("drop c", "drop d", "wait b"));
  EXPECT_THAT(after("+b"), ElementsAre("prove a", "try c", "try d"));
  play("+c +d");
  EXPECT_EQ(set_.stage(), SetStage::taking);
  play("=a");
  EXPECT_EQ(set_.stage(), SetStage::held);
}

TEST_F(SetMachineTest, AProofThatWasAskedForBeforeTheSetWaitedAgainIsNone) {
  EXPECT_THAT(after("begin +a -b . +b"), ElementsAre("prove a", "try c", "try d"));
  EXPECT_THAT(after("-c"), ElementsAre("drop d", "knock d", "wait c"));
  EXPECT_THAT(after("=a +c"), ElementsAre("prove a", "prove b", "try d"));
  play("+d =b");
  EXPECT_EQ(set_.stage(), SetStage::taking);
  play("=a");
  EXPECT_EQ(set_.stage(), SetStage::held);
}

TEST_F(SetMachineTest, ASetWhoseTimeIsOverWhileItIsBeingProvedFails) {
  play("begin +a +b +c -d . +d .");
  ASSERT_TRUE(set_.proving());
  EXPECT_TRUE(set_.cancel(RefusalReason::timed_out));
  EXPECT_THAT(commands(), ElementsAre("drop a", "drop b", "drop c", "drop d"));
  EXPECT_EQ(set_.failure()->refusal.reason, RefusalReason::timed_out);
  EXPECT_EQ(set_.failure()->member, 0u) << "one that is not proved";
  play("=a");
  EXPECT_EQ(set_.stage(), SetStage::failing);
}

TEST_F(SetMachineTest, AGrantOfWhatWasGivenUpIsNoGrant) {
  play("begin");
  const AttemptId late = attempt('d');
  play("-a .");
  set_.granted(late, 7);
  EXPECT_FALSE(set_.holds(3));
  EXPECT_EQ(set_.token(3), 0);
}

TEST_F(SetMachineTest, ASingleAttemptDoesNotWait) {
  set_.begin(true);
  play(". +a +b -c");
  EXPECT_EQ(set_.stage(), SetStage::failing);
  EXPECT_THAT(commands(), ElementsAre("drop a", "drop b", "drop d"));
  finish();
  EXPECT_EQ(set_.stage(), SetStage::free);
  ASSERT_TRUE(set_.failure());
  EXPECT_EQ(set_.failure()->member, 2u);
  EXPECT_EQ(set_.failure()->refusal.reason, RefusalReason::unavailable);
}

TEST_F(SetMachineTest, AFailureEndsOnlyWhenEverythingHasGoneBack) {
  play("begin +a -b .");
  finish();
  refuse('b', RefusalReason::timed_out);
  EXPECT_THAT(commands(), ElementsAre("drop a"));
  EXPECT_EQ(set_.stage(), SetStage::failing);
  EXPECT_EQ(set_.failure()->member, 1u);
  finish();
  EXPECT_EQ(set_.stage(), SetStage::free);
  EXPECT_EQ(set_.open_attempts(), 0u);
}

TEST_F(SetMachineTest, ACancelledSetGivesEverythingBack) {
  EXPECT_FALSE(set_.cancel());
  play("begin +a -b .");
  finish();
  EXPECT_TRUE(set_.cancel());
  EXPECT_THAT(commands(), ElementsAre("drop a", "drop b"));
  EXPECT_EQ(set_.failure()->refusal.reason, RefusalReason::cancelled);
  EXPECT_EQ(set_.failure()->member, 1u) << "the one that was waited for";
  EXPECT_FALSE(set_.cancel());
  finish();
  EXPECT_TRUE(set_.begin(false)) << "it may be taken again";
}

TEST_F(SetMachineTest, AMemberThatIsLostOnTheWayIsTakenAgainInItsOrder) {
  EXPECT_THAT(after("begin +a +b -c . !a"), ElementsAre("drop b", "drop c", "knock c", "knock d", "wait a"));
  EXPECT_THAT(after("+a"), ElementsAre("try b", "try c", "try d"));
}

TEST_F(SetMachineTest, ASetThatLosesAMemberIsLostAndKeepsTheOthersUntilItIsReleased) {
  hold_all();
  play("!c");
  EXPECT_EQ(set_.stage(), SetStage::lost);
  ASSERT_TRUE(set_.loss());
  EXPECT_EQ(set_.loss()->member, 2u);
  EXPECT_EQ(set_.loss()->reason, LossReason::removed);
  EXPECT_THAT(commands(), IsEmpty());
  EXPECT_TRUE(set_.holds(0));
  lose('d', LossReason::session_expired);
  EXPECT_EQ(set_.loss()->member, 2u) << "the first one";
  ASSERT_TRUE(set_.release());
  EXPECT_THAT(commands(), ElementsAre("drop a", "drop b"));
  finish();
  EXPECT_EQ(set_.stage(), SetStage::free);
}

TEST_F(SetMachineTest, ASetOfWhichNothingIsLeftIsReleasedAtOnce) {
  hold_all();
  for (const char member : {'a', 'b', 'c', 'd'}) lose(member, LossReason::session_expired);
  ASSERT_TRUE(set_.release());
  EXPECT_EQ(set_.stage(), SetStage::free);
}

TEST_F(SetMachineTest, AReleaseTellsWhichMemberWasGone) {
  hold_all();
  ASSERT_TRUE(set_.release());
  play(".");
  set_.released(dropped_[0], ReleaseOutcome::released);
  set_.released(dropped_[1], ReleaseOutcome::gone);
  set_.lost(dropped_[2], LossReason::session_expired);
  EXPECT_EQ(set_.stage(), SetStage::releasing);
  set_.released(dropped_[3], ReleaseOutcome::released);
  EXPECT_EQ(set_.stage(), SetStage::free);
  ASSERT_TRUE(set_.bad_release());
  EXPECT_EQ(set_.bad_release()->member, 1u);
  EXPECT_EQ(set_.bad_release()->outcome, ReleaseOutcome::gone);
}

TEST_F(SetMachineTest, OnlyAHeldOrLostSetIsReleased) {
  EXPECT_FALSE(set_.release());
  play("begin");
  EXPECT_FALSE(set_.release());
  EXPECT_FALSE(set_.begin(false));
}

TEST_F(SetMachineTest, StepAsideKeepsThePlaceAtTheFirstMemberAndTakesTheRestInOrder) {
  EXPECT_FALSE(set_.step_aside());
  hold_all();
  ASSERT_TRUE(set_.step_aside());
  EXPECT_THAT(commands(), ElementsAre("aside a", "drop b", "drop c", "drop d"));
  EXPECT_EQ(set_.waits_for(), 0u);
  EXPECT_THAT(after("+a"), ElementsAre("try b", "try c", "try d"));
  finish();
  play("+b +c +d");
  EXPECT_EQ(set_.stage(), SetStage::held);
  EXPECT_GT(set_.token(0), 104);
}

// It has the locks, and has said that it will wait for them.
TEST_F(SetMachineTest, WhoseSingleAttemptWasGrantedWaitsWhenItHasSteppedAside) {
  set_.begin(true);
  play(". +a +b +c +d");
  ASSERT_TRUE(set_.step_aside());
  play(".");
  finish();
  EXPECT_THAT(after("+a"), ElementsAre("try b", "try c", "try d"));
  play("-b");
  EXPECT_EQ(set_.stage(), SetStage::taking);
  EXPECT_THAT(commands(), ElementsAre("drop c", "drop d", "wait b"));
}

TEST_F(SetMachineTest, ASetThatWaitsGivesAMemberToAContenderThatGoesBeforeIt) {
  play("begin +a +b -c .");
  set_.outranked(attempt('a'));
  EXPECT_THAT(commands(), ElementsAre("drop a"));
  EXPECT_FALSE(set_.holds(0));
  EXPECT_EQ(set_.waits_for(), 2u) << "the place in c's queue is kept";
  finish();
  EXPECT_THAT(after("+c"), ElementsAre("try a", "prove b", "try d")) << "b and c are held";
  play("=b +d");
  EXPECT_EQ(set_.stage(), SetStage::taking);
  play("+a");
  EXPECT_EQ(set_.stage(), SetStage::held);
}

TEST_F(SetMachineTest, AMemberThatWasGivenBackIsWaitedForInItsOrder) {
  play("begin +a +b -c .");
  set_.outranked(attempt('b'));
  play(".");
  finish();
  EXPECT_THAT(after("+c . -b"), ElementsAre("drop c", "drop d", "knock d", "wait b"));
  EXPECT_TRUE(set_.holds(0));
  EXPECT_EQ(set_.waits_for(), 1u);
}

TEST_F(SetMachineTest, AnOutrankedMemberIsKeptUntilTheSetWaits) {
  play("begin +a");
  set_.outranked(attempt('a'));
  EXPECT_THAT(after("-c"), ElementsAre("drop d")) << "b may still be granted, and the set be held soon";
  EXPECT_THAT(after("+b"), ElementsAre("wait c", "drop a"));
  finish();
  EXPECT_THAT(after("+c"), ElementsAre("try a", "prove b", "try d"));
}

TEST_F(SetMachineTest, AHeldSetGivesNothingBack) {
  hold_all();
  set_.outranked(attempt('b'));
  EXPECT_THAT(commands(), IsEmpty());
  EXPECT_EQ(set_.stage(), SetStage::held);
}

TEST_F(SetMachineTest, AFailedSetThatHasGivenAMemberBackEndsWithTheRest) {
  play("begin +a +b -c .");
  set_.outranked(attempt('a'));
  play(".");
  refuse('c', RefusalReason::timed_out);
  EXPECT_THAT(commands(), ElementsAre("drop b"));
  finish();
  EXPECT_EQ(set_.stage(), SetStage::free);
  EXPECT_EQ(set_.failure()->member, 2u);
}

TEST_F(SetMachineTest, WhoWaitedBehindAFormerGrantCountsNoMore) {
  hold_all();
  set_.outranked(attempt('a'));
  ASSERT_TRUE(set_.step_aside());
  play(".");
  finish();
  EXPECT_THAT(after("+a"), ElementsAre("try b", "try c", "try d"));
  EXPECT_THAT(after("+b -c"), ElementsAre("drop d", "wait c")) << "a was granted after those that went before";
}

TEST_F(SetMachineTest, ARefusalForGoodEndsTheAcquisition) {
  play("begin +a");
  refuse('b', RefusalReason::rejected);
  EXPECT_EQ(set_.stage(), SetStage::failing);
  EXPECT_THAT(commands(), ElementsAre("drop a", "drop c", "drop d"));
  EXPECT_EQ(set_.failure()->member, 1u);
}

TEST_F(SetMachineTest, ASingleAttemptThatLosesAMemberOnTheWayDoesNotWait) {
  ASSERT_TRUE(set_.begin(true));
  play(". +a !a");
  EXPECT_EQ(set_.stage(), SetStage::failing);
  EXPECT_THAT(commands(), ElementsAre("drop b", "drop c", "drop d"));
  ASSERT_TRUE(set_.failure());
  EXPECT_EQ(set_.failure()->refusal.reason, RefusalReason::unavailable);
}

TEST_F(SetMachineTest, AnAcquisitionEndsWithItsSession) {
  for (const auto& [loss, refusal] : {std::pair(LossReason::session_expired, RefusalReason::session_expired),
                                      std::pair(LossReason::closed, RefusalReason::closed)}) {
    ASSERT_TRUE(set_.begin(false));
    play(". +a -b .");
    finish();
    lose('a', loss);
    refuse('b', refusal);
    play(".");
    finish();
    EXPECT_EQ(set_.stage(), SetStage::free);
    ASSERT_TRUE(set_.failure());
    EXPECT_EQ(set_.failure()->refusal.reason, refusal);
  }
}

TEST(CanonicalOrderTest, IsBytewiseAndNamesEachMonitorOnce) {
  EXPECT_THAT(canonical_order({"b", "a", "b", "\xc3\xa4", "a%2Fb", "B"}), ElementsAre(5, 1, 4, 0, 3));
  EXPECT_THAT(canonical_order({}), IsEmpty());
}

}  // namespace
}  // namespace forelock::sets
