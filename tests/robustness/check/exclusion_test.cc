// Two at once: at the resource, and in the clients' own belief. Each with look-alikes that are none.
#include "robustness/check/planted_history.h"
#include "robustness/check/rules.h"
#include "support/test.h"

namespace forelock::robustness {
namespace {

TEST(ExclusiveAccessesTest, OneAfterTheOther) {
  PlantedHistory planted;
  planted.resource().enters(10, "a", 1, 100).leaves(20, "a", 1).enters(20, "b", 1, 101).leaves(30, "b", 1);
  const Findings findings = exclusive_accesses(planted.read());
  EXPECT_EQ(findings.judged, 2u);
  EXPECT_EQ(findings.violations, 0u);
}

TEST(ExclusiveAccessesTest, TwoInside) {
  PlantedHistory planted;
  planted.resource().enters(10, "a", 1, 100).enters(19, "b", 1, 101).leaves(20, "a", 1).leaves(30, "b", 1);
  const Findings findings = exclusive_accesses(planted.read());
  EXPECT_EQ(findings.violations, 1u);
  EXPECT_THAT(findings.explanations, ElementsAre(HasSubstr("overlap")));
}

TEST(ExclusiveAccessesTest, TwoInsideAlthoughAThirdWasThereForAMoment) {
  PlantedHistory planted;
  planted.resource().enters(10, "a", 1, 100).enters(20, "b", 1, 101).leaves(21, "b", 1);
  planted.resource().enters(30, "c", 1, 102).leaves(31, "c", 1).leaves(40, "a", 1);
  EXPECT_EQ(exclusive_accesses(planted.read()).violations, 2u);
}

TEST(ExclusiveAccessesTest, OtherMonitorsAreOtherResources) {
  PlantedHistory planted;
  planted.resource().enters(10, "a", 1, 100).on("P2").enters(15, "b", 1, 99).leaves(16, "b", 1);
  planted.resource().on("P1").leaves(20, "a", 1);
  EXPECT_EQ(exclusive_accesses(planted.read()).violations, 0u);
}

// What the servers' logs say: an administrator deletes the node that a holds with. An earlier node had the same name.
void a_is_robbed(PlantedHistory& planted) {
  planted.runner().claims(90, 8, "/P1/A-0000000003").frees(91, 8, "/P1/A-0000000003");
  planted.runner().claims(100, 7, "/P1/A-0000000003").frees(101, 99, "/P1/A-0000000003");
  planted.runner().claims(102, 8, "/P1/A-0000000005");
}

// a's access with token 100 is ended by a higher token.
PlantedHistory one_is_fenced(double at) {
  PlantedHistory planted;
  planted.client("a").event(1, "started", {{"session_timeout_ms", 2000}});
  planted.resource().enters(10, "a", 1, 100).leaves(at, "a", 1, "fenced").enters(at, "b", 1, 101);
  planted.resource().enters(at + 5, "a", 2, 100, false).leaves(at + 9, "b", 1);
  a_is_robbed(planted);
  return planted;
}

TEST(ExclusiveAccessesTest, WhoIsStoppedCannotLeave) {
  PlantedHistory planted = one_is_fenced(400);
  EXPECT_THAT(exclusive_accesses(planted.read()).explanations, ElementsAre(HasSubstr("nothing excuses its holder")));
  planted.runner().fault(100, 390, "client_paused", "b");
  EXPECT_EQ(exclusive_accesses(planted.read()).violations, 1u) << "somebody else";
  planted.runner().fault(2, 9, "client_paused", "a");
  EXPECT_EQ(exclusive_accesses(planted.read()).violations, 1u) << "it had enough time since";
  planted.runner().fault(100, 300, "client_paused", "a");
  EXPECT_EQ(exclusive_accesses(planted.read()).violations, 0u);
}

TEST(ExclusiveAccessesTest, ItsNodeWasDeleted) {
  PlantedHistory planted = one_is_fenced(50);
  planted.runner().fault(40, 41, "holder_deleted", "P2", "A-0000000003");
  EXPECT_EQ(exclusive_accesses(planted.read()).violations, 1u) << "in the queue before another monitor";
  planted.runner().fault(40, 41, "waiter_deleted", "P1", "A-0000000004");
  EXPECT_EQ(exclusive_accesses(planted.read()).violations, 1u) << "somebody else's";
  planted.runner().fault(51, 52, "holder_deleted", "P1", "A-0000000003");
  EXPECT_EQ(exclusive_accesses(planted.read()).violations, 1u) << "not before that";
}

TEST(ExclusiveAccessesTest, ItsNodeWasDeletedBeforeThat) {
  PlantedHistory planted = one_is_fenced(50);
  planted.runner().fault(40, 41, "holder_deleted", "P1", "A-0000000003");
  EXPECT_EQ(exclusive_accesses(planted.read()).violations, 0u);
  PlantedHistory late = one_is_fenced(2400);
  late.runner().fault(40, 41, "holder_deleted", "P1", "A-0000000003");
  EXPECT_EQ(exclusive_accesses(late.read()).violations, 1u) << "it must have noticed within its session's time-out";
}

TEST(ExclusiveAccessesTest, AnotherNodeOfThatNameWasDeleted) {
  PlantedHistory planted;
  planted.resource().enters(10, "a", 1, 100).leaves(50, "a", 1, "fenced").enters(50, "b", 1, 103);
  planted.runner().claims(90, 8, "/P1/A-0000000003").frees(91, 99, "/P1/A-0000000003");
  planted.runner().claims(100, 7, "/P1/A-0000000003").frees(101, 7, "/P1/A-0000000003");
  planted.runner().fault(5, 6, "holder_deleted", "P1", "A-0000000003");
  EXPECT_EQ(exclusive_accesses(planted.read()).violations, 1u);
}

TEST(ExclusiveAccessesTest, ItsSessionWasEnded) {
  PlantedHistory planted = one_is_fenced(50);
  planted.runner().fault(40, 41, "session_expired", "a", "0x9");
  EXPECT_EQ(exclusive_accesses(planted.read()).violations, 1u) << "another one of the same process";
  planted.runner().fault(42, 43, "session_expired", "a", "0x7");
  EXPECT_EQ(exclusive_accesses(planted.read()).violations, 0u);
}

TEST(ExclusiveAccessesTest, AnOldTokenIsAccepted) {
  PlantedHistory planted;
  planted.resource().enters(10, "a", 1, 101).leaves(20, "a", 1).enters(30, "b", 1, 100).leaves(40, "b", 1);
  EXPECT_THAT(exclusive_accesses(planted.read()).explanations, ElementsAre(HasSubstr("was accepted after")));
}

TEST(ExclusiveAccessesTest, AKilledClientIsInsideUntilItsLastSign) {
  PlantedHistory planted;
  planted.client("a").event(25, "heartbeat");
  planted.resource().enters(10, "a", 1, 100).enters(30, "b", 1, 101).leaves(31, "b", 1);
  EXPECT_EQ(exclusive_accesses(planted.read()).violations, 0u);
  planted.client("a").event(30.5, "heartbeat");
  EXPECT_EQ(exclusive_accesses(planted.read()).violations, 1u);
}

TEST(ExclusiveAccessesTest, WithoutATokenNobodyCanBeRefused) {
  PlantedHistory planted;
  planted.resource().enters(10, "a", 1, 0).enters(15, "b", 1, 100).leaves(20, "a", 1).leaves(21, "b", 1);
  const Findings findings = exclusive_accesses(planted.read());
  EXPECT_EQ(findings.violations, 0u);
  EXPECT_EQ(findings.undecided, 1u);
}

TEST(ExclusiveCertaintyTest, OneAfterTheOther) {
  PlantedHistory planted;
  planted.client("a").holds(10, 20, 1, 100).holds(30, 40, 2, 102);
  planted.client("b").holds(20, 30, 1, 101).on("P2").holds(35, 36, 2, 99);
  const Findings findings = exclusive_certainty(planted.read());
  EXPECT_EQ(findings.judged, 4u);
  EXPECT_EQ(findings.violations, 0u);
}

TEST(ExclusiveCertaintyTest, TwoAtOnce) {
  PlantedHistory planted;
  planted.client("a").holds(10, 20, 1, 100);
  planted.client("b").holds(19, 30, 1, 101);
  EXPECT_THAT(exclusive_certainty(planted.read()).explanations, ElementsAre(HasSubstr("was certain to hold")));
}

TEST(ExclusiveCertaintyTest, TwoThreadsOfOneProcess) {
  PlantedHistory planted;
  planted.client("a").holds(10, 20, 1, 100).holds(12, 13, 2, 101);
  EXPECT_EQ(exclusive_certainty(planted.read()).violations, 1u);
}

TEST(ExclusiveCertaintyTest, WhoHasDoubtsClaimsNothing) {
  PlantedHistory planted;
  planted.client("a").invoke(0, 1).granted(10, 1, 100).unhealthy(18, 1).lost(25, 1).event(90, "heartbeat");
  planted.client("b").holds(19, 30, 1, 101);
  planted.client("c").invoke(0, 1).granted(31, 1, 102).lost(39, 1).release(60, 1).event(90, "heartbeat");
  planted.client("d").holds(40, 50, 1, 103);
  EXPECT_EQ(exclusive_certainty(planted.read()).violations, 0u);
}

TEST(ExclusiveCertaintyTest, TheDoubtsComeTooLate) {
  PlantedHistory planted;
  planted.client("a").invoke(0, 1).granted(10, 1, 100).unhealthy(20, 1).lost(25, 1);
  planted.client("b").holds(19, 30, 1, 101);
  EXPECT_EQ(exclusive_certainty(planted.read()).violations, 1u);
}

TEST(ExclusiveCertaintyTest, AKilledProcessClaimsNothing) {
  PlantedHistory planted;
  planted.client("a").invoke(0, 1).granted(10, 1, 100).event(20, "heartbeat");
  planted.client("b").holds(21, 30, 1, 101);
  EXPECT_EQ(exclusive_certainty(planted.read()).violations, 0u);
  planted.client("a").event(22, "heartbeat");
  EXPECT_EQ(exclusive_certainty(planted.read()).violations, 1u);
}

TEST(ExclusiveCertaintyTest, APausedProcessClaimsNothing) {
  PlantedHistory planted;
  planted.client("a").invoke(0, 1).granted(10, 1, 100).unhealthy(5005, 1).lost(5010, 1);
  planted.client("b").holds(3000, 5100, 1, 101);
  EXPECT_EQ(exclusive_certainty(planted.read()).violations, 1u) << "nobody says that it was paused";
  planted.runner().fault(20, 5000, "client_paused", "a");
  EXPECT_EQ(exclusive_certainty(planted.read()).violations, 0u);
}

TEST(ExclusiveCertaintyTest, APausedProcessMustNoticeWhenItGoesOn) {
  PlantedHistory planted;
  planted.client("a").invoke(0, 1).granted(10, 1, 100).unhealthy(6000, 1);
  planted.client("b").holds(3000, 7000, 1, 101);
  planted.runner().fault(20, 5000, "client_paused", "a");
  EXPECT_EQ(exclusive_certainty(planted.read()).violations, 1u);
}

TEST(ExclusiveCertaintyTest, ForceCannotBeKnownInTime) {
  PlantedHistory planted;
  planted.client("a").invoke(0, 1).granted(10, 1, 100).lost(60, 1, "removed").event(90, "heartbeat");
  planted.client("b").holds(50, 80, 1, 101);
  EXPECT_EQ(exclusive_certainty(planted.read()).violations, 1u) << "nobody has removed anything";
  a_is_robbed(planted);
  planted.runner().fault(45, 45, "holder_deleted", "P1", "A-0000000003");
  EXPECT_EQ(exclusive_certainty(planted.read()).violations, 0u);
}

TEST(ExclusiveCertaintyTest, ForceCannotBeKnownInTimeByOneThatIsKilledThen) {
  PlantedHistory planted;
  planted.client("a").invoke(0, 1).granted(10, 1, 100).event(60, "heartbeat");
  planted.client("b").holds(50, 80, 1, 101);
  a_is_robbed(planted);
  planted.runner().fault(45, 45, "holder_deleted", "P1", "A-0000000003");
  planted.runner().fault(500, 500, "holder_deleted", "P1", "A-0000000003");  // a later one of that name
  EXPECT_EQ(exclusive_certainty(planted.read()).violations, 0u);
}

TEST(ExclusiveCertaintyTest, ForceElsewhereIsNoExcuse) {
  PlantedHistory planted;
  planted.client("a").invoke(0, 1).granted(10, 1, 100, 7).lost(60, 1, "removed").event(90, "heartbeat");
  planted.client("b").holds(50, 80, 1, 101, 8);
  a_is_robbed(planted);
  planted.runner().fault(45, 45, "holder_deleted", "P2", "A-0000000003");
  EXPECT_EQ(exclusive_certainty(planted.read()).violations, 1u) << "another monitor";
  planted.runner().fault(45, 45, "waiter_deleted", "P1", "A-0000000004");
  EXPECT_EQ(exclusive_certainty(planted.read()).violations, 1u) << "another node";
  planted.runner().fault(45, 45, "session_expired", "a", "0x6");
  EXPECT_EQ(exclusive_certainty(planted.read()).violations, 1u) << "another session";
  planted.runner().fault(45, 45, "session_expired", "a", "0x7");
  EXPECT_EQ(exclusive_certainty(planted.read()).violations, 0u);
}

TEST(ExclusiveCertaintyTest, WhoReleasesWithoutWaitingIsNotTold) {
  PlantedHistory planted;
  planted.client("a").event(1, "started", {{"session_timeout_ms", 2000}});
  planted.client("a").invoke(2, 1).granted(10, 1, 100).release(60, 1).released(60, 1, "unconfirmed");
  planted.client("b").holds(50, 80, 1, 101);
  a_is_robbed(planted);
  EXPECT_EQ(exclusive_certainty(planted.read()).violations, 1u) << "nobody says when";
  planted.runner().fault(45, 45, "lock_deleted", "P1", "A-0000000003");
  EXPECT_EQ(exclusive_certainty(planted.read()).violations, 0u);
}

// Whose reply was lost finds neither node nor lock, and takes both for removed by its own release. The log knows
// better.
TEST(ExclusiveCertaintyTest, AReleaseMayBeTakenForConfirmedAfterARobbery) {
  PlantedHistory planted;
  planted.client("a").event(1, "started", {{"session_timeout_ms", 2000}}).holds(10, 60, 1, 100);
  planted.client("b").holds(50, 80, 1, 101);
  a_is_robbed(planted);
  EXPECT_EQ(exclusive_certainty(planted.read()).violations, 1u);
  planted.runner().fault(45, 45, "lock_deleted", "P1", "A-0000000003");
  EXPECT_EQ(exclusive_certainty(planted.read()).violations, 0u);
}

TEST(ExclusiveCertaintyTest, ForceIsNoticedWithinTheSessionsTimeOut) {
  PlantedHistory planted;
  planted.client("a").event(1, "started", {{"session_timeout_ms", 2000}});
  planted.client("a").invoke(2, 1).granted(10, 1, 100).lost(2400, 1, "removed").event(2500, "heartbeat");
  planted.client("b").holds(2200, 2280, 1, 101);
  a_is_robbed(planted);
  planted.runner().fault(45, 45, "holder_deleted", "P1", "A-0000000003");
  EXPECT_EQ(exclusive_certainty(planted.read()).violations, 0u);
  planted.client("b").holds(2350, 2370, 2, 102);
  EXPECT_EQ(exclusive_certainty(planted.read()).violations, 1u);
}

TEST(ExclusiveCertaintyTest, OtherPeoplesClientsPromiseNothing) {
  PlantedHistory planted;
  planted.process("l", "literal").holds(10, 60, 1, 100);
  planted.process("c", "cli").holds(20, 60, 1, 101);
  planted.client("b").holds(30, 80, 1, 102);
  EXPECT_EQ(exclusive_certainty(planted.read()).violations, 0u);
}

}  // namespace
}  // namespace forelock::robustness
