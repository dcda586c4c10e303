// Locks that stay with their process for its next section: what that permits, and what it does not.
#include "robustness/check/planted_history.h"
#include "robustness/check/rules.h"
#include "support/test.h"

namespace forelock::robustness {
namespace {

// The process a, whose locks stay with it, has two sections under the grant 100 (session 1, A-0000000001): from 10 to
// 20, and one that is asked for at `at` - 1 and granted at `at`.
class LingeringTest : public ::testing::Test {
 protected:
  LingeringTest() {
    a.event(1, "started", {{"session_timeout_ms", 3000}, {"linger_ms", 400}}).holds(10, 20, 1, 100);
    server.claims(100, 1, "/P1/A-0000000001");
  }
  void again(double at) { a.holds(at, at + 5, 2, 100); }
  void b_gets_it(double at, std::int64_t zxid) {
    b.invoke(2, 1).granted(at, 1, zxid, 2).release(at + 5, 1).released(at + 6, 1);
  }

  PlantedHistory planted;
  PlantedProcess& server = planted.runner();
  PlantedProcess& a = planted.client("a");
  PlantedProcess& b = planted.client("b");
};

TEST_F(LingeringTest, SectionsUnderOneGrantShareItsToken) {
  again(30);
  server.transaction(110, 2, "create", "/P1/A-0000000002", "g120").frees(115, 1, "/P1/A-0000000001");
  server.takes(120, 2, "g120");
  b_gets_it(50, 120);
  const History history = planted.read();
  EXPECT_THAT(rising_tokens(history).explanations, IsEmpty());
  const Findings findings = taken_again(history);
  EXPECT_EQ(findings.judged, 1u);
  EXPECT_THAT(findings.explanations, IsEmpty());
  const LineFindings line = just_grants(history);
  EXPECT_EQ(line.owners.judged, 2u) << "grants, not sections";
  EXPECT_THAT(line.owners.explanations, IsEmpty());
}

TEST_F(LingeringTest, ATokenIsOfOneProcess) {
  b.holds(30, 40, 1, 100);
  EXPECT_THAT(rising_tokens(planted.read()).explanations, ElementsAre(HasSubstr("have the same token")));
}

TEST_F(LingeringTest, ATokenIsOfOneSession) {
  a.holds(30, 40, 2, 100, 2);
  EXPECT_THAT(rising_tokens(planted.read()).explanations, ElementsAre(HasSubstr("have the same token")));
}

TEST_F(LingeringTest, ATokenIsOfOneClass) {
  a.background().holds(30, 40, 2, 100);
  EXPECT_THAT(rising_tokens(planted.read()).explanations, ElementsAre(HasSubstr("have the same token")));
}

TEST_F(LingeringTest, ATokenIsOfOneContender) {
  a.invoke(29, 2).event(
      30, "granted",
      {{"call", 2}, {"monitor", "P1"}, {"token", "100"}, {"node", ""}, {"guid", "x"}, {"session", "0x1"}});
  EXPECT_THAT(rising_tokens(planted.read()).explanations, ElementsAre(HasSubstr("have the same token")));
}

TEST_F(LingeringTest, TwoSectionsAtOnceAreTwoHolders) {
  again(15);
  EXPECT_EQ(exclusive_certainty(planted.read()).violations, 1u);
}

TEST_F(LingeringTest, TwoVisitsAtOnceUnderOneGrantOverlap) {
  planted.resource().enters(10, "a", 1, 100).enters(15, "a", 2, 100).leaves(16, "a", 2).leaves(20, "a", 1);
  EXPECT_THAT(exclusive_accesses(planted.read()).explanations, ElementsAre(HasSubstr("overlap")));
}

TEST_F(LingeringTest, VisitsUnderOneGrantFollowEachOther) {
  planted.resource().enters(10, "a", 1, 100).leaves(20, "a", 1).enters(30, "a", 2, 100).leaves(31, "a", 2);
  EXPECT_EQ(exclusive_accesses(planted.read()).violations, 0u);
  planted.resource().enters(32, "b", 1, 100).leaves(33, "b", 1);
  EXPECT_THAT(exclusive_accesses(planted.read()).explanations, ElementsAre(HasSubstr("was accepted after")));
}

TEST_F(LingeringTest, NoSectionBeginsAfterAnotherWasGranted) {
  server.transaction(110, 2, "create", "/P1/A-0000000002", "g120").frees(115, 1, "/P1/A-0000000001");
  server.takes(120, 2, "g120").frees(121, 2, "/P1/A-0000000002");
  b_gets_it(25, 120);
  again(40);
  EXPECT_THAT(rising_tokens(planted.read()).explanations, ElementsAre(HasSubstr("the higher token")));
  EXPECT_THAT(taken_again(planted.read()).explanations, ElementsAre(HasSubstr("when that grant had ended")));
}

TEST_F(LingeringTest, NoSectionBeginsAfterAClientThatKnowsNoToken) {
  PlantedProcess& literal = planted.process("l", "literal");
  literal.invoke(2, 1).event(25, "granted", {{"call", 1}, {"monitor", "P1"}, {"token", "0"}, {"node", "A-0000000002"}});
  server.transaction(110, 9, "create", "/P1/A-0000000002").frees(115, 1, "/P1/A-0000000001");
  server.transaction(120, 9, "create", "/P1/privateLock");
  again(40);
  EXPECT_THAT(taken_again(planted.read()).explanations, ElementsAre(HasSubstr("when that grant had ended")));
}

// The name of its node has come again since, with another client.
TEST_F(LingeringTest, WhatAClientWithoutTokensWasToldIsOfItsOwnNode) {
  planted.process("l", "literal")
      .invoke(2, 1)
      .event(5, "granted", {{"call", 1}, {"monitor", "P1"}, {"token", "0"}, {"node", "A-0000000000"}});
  server.frees(115, 1, "/P1/A-0000000001").transaction(118, 0, "delete", "/P1").transaction(120, 1, "create", "/P1");
  server.claims(120, 1, "/P1/A-0000000000");
  again(40);
  EXPECT_THAT(taken_again(planted.read()).explanations, IsEmpty());
}

// Nor with another one of the same kind, which was never told.
TEST_F(LingeringTest, OfANameThatHasComeAgainItIsNotKnownWhoWasTold) {
  planted.process("l", "literal")
      .invoke(2, 1)
      .event(5, "granted", {{"call", 1}, {"monitor", "P1"}, {"token", "0"}, {"node", "A-0000000002"}});
  server.transaction(90, 8, "create", "/P1/A-0000000002").transaction(91, 8, "create", "/P1/privateLock");
  server.frees(115, 1, "/P1/A-0000000001").transaction(118, 0, "delete", "/P1").transaction(119, 1, "create", "/P1");
  server.transaction(120, 9, "create", "/P1/A-0000000002").transaction(121, 9, "create", "/P1/privateLock");
  again(40);
  EXPECT_THAT(taken_again(planted.read()).explanations, IsEmpty());
}

TEST_F(LingeringTest, AGrantWhoseLockWasMadeWithItsRecordIsJudgedToo) {
  a.on("P2").holds(10, 20, 3, 200).holds(40, 45, 4, 200);
  server.transaction(200, 1, "create", "/P2/A-0000000001", "g200");
  server.transaction(200, 1, "create", "/P2/privateLock", "g200").frees(215, 1, "/P2/A-0000000001");
  b.on("P3").invoke(2, 1).granted(25, 1, 230, 2);
  EXPECT_EQ(taken_again(planted.read()).violations, 1u);
}

TEST_F(LingeringTest, NoSectionBeginsAfterTheReleaseThatOthersHaveSeenTheEndOf) {
  server.frees(115, 1, "/P1/A-0000000001");
  b.on("P2").invoke(2, 1).granted(25, 1, 130, 2);
  again(40);
  EXPECT_EQ(taken_again(planted.read()).violations, 1u);
}

TEST_F(LingeringTest, NoSectionBeginsInASessionThatHasEnded) {
  server.transaction(115, 1, "close_session", "");
  b.on("P2").invoke(2, 1).granted(25, 1, 130, 2);
  again(40);
  EXPECT_EQ(taken_again(planted.read()).violations, 1u);
}

TEST_F(LingeringTest, ARobberyMayNotBeKnownYet) {
  server.transaction(110, 2, "create", "/P1/A-0000000002", "g120");
  server.transaction(115, 99, "delete", "/P1/A-0000000001").transaction(115, 99, "delete", "/P1/privateLock");
  server.takes(120, 2, "g120");
  b_gets_it(25, 120);
  again(40);
  EXPECT_EQ(rising_tokens(planted.read()).violations, 1u) << "nobody says when";
  EXPECT_EQ(taken_again(planted.read()).violations, 1u);
  server.fault(22, 22, "lock_deleted", "P1", "A-0000000001");
  EXPECT_THAT(rising_tokens(planted.read()).explanations, IsEmpty());
  EXPECT_THAT(taken_again(planted.read()).explanations, IsEmpty());
  a.event(3400, "heartbeat").holds(3402, 3403, 3, 100);
  EXPECT_EQ(rising_tokens(planted.read()).violations, 1u) << "the session's time-out was over";
  EXPECT_EQ(taken_again(planted.read()).violations, 2u) << "and for that long b had been in the queue";
}

// Another process has been in the queue for less than two thirds of the session's time-out, and for more.
class WaiterTest : public LingeringTest {
 protected:
  // b waits from before 50 on, as the grant of another monitor shows.
  void b_waits(const char* node) {
    server.transaction(110, 2, "create", node, "g220");
    planted.client("c").on("P2").invoke(40, 1).granted(50, 1, 111, 3);
  }
  void b_is_served(double at, const char* node = "/P1/A-0000000001") {
    server.frees(215, 1, node).takes(220, 2, "g220");
    b_gets_it(at, 220);
  }
};

TEST_F(WaiterTest, TheNewsMayBeOnTheirWay) {
  b_waits("/P1/A-0000000002");
  again(1900);
  b_is_served(2500);
  EXPECT_THAT(taken_again(planted.read()).explanations, IsEmpty());
}

TEST_F(WaiterTest, NewsAreNotOnTheirWayForLong) {
  b_waits("/P1/A-0000000002");
  again(2100);
  b_is_served(2500);
  EXPECT_THAT(taken_again(planted.read()).explanations,
              ElementsAre(HasSubstr("although A-0000000002 was in the queue, since zxid 110, by +0.049")));
}

TEST_F(WaiterTest, NorForALiteralClient) {
  server.transaction(110, 9, "create", "/P1/B-0000000002");
  planted.client("c").on("P2").invoke(40, 1).granted(50, 1, 111, 3);
  again(2100);
  server.frees(215, 1, "/P1/A-0000000001");
  EXPECT_EQ(taken_again(planted.read()).violations, 1u);
}

TEST_F(WaiterTest, WhoHasLeftDoesNotWait) {
  b_waits("/P1/A-0000000002");
  server.transaction(112, 2, "delete", "/P1/A-0000000002");
  again(2100);
  server.frees(215, 1, "/P1/A-0000000001");
  EXPECT_THAT(taken_again(planted.read()).explanations, IsEmpty());
}

TEST_F(WaiterTest, WhoHasLeftHadWaitedUntilThen) {
  b_waits("/P1/A-0000000002");
  planted.client("c").on("P2").invoke(2200, 2).granted(2210, 2, 112, 3);  // before the removal
  server.transaction(113, 2, "delete", "/P1/A-0000000002");
  again(2100);
  server.frees(215, 1, "/P1/A-0000000001");
  EXPECT_EQ(taken_again(planted.read()).violations, 1u);
}

TEST_F(WaiterTest, WhoWaitedBeforeTheGrantCountsFromThere) {
  PlantedHistory other;
  other.client("a").event(1, "started", {{"session_timeout_ms", 3000}, {"linger_ms", 400}});
  other.client("a").holds(2010, 2020, 1, 100).holds(2100, 2105, 2, 100);
  other.runner().transaction(90, 2, "create", "/P1/B-0000000000", "g220").claims(100, 1, "/P1/A-0000000001");
  other.runner().frees(215, 1, "/P1/A-0000000001");
  EXPECT_THAT(taken_again(other.read()).explanations, IsEmpty());
  other.client("a").holds(4100, 4105, 3, 100);
  EXPECT_EQ(taken_again(other.read()).violations, 1u);
}

// Of its own contenders a process knows at once.
TEST_F(WaiterTest, AContenderOfTheSameSessionGoesFirst) {
  server.transaction(110, 1, "create", "/P1/A-0000000002", "g220");
  planted.client("c").on("P2").invoke(40, 1).granted(50, 1, 111, 3);
  again(60);
  server.transaction(215, 1, "delete", "/P1/A-0000000001").transaction(215, 1, "set", "/P1/privateLock", "g220");
  EXPECT_THAT(taken_again(planted.read()).explanations, IsEmpty()) << "it may have given up";
  a.invoke(25, 3).granted(80, 3, 220, 1);
  EXPECT_EQ(taken_again(planted.read()).violations, 1u);
}

TEST_F(LingeringTest, WithoutTheServersLogNothingIsDecided) {
  PlantedHistory only_clients;
  only_clients.client("a").holds(10, 20, 1, 100).holds(30, 40, 2, 100);
  const Findings findings = taken_again(only_clients.read());
  EXPECT_EQ(findings.judged, 0u);
  EXPECT_EQ(findings.undecided, 1u);
}

// The grant that a later section shows may have been another call's, which had given up: when the section was asked for
// says nothing of when the grant was applied.
TEST_F(LingeringTest, ALateSectionDoesNotTellTheTimeOfItsGrant) {
  PlantedHistory other;
  PlantedProcess& log = other.runner();
  other.client("bulk").background().invoke(0, 1).granted(50, 1, 10, 1).release(60, 1).released(61, 1);
  log.transaction(5, 2, "create", "/P1/A-0000000000", "g20").claims(10, 1, "/P1/B-0000000001");
  log.transaction(11, 3, "create", "/P2/A-0000000001", "g11").transaction(11, 3, "create", "/P2/privateLock");
  log.transaction(11, 3, "set", "/P2/privateLock", "g11").transaction(12, 2, "delete", "/P1/A-0000000000");
  PlantedProcess& c = other.client("c").on("P2");
  c.holds(70, 71, 1, 11, 3);
  EXPECT_EQ(just_grants(other.read()).priority.violations, 1u) << "asked for after 50, so applied after it";
  c.event(1, "started", {{"session_timeout_ms", 3000}, {"linger_ms", 400}});
  EXPECT_EQ(just_grants(other.read()).priority.violations, 0u);
}

// Members of a set do not know their guids: what their session has written into privateLock tells.
TEST_F(LingeringTest, WhoKnowsItsSessionAloneIsJudgedByWhatThatHasWritten) {
  PlantedHistory other;
  const auto granted = [&](std::int64_t session) {
    other.client("set").invoke(0, 1).event(
        50, "granted",
        {{"call", 1}, {"monitor", "P1"}, {"token", "10"}, {"node", ""}, {"session", "0x" + std::to_string(session)}});
  };
  granted(1);
  other.runner().transaction(5, 2, "create", "/P1/A-0000000000", "g20").claims(10, 1, "/P1/B-0000000001");
  other.runner().frees(11, 1, "/P1/B-0000000001").takes(20, 2, "g20");
  other.client("urgent").invoke(0, 1).granted(80, 1, 20, 2);
  const LineFindings findings = just_grants(other.read());
  EXPECT_EQ(findings.owners.judged, 2u);
  EXPECT_EQ(findings.priority.violations, 1u);
}

}  // namespace
}  // namespace forelock::robustness
