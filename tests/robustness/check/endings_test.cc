// How things end: in time, without leftovers, with every dead letter, and with the holder as the first to know.
#include "robustness/check/planted_history.h"
#include "robustness/check/rules.h"
#include "robustness/check/verdict.h"
#include "support/test.h"

namespace forelock::robustness {
namespace {

TEST(BoundedWaitsTest, InTime) {
  PlantedHistory planted;
  planted.client("a").invoke(0, 1, 100).granted(590, 1, 5).invoke(700, 2, 0, "try").refused(1190, 2);
  planted.client("a").invoke(2000, 3, 100);  // it ended before it could know
  const Findings findings = bounded_waits(planted.read(), {});
  EXPECT_EQ(findings.judged, 3u);
  EXPECT_EQ(findings.violations, 0u);
}

TEST(BoundedWaitsTest, TooLate) {
  PlantedHistory planted;
  planted.client("a").invoke(0, 1, 100).refused(601, 1);
  EXPECT_THAT(bounded_waits(planted.read(), {}).explanations, ElementsAre(HasSubstr("ended after 601.000 ms")));
}

TEST(BoundedWaitsTest, NeverEnded) {
  PlantedHistory planted;
  planted.client("a").invoke(0, 1, 100).beats(0, 5000);
  EXPECT_THAT(bounded_waits(planted.read(), {}).explanations, ElementsAre(HasSubstr("had not ended after 5000")));
}

TEST(BoundedWaitsTest, APauseDoesNotCount) {
  PlantedHistory planted;
  planted.client("a").invoke(0, 1, 100).refused(5050, 1);
  planted.runner().fault(50, 5000, "client_paused", "a");
  EXPECT_EQ(bounded_waits(planted.read(), {}).violations, 0u);
  planted.client("a").invoke(6000, 2, 100).refused(7000, 2);
  EXPECT_EQ(bounded_waits(planted.read(), {}).violations, 1u) << "but only the time of the pause";
}

TEST(BoundedWaitsTest, AMachineThatStandsStillDoesNotCount) {
  PlantedHistory planted;
  planted.client("a").beats(0, 100).invoke(110, 1, 100).event(2100, "heartbeat").refused(2110, 1);
  EXPECT_EQ(bounded_waits(planted.read(), {}).violations, 0u);
}

TEST(BoundedWaitsTest, APauseOfAnotherProcessIsNoExcuse) {
  PlantedHistory planted;
  planted.client("a").invoke(0, 1, 100).refused(5050, 1);
  planted.client("b").event(1, "heartbeat");
  planted.runner().fault(50, 5000, "client_paused", "b");
  EXPECT_EQ(bounded_waits(planted.read(), {}).violations, 1u);
}

TEST(BoundedWaitsTest, AReleaseEndsWithinTheSessionsTimeOut) {
  PlantedHistory planted;
  planted.client("a").event(0, "started", {{"session_timeout_ms", 1000}}).invoke(0, 1).granted(1, 1, 5);
  planted.client("a").release(10, 1).released(1500, 1).invoke(2000, 2).granted(2001, 2, 6).release(2002, 2);
  EXPECT_EQ(bounded_waits(planted.read(), {}).violations, 0u);
  planted.client("a").released(3600, 2);
  EXPECT_THAT(bounded_waits(planted.read(), {}).explanations, ElementsAre(HasSubstr("released at")));
}

TEST(BoundedWaitsTest, ThatOfAHolderWhoStepsAsideEndsWithTheWholeOfIt) {
  PlantedHistory planted;
  planted.client("a").event(0, "started", {{"session_timeout_ms", 1000}}).invoke(0, 1).granted(1, 1, 5);
  planted.client("a").release(10, 1).invoke(11, 2, 3000, "step_aside").released(3010, 1).refused(3010, 2);
  EXPECT_EQ(bounded_waits(planted.read(), {}).violations, 0u);
  PlantedHistory late;
  late.client("a").event(0, "started", {{"session_timeout_ms", 1000}}).invoke(0, 1).granted(1, 1, 5);
  late.client("a").release(10, 1).invoke(11, 2, 3000, "step_aside").released(3800, 1).refused(3300, 2);
  EXPECT_THAT(bounded_waits(late.read(), {}).explanations, ElementsAre(HasSubstr("released at")));
}

TEST(BoundedWaitsTest, OtherPeoplesClientsAndCommandsHaveBoundsOfTheirOwn) {
  PlantedHistory planted;
  planted.process("l", "literal").invoke(0, 1, 100).granted(9000, 1, 0);
  planted.process("c", "cli").invoke(0, 1, 100).refused(1590, 1);
  EXPECT_EQ(bounded_waits(planted.read(), {}).violations, 0u);
  planted.process("c", "cli").invoke(2000, 2, 100).refused(3601, 2);
  EXPECT_EQ(bounded_waits(planted.read(), {}).violations, 1u);
}

TEST(BoundedWaitsTest, AProcessThatHangsIsLate) {
  PlantedHistory planted;
  planted.runner().event(1, "hung", {{"target", "a"}});
  EXPECT_EQ(bounded_waits(planted.read(), {}).violations, 1u);
}

TEST(NothingLeftTest, EachNodeIsToldOf) {
  PlantedHistory planted;
  planted.client("a").holds(1, 2, 1, 5);
  EXPECT_EQ(nothing_left(planted.read()).violations, 0u);
  planted.runner().event(9, "remaining", {{"path", "/P1/A-0000000003"}, {"session", 1}, {"sessions", "gone"}});
  EXPECT_THAT(nothing_left(planted.read()).explanations, ElementsAre("/P1/A-0000000003 is left (sessions: gone)"));
}

TEST(KeptLettersTest, AcceptedIsFound) {
  PlantedHistory planted;
  planted.client("a").event(1, "handed", {{"id", "x"}, {"hash", "h"}}).event(2, "accepted", {{"id", "x"}});
  planted.client("a").event(3, "handed", {{"id", "refused"}});
  planted.runner().event(9, "found", {{"id", "x"}, {"where", "topic"}, {"hash", "h"}});
  planted.runner().event(9, "found", {{"id", "x"}, {"where", "outbox"}, {"hash", "h"}});
  const Findings findings = kept_letters(planted.read());
  EXPECT_EQ(findings.judged, 2u);
  EXPECT_EQ(findings.violations, 0u);
}

TEST(KeptLettersTest, AcceptedAndNowhere) {
  PlantedHistory planted;
  planted.client("a").event(1, "handed", {{"id", "x"}}).event(2, "accepted", {{"id", "x"}});
  EXPECT_THAT(kept_letters(planted.read()).explanations, ElementsAre(HasSubstr("is nowhere")));
}

TEST(KeptLettersTest, AlteredOrInvented) {
  PlantedHistory planted;
  planted.client("a").event(1, "handed", {{"id", "x"}, {"hash", "h"}}).event(2, "accepted", {{"id", "x"}});
  planted.runner().event(9, "found", {{"id", "x"}, {"where", "topic"}, {"hash", "other"}});
  planted.runner().event(9, "found", {{"id", "y"}, {"where", "topic"}, {"hash", "h"}});
  EXPECT_THAT(kept_letters(planted.read()).explanations,
              ElementsAre(HasSubstr("not what was handed"), HasSubstr("nobody has written it")));
}

TEST(DepositionMarginsTest, AreApartFromThoseOfStallRounds) {
  PlantedHistory planted;
  planted.client("a").invoke(0, 1).granted(10, 1, 100, 7).beats(10, 9000).unhealthy(7000, 1);
  planted.client("b").invoke(500, 1).granted(5000, 1, 101, 8);
  planted.runner().event(1000, "deposed", {{"client", "a"}, {"call", 1}, {"monitor", "P1"}});
  const History history = planted.read();
  EXPECT_EQ(stall_margins(history).findings.judged, 0u);
  const StallFindings depositions = deposition_margins(history);
  EXPECT_EQ(depositions.findings.judged, 1u);
  EXPECT_EQ(depositions.findings.violations, 1u);
  EXPECT_EQ(depositions.margin, -2000ms);
  const Verdict verdict = judge(history, {});
  EXPECT_FALSE(verdict.clean());
  EXPECT_THAT(verdict.json(), HasSubstr(R"("min_deposition_margin_ms":-2000.0)"));
}

TEST(DepositionMarginsTest, OneThatTookNothingAwayIsNotJudgedByTheNextOne) {
  PlantedHistory planted;
  planted.client("a").invoke(0, 1).granted(10, 1, 100, 7).beats(10, 9000).unhealthy(7000, 1);
  planted.client("b").invoke(500, 1).granted(7400, 1, 101, 8);
  for (const int at : {1000, 5000}) {
    planted.runner().event(at, "deposed", {{"client", "a"}, {"call", 1}, {"monitor", "P1"}});
  }
  const StallFindings depositions = deposition_margins(planted.read());
  EXPECT_EQ(depositions.findings.judged, 1u);
  EXPECT_EQ(depositions.margin, 400ms);
}

class StallMarginsTest : public ::testing::Test {
 protected:
  StallMarginsTest() {
    planted.client("a").invoke(0, 1).granted(10, 1, 100, 7).beats(10, 6000);
    planted.runner().event(1000, "stalled", {{"client", "a"}, {"call", 1}, {"monitor", "P1"}});
  }
  StallFindings judge() const { return stall_margins(planted.read()); }

