// Tokens, and who goes first.
#include "robustness/check/planted_history.h"
#include "robustness/check/rules.h"
#include "support/test.h"

namespace forelock::robustness {
namespace {

constexpr std::int64_t next_epoch = std::int64_t{1} << 32;

TEST(RisingTokensTest, Rise) {
  PlantedHistory planted;
  planted.client("a").holds(10, 20, 1, 100).on("P2").holds(50, 60, 2, 90);
  planted.client("b").holds(30, 40, 1, 101).on("P2").holds(80, 90, 2, 103);
  const Findings findings = rising_tokens(planted.read());
  EXPECT_EQ(findings.judged, 4u);
  EXPECT_EQ(findings.violations, 0u);
}

TEST(RisingTokensTest, GrantedTwice) {
  PlantedHistory planted;
  planted.client("a").holds(10, 20, 1, 100);
  planted.client("b").holds(30, 40, 1, 100);
  EXPECT_THAT(rising_tokens(planted.read()).explanations, ElementsAre(HasSubstr("have the same token")));
}

TEST(RisingTokensTest, ALowerOneLater) {
  PlantedHistory planted;
  planted.client("a").holds(10, 20, 1, 103);
  planted.client("c").holds(22, 23, 1, 104).holds(26, 27, 2, 105);
  planted.client("b").holds(30, 40, 1, 102);
  EXPECT_EQ(rising_tokens(planted.read()).violations, 1u);
}

TEST(RisingTokensTest, WhoAskedBeforeMayBeToldLater) {
  PlantedHistory planted;
  planted.client("a").invoke(1, 1).granted(10, 1, 103);
  planted.client("b").invoke(2, 1).granted(12, 1, 102);
  EXPECT_EQ(rising_tokens(planted.read()).violations, 0u);
}

TEST(RisingTokensTest, WithoutTokensThereIsNothingToSay) {
  PlantedHistory planted;
  planted.process("l", "literal").holds(10, 20, 1, 0).holds(30, 40, 2, 0);
  EXPECT_EQ(rising_tokens(planted.read()).judged, 0u);
}

// A background holder (token 10, node 1, session 1) and a foreground contender of session 2 with node 0 before it,
// enqueued at zxid 5.
class JustGrantsTest : public ::testing::Test {
 protected:
  JustGrantsTest() {
    planted.client("bulk").background();
    server.transaction(5, 2, "create", "/P1/A-0000000000", "g20");
  }
  void background_grant(const char* node = "/P1/B-0000000001") {
    bulk.invoke(0, 1).granted(50, 1, 10, 1).release(60, 1).released(61, 1);
    server.claims(10, 1, node);
  }
  LineFindings judge() const { return just_grants(planted.read()); }