  PlantedHistory planted;
};

TEST_F(StallMarginsTest, TheHolderKnowsFirst) {
  planted.client("a").unhealthy(4000, 1).lost(4001, 1);
  planted.client("b").invoke(500, 1).granted(5000, 1, 101, 8);
  const StallFindings stalls = judge();
  EXPECT_EQ(stalls.findings.judged, 1u);
  EXPECT_EQ(stalls.findings.violations, 0u);
  EXPECT_EQ(stalls.margin, 1000ms);
}

TEST_F(StallMarginsTest, TheEndOfTheSessionIsWhatCounts) {
  planted.client("a").unhealthy(4000, 1);
  planted.client("b").invoke(500, 1).granted(5000, 1, 101, 8);
  planted.runner().event(4900, "session_expired_at_server", {{"session", "0x7"}, {"client", "a"}});
  planted.runner().event(100, "session_expired_at_server", {{"session", "0x8"}, {"client", "c"}});
  EXPECT_EQ(judge().margin, 900ms);
}

TEST_F(StallMarginsTest, TheSmallestMarginOfAllRounds) {
  planted.client("a").unhealthy(4000, 1).invoke(5500, 2).granted(5600, 2, 102, 9).unhealthy(8000, 2);
  planted.client("b").invoke(500, 1).granted(5000, 1, 101, 8).release(5100, 1).invoke(6000, 2).granted(8300, 2, 103);
  planted.runner().event(6000, "stalled", {{"client", "a"}, {"call", 2}, {"monitor", "P1"}});
  const StallFindings stalls = judge();
  EXPECT_EQ(stalls.findings.judged, 2u);
  EXPECT_EQ(stalls.margin, 300ms);
}

TEST(StallMarginTest, WhoLetsGoWhenItHasNoticedSaysNothingAboutIt) {
  for (const char* direction : {"to_client", "both"}) {
    PlantedHistory planted;
    planted.client("a").invoke(0, 1).granted(10, 1, 100, 7).beats(10, 6000).unhealthy(4000, 1).release(4001, 1);
    planted.client("b").invoke(500, 1).granted(4003, 1, 101, 8);
    planted.runner().event(1000, "stalled",
                           {{"client", "a"}, {"call", 1}, {"monitor", "P1"}, {"direction", direction}});
    const StallFindings stalls = stall_margins(planted.read());
    EXPECT_EQ(stalls.findings.judged, 1u);
    EXPECT_EQ(stalls.findings.violations, 0u);
    // Its release does not arrive when nothing does.
    EXPECT_EQ(stalls.margin.has_value(), std::string(direction) == "both");
  }
}

TEST_F(StallMarginsTest, TheOtherIsGrantedFirst) {
  planted.client("a").unhealthy(5001, 1);
  planted.client("b").invoke(500, 1).granted(5000, 1, 101, 8);
  const StallFindings stalls = judge();
  EXPECT_EQ(stalls.findings.violations, 1u);
  EXPECT_EQ(stalls.margin, -1ms);
}

TEST_F(StallMarginsTest, TheHolderNeverKnows) {
  planted.client("b").invoke(500, 1).granted(5000, 1, 101, 8);
  EXPECT_THAT(judge().findings.explanations, ElementsAre(HasSubstr("never noticed")));
  EXPECT_EQ(judge().margin, 0ms);
}

TEST_F(StallMarginsTest, NobodyElseComes) {
  planted.client("a").unhealthy(4000, 1);
  EXPECT_EQ(judge().findings.judged, 0u);
  EXPECT_FALSE(judge().margin);
}

TEST_F(StallMarginsTest, TheHolderHadGivenItUp) {
  planted.client("a").release(1100, 1);
  planted.client("b").invoke(500, 1).granted(5000, 1, 101, 8);
  EXPECT_EQ(judge().findings.judged, 0u);
}

TEST(KeptLettersTest, EndsInOneWay) {
  PlantedHistory planted;
  planted.client("a").event(1, "handed", {{"id", "x"}}).event(2, "succeeded", {{"id", "x"}});
  planted.client("a").event(3, "handed", {{"id", "y"}}).event(4, "kept", {{"id", "y"}});
  planted.client("a").event(5, "handed", {{"id", "z"}});
  EXPECT_EQ(kept_letters(planted.read()).violations, 0u) << "it may have been killed";
  planted.client("a").event(6, "ended");
  EXPECT_THAT(kept_letters(planted.read()).explanations, ElementsAre(HasSubstr("z never ended")));
}

TEST(KeptLettersTest, EndsInTwoWays) {
  PlantedHistory planted;
  planted.client("a").event(1, "handed", {{"id", "x"}}).event(2, "succeeded", {{"id", "x"}});
  planted.runner().event(9, "found", {{"id", "x"}, {"where", "outbox"}});
  EXPECT_THAT(kept_letters(planted.read()).explanations, ElementsAre(HasSubstr("is a dead letter too")));
  planted.client("a").event(3, "accepted", {{"id", "x"}});
  EXPECT_THAT(kept_letters(planted.read()).explanations, Contains(HasSubstr("more than one way")));
}

class FlatUseTest : public ::testing::Test {
 protected:
  // Once a minute, and what it was then.
  void sample(const char* who, const char* what, int minutes, const std::function<int(int)>& count) {
    for (int i = 0; i <= minutes; ++i) {
      planted.runner().event(i * 60'000 + 1, "sample", {{"target", who}, {what, count(i)}});
    }
  }

  PlantedHistory planted;
};

TEST_F(FlatUseTest, WhatSwingsDoesNotGrow) {
  sample("a", "memory_kib", 30, [](int i) { return 20'000 + i % 3 * 5'000; });
  sample("servers", "watches", 30, [](int i) { return 40 + i % 2 * 10; });
  const FlatFindings found = flat_use(planted.read());
  EXPECT_EQ(found.findings.judged, 2u);
  EXPECT_EQ(found.findings.violations, 0u);
}

TEST_F(FlatUseTest, ADescriptorAMinute) {
  sample("a", "descriptors", 30, [](int i) { return 20 + i; });
  EXPECT_THAT(flat_use(planted.read()).findings.explanations, ElementsAre(HasSubstr("descriptors of a grew from 2")));
}

TEST_F(FlatUseTest, HalfAMebibyteAMinute) {
  sample("a", "memory_kib", 60, [](int i) { return 20'000 + 512 * i; });
  EXPECT_EQ(flat_use(planted.read()).findings.violations, 1u);
}

// What is under way to a broker that is away is bounded, and the room for it is kept.
TEST_F(FlatUseTest, WhoDeadLettersMayGrowByWhatIsUnderWay) {
  sample("a", "memory_kib", 60, [](int i) { return i < 30 ? 20'000 : 50'000; });
  EXPECT_EQ(flat_use(planted.read()).findings.violations, 1u);
  planted.client("a").event(1, "handed", {{"id", "x"}, {"hash", "h"}, {"monitor", "P1"}});
  EXPECT_EQ(flat_use(planted.read()).findings.violations, 0u);
}

TEST_F(FlatUseTest, WhoDeadLettersMayNotGrowFurther) {
  sample("a", "memory_kib", 60, [](int i) { return 20'000 + 1'024 * i; });
  planted.client("a").event(1, "handed", {{"id", "x"}, {"hash", "h"}, {"monitor", "P1"}});
  EXPECT_EQ(flat_use(planted.read()).findings.violations, 1u);
}

TEST_F(FlatUseTest, TheFirstMinutesDoNotCount) {
  sample("a", "memory_kib", 30, [](int i) { return i < 2 ? 5'000 : 30'000; });
  EXPECT_EQ(flat_use(planted.read()).findings.violations, 0u);
}

TEST_F(FlatUseTest, WhoWasThereForAMomentIsNotJudged) {
  sample("a", "threads", 9, [](int i) { return 10 * i; });
  EXPECT_EQ(flat_use(planted.read()).findings.judged, 0u);
}

TEST(ExposureTest, CountsWhatAFaultCouldHaveHurt) {
  PlantedHistory planted;
  planted.client("a").holds(10, 20, 1, 100).holds(500, 2100, 2, 101).holds(9000, 9001, 3, 102);
  planted.resource().enters(600, "a", 2, 101).leaves(2000, "a", 2);
  planted.runner().fault(700, 800, "server_killed", "s1").fault(700, 701, "server_killed", "s2");
  planted.runner().fault(2500, 2600, "connection_cut", "a");
  const auto found = exposure(planted.read());
  EXPECT_EQ(found.at("server_killed").faults, 2u);
  EXPECT_EQ(found.at("server_killed").calls, 1u);
  EXPECT_EQ(found.at("server_killed").accesses, 1u);
  EXPECT_EQ(found.at("connection_cut").calls, 0u);
}

TEST(VerdictTest, CountsAndDecides) {
  PlantedHistory planted;
  planted.client("a").holds(10, 20, 1, 100);
  planted.runner().fault(1, 2, "server_killed", "s1").fault(3, 4, "server_killed", "s2").fault(5, 6, "cut", "a");
  const Verdict clean = judge(planted.read(), {});
  EXPECT_TRUE(clean.clean());
  EXPECT_THAT(clean.json(),
              HasSubstr(R"({"acquisitions":1,"faults":3,"fault_kinds":2,"overlaps":0,"orphans":0,)"
                        R"("priority_violations":0,"late_calls":0,"lost_operations":0,"min_stall_margin_ms":null)"));
  planted.client("b").holds(15, 30, 1, 101);
  const Verdict guilty = judge(planted.read(), {});
  EXPECT_FALSE(guilty.clean());
  EXPECT_THAT(guilty.json(), HasSubstr(R"("certainty_overlaps":1)"));
  std::ostringstream explained;
  guilty.explain(explained);
  EXPECT_THAT(explained.str(), HasSubstr("holders' certainty: 2 judged, 0 undecided, 1 violations\n  a call 1"));
}

}  // namespace
}  // namespace forelock::robustness