  PlantedHistory planted;
  PlantedProcess& server = planted.runner();
  PlantedProcess& bulk = planted.client("bulk");
  PlantedProcess& urgent = planted.client("urgent");
};

TEST_F(JustGrantsTest, ForegroundThatIsGrantedLaterWasPassed) {
  background_grant();
  server.frees(11, 1, "/P1/B-0000000001").takes(20, 2, "g20");
  urgent.invoke(0, 1).granted(80, 1, 20, 2);
  const LineFindings findings = judge();
  EXPECT_THAT(findings.priority.explanations, ElementsAre(HasSubstr("although A-0000000000 was before it")));
  EXPECT_EQ(findings.priority.judged, 2u);
  EXPECT_EQ(findings.fifo.violations, 0u);
  EXPECT_THAT(findings.owners.explanations, IsEmpty());
}

TEST_F(JustGrantsTest, AYieldIsNoGrant) {
  server.claims(10, 1, "/P1/B-0000000001").transaction(11, 1, "delete", "/P1/privateLock");
  server.takes(20, 2, "g20").frees(21, 2, "/P1/A-0000000000");
  server.takes(30, 1, "g10");
  urgent.invoke(0, 1).granted(80, 1, 20, 2).release(90, 1).released(91, 1);
  // Its acquisition has the guid of the node that it made at first.
  bulk.invoke(0, 1).event(99, "granted",
                          {{"call", 1}, {"monitor", "P1"}, {"token", "30"}, {"node", ""}, {"guid", "g10"}});
  const LineFindings findings = judge();
  EXPECT_THAT(findings.priority.explanations, IsEmpty());
  EXPECT_THAT(findings.owners.explanations, IsEmpty());
  EXPECT_EQ(findings.priority.judged, 2u);
}

TEST_F(JustGrantsTest, ForegroundThatGaveUpWhileTheProofWasOnItsWay) {
  background_grant();
  urgent.invoke(0, 1).refused(45, 1);
  server.transaction(11, 2, "delete", "/P1/A-0000000000");
  const LineFindings findings = judge();
  EXPECT_EQ(findings.priority.violations, 0u);
  EXPECT_EQ(findings.priority.undecided, 1u) << "nobody can say that it still waited";
}

TEST_F(JustGrantsTest, ForegroundThatGaveUpLongAfterTheGrant) {
  background_grant();
  urgent.invoke(0, 1).refused(90, 1);
  server.frees(11, 1, "/P1/B-0000000001");  // its release was called at 60, after the grant
  server.transaction(12, 2, "delete", "/P1/A-0000000000");
  EXPECT_THAT(judge().priority.explanations, ElementsAre(HasSubstr("was still there after that")));
}

TEST_F(JustGrantsTest, AnotherMonitorsGrantTellsTheTimeToo) {
  background_grant();
  planted.client("c").on("P2").invoke(70, 1).granted(80, 1, 12, 3);  // asked for after the grant of bulk
  server.transaction(12, 3, "create", "/P2/A-0000000000", "g12").transaction(12, 3, "create", "/P2/privateLock");
  server.transaction(12, 3, "set", "/P2/privateLock", "g12").transaction(13, 2, "delete", "/P1/A-0000000000");
  EXPECT_EQ(judge().priority.violations, 1u);
}

TEST_F(JustGrantsTest, ASessionThatEndsTakesItsPlacesAlong) {
  server.transaction(9, 2, "close_session", "");
  background_grant();
  server.frees(11, 1, "/P1/B-0000000001");
  const LineFindings findings = judge();
  EXPECT_EQ(findings.priority.judged, 1u);
  EXPECT_EQ(findings.priority.violations + findings.priority.undecided, 0u);
}

TEST_F(JustGrantsTest, AProcessKnowsWhoOfItsOwnHasGivenUp) {
  server.transaction(6, 1, "create", "/P1/A-0000000002", "g77").transaction(7, 2, "delete", "/P1/A-0000000000");
  background_grant("/P1/B-0000000003");
  server.frees(11, 1, "/P1/B-0000000003").transaction(12, 1, "delete", "/P1/A-0000000002");
  bulk.event(1, "invoke", {{"call", 2}, {"monitor", "P1"}, {"priority", "foreground"}, {"mode", "timeout"}});
  bulk.refused(40, 2);
  EXPECT_EQ(judge().priority.violations, 0u);
}

TEST_F(JustGrantsTest, ItsOwnThatHasNotGivenUpIsPassed) {
  server.transaction(6, 1, "create", "/P1/A-0000000002", "g77").transaction(7, 2, "delete", "/P1/A-0000000000");
  background_grant("/P1/B-0000000003");
  server.frees(11, 1, "/P1/B-0000000003").transaction(12, 1, "delete", "/P1/A-0000000002");
  bulk.event(1, "invoke", {{"call", 2}, {"monitor", "P1"}, {"priority", "foreground"}, {"mode", "timeout"}});
  bulk.refused(70, 2);
  EXPECT_EQ(judge().priority.violations, 1u);
}

TEST_F(JustGrantsTest, LaterForegroundIsNotPassed) {
  server.transaction(6, 2, "delete", "/P1/A-0000000000");
  background_grant();
  server.transaction(11, 2, "create", "/P1/A-0000000002", "g20").frees(12, 1, "/P1/B-0000000001");
  server.takes(20, 2, "g20");
  urgent.invoke(0, 1).granted(80, 1, 20, 2);
  const LineFindings findings = judge();
  EXPECT_EQ(findings.priority.violations, 0u);
  EXPECT_THAT(findings.owners.explanations, IsEmpty());
}

TEST_F(JustGrantsTest, FirstComeFirstServedWithinAClass) {
  server.transaction(6, 3, "create", "/P1/A-0000000001", "g30").claims(7, 1, "/P1/A-0000000002");
  urgent.invoke(0, 1).granted(50, 1, 7, 1);
  server.frees(8, 1, "/P1/A-0000000002").takes(20, 2, "g20");
  planted.client("late").invoke(0, 1).granted(80, 1, 20, 2);
  const LineFindings findings = judge();
  EXPECT_THAT(findings.fifo.explanations, ElementsAre(HasSubstr("A-0000000000"))) << "of the other nobody knows";
  EXPECT_EQ(findings.priority.violations, 0u);
}

TEST_F(JustGrantsTest, OtherPeoplesClientsPromiseNoOrder) {
  planted.process("l", "literal").invoke(0, 1).granted(50, 1, 10, 1);
  server.claims(10, 1, "/P1/B-0000000001").frees(11, 1, "/P1/B-0000000001").takes(20, 2, "g20");
  urgent.invoke(0, 1).granted(80, 1, 20, 2);
  EXPECT_EQ(judge().priority.violations, 0u);
}

TEST_F(JustGrantsTest, WhoDeletesAnotherClientsLock) {
  background_grant();
  server.transaction(11, 2, "delete", "/P1/privateLock");
  EXPECT_THAT(judge().owners.explanations, ElementsAre(HasSubstr("deletes the privateLock of P1")));
}

TEST_F(JustGrantsTest, AnAdministratorMayDeleteIt) {
  background_grant();
  server.transaction(11, 99, "delete", "/P1/privateLock");
  EXPECT_THAT(judge().owners.explanations, IsEmpty());
}

// The documented corner: nothing tells this holder's release that the lock is not its own any more.
TEST_F(JustGrantsTest, WhoseLockWasDeletedWithoutItsNodeMayFreeTheNextOne) {
  server.claims(10, 1, "/P1/B-0000000001").transaction(11, 99, "delete", "/P1/privateLock");
  server.claims(12, 2, "/P1/A-0000000002");
  server.transaction(13, 1, "delete", "/P1/B-0000000001").transaction(13, 1, "delete", "/P1/privateLock");
  server.claims(14, 2, "/P1/A-0000000003");
  EXPECT_EQ(judge().owners.violations, 0u);
  EXPECT_EQ(judge().owners.undecided, 1u);
  server.transaction(15, 1, "delete", "/P1/privateLock");
  EXPECT_EQ(judge().owners.violations, 1u);
}

// The other one: the monitor has been made anew since, and its names have come again.
TEST_F(JustGrantsTest, WhoseNodeWasDeletedMayGiveBackTheNextOneOfItsName) {
  server.claims(10, 1, "/P1/B-0000000001");
  server.transaction(11, 99, "delete", "/P1/B-0000000001").transaction(11, 99, "delete", "/P1/privateLock");
  server.transaction(12, 2, "create", "/P1").claims(12, 2, "/P1/B-0000000001");
  server.transaction(13, 1, "delete", "/P1/B-0000000001").transaction(13, 1, "delete", "/P1/privateLock");
  EXPECT_EQ(judge().owners.violations, 0u);
  EXPECT_EQ(judge().owners.undecided, 1u);
  server.transaction(14, 2, "create", "/P1").claims(14, 2, "/P1/B-0000000001");
  server.transaction(15, 1, "delete", "/P1/B-0000000001").transaction(15, 1, "delete", "/P1/privateLock");
  EXPECT_EQ(judge().owners.violations, 1u);
}

TEST_F(JustGrantsTest, ClaimsThatShareATransactionAreAllJudged) {
  server.claims(10, 1, "/P1/B-0000000001");
  server.transaction(10, 1, "create", "/P2/B-0000000001", "g10").transaction(10, 1, "create", "/P2/privateLock");
  bulk.invoke(0, 1).granted(50, 1, 10, 1);
  bulk.on("P2").invoke(0, 2).granted(50, 2, 10, 1);
  EXPECT_EQ(judge().owners.judged, 2u);
}

TEST_F(JustGrantsTest, TheTokenIsOfTheHoldersOwnTransaction) {
  background_grant();
  bulk.invoke(70, 2).granted(75, 2, 12, 1);
  server.transaction(12, 2, "set", "/P1/privateLock", "g12").transaction(14, 1, "create", "/P1/B-0000000009");
  bulk.invoke(70, 3).granted(75, 3, 13, 1);
  EXPECT_THAT(judge().owners.explanations,
              ElementsAre(HasSubstr("sets the privateLock"), HasSubstr("has no node at the transaction of its token"),
                          HasSubstr("know of no transaction with this token")));
}

TEST_F(JustGrantsTest, WithoutTheServersLogNothingIsDecided) {
  PlantedHistory only_clients;
  only_clients.client("a").holds(10, 20, 1, 100);
  const LineFindings findings = just_grants(only_clients.read());
  EXPECT_EQ(findings.priority.judged, 0u);
  EXPECT_EQ(findings.priority.undecided, 1u);
}

// What the log has and the servers had no more stands before everybody.
TEST_F(JustGrantsTest, NothingIsDecidedOnceTheServersHaveLostSomething) {
  background_grant();
  server.frees(11, 1, "/P1/B-0000000001").takes(20, 2, "g20");
  urgent.invoke(0, 1).granted(80, 1, 20, 2);
  // Of the same epoch, and lost: somebody was told of it.
  planted.client("c").on("P2").invoke(0, 1).granted(85, 1, 30, 3);
  server.claims(30, 3, "/P2/A-0000000003");
  server.claims(next_epoch + 1, 4, "/P2/A-0000000002");
  const LineFindings findings = judge();
  EXPECT_EQ(findings.priority.violations, 0u);
  EXPECT_EQ(findings.owners.violations, 0u);
  EXPECT_EQ(findings.priority.undecided, 3u);
}

TEST_F(JustGrantsTest, WhatWasBeforeThatIsJudged) {
  planted.client("a").invoke(90, 1).granted(95, 1, next_epoch + 1, 5).release(96, 1).released(97, 1);
  server.claims(next_epoch + 1, 5, "/P1/A-0000000007").claims(2 * next_epoch + 1, 6, "/P1/A-0000000005");
  background_grant();
  server.frees(11, 1, "/P1/B-0000000001").takes(20, 2, "g20");
  urgent.invoke(0, 1).granted(80, 1, 20, 2);
  const LineFindings findings = judge();
  EXPECT_EQ(findings.priority.violations, 1u);
  EXPECT_EQ(findings.priority.undecided, 1u);
}

TEST(ConsistentLogTest, NumbersRise) {
  PlantedHistory planted;
  planted.runner().claims(100, 1, "/P1/A-0000000003").frees(101, 1, "/P1/A-0000000003");
  planted.runner().claims(102, 2, "/P1/B-0000000005").claims(103, 3, "/P2/B-0000000000");
  const Findings findings = consistent_log(planted.read());
  EXPECT_EQ(findings.judged, 3u);
  EXPECT_EQ(findings.violations, 0u);
}

TEST(ConsistentLogTest, AMonitorThatIsMadeAnewBeginsAnew) {
  PlantedHistory planted;
  planted.runner().claims(100, 1, "/P1/A-0000000003").frees(101, 1, "/P1/A-0000000003");
  planted.runner().transaction(102, 0, "delete", "/P1").transaction(103, 2, "create", "/P1");
  planted.runner().claims(104, 2, "/P1/B-0000000000");
  EXPECT_EQ(consistent_log(planted.read()).violations, 0u);
}

TEST(ConsistentLogTest, WhatNobodyWasToldOfMayBeLostWithItsLeader) {
  PlantedHistory planted;
  planted.client("a").holds(10, 20, 1, 99, 1);
  planted.runner().claims(99, 1, "/P1/A-0000000001").frees(100, 1, "/P1/A-0000000001");
  planted.runner().claims(101, 1, "/P1/A-0000000003").transaction(102, 1, "delete", "/P2/B-0000000000");
  planted.runner().claims(2 * next_epoch + 1, 2, "/P1/B-0000000003");
  const History history = planted.read();
  EXPECT_EQ(consistent_log(history).violations, 0u);
  EXPECT_EQ(history.log.size(), 8u) << "and all that followed in that epoch";
}

TEST(ConsistentLogTest, WhatSomebodyWasToldOfMayNot) {
  PlantedHistory planted;
  planted.client("a").holds(10, 20, 1, 101, 1);
  planted.runner().claims(101, 1, "/P1/A-0000000003");
  planted.runner().claims(2 * next_epoch + 1, 2, "/P1/B-0000000003");
  EXPECT_EQ(consistent_log(planted.read()).violations, 1u);
}

TEST(ConsistentLogTest, TheServersHaveLostSomething) {
  PlantedHistory planted;
  planted.runner().claims(100, 1, "/P1/A-0000000003").claims(200, 2, "/P1/B-0000000003");
  EXPECT_THAT(consistent_log(planted.read()).explanations, ElementsAre(HasSubstr("lost what they had confirmed")));
}

}  // namespace
}  // namespace forelock::robustness
