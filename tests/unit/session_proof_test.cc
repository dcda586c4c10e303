// What may be concluded from answered requests about a session's life.
#include "lock/session_proof.h"

#include <gtest/gtest.h>

namespace forelock::lock {
namespace {

using std::chrono::milliseconds;
using namespace std::chrono_literals;

constexpr Duration timeout = 3200ms;  // a follower's delay is 1000 ms

class SessionProofTest : public ::testing::Test {
 protected:
  SessionProofTest() { proof_.opened(at(0ms), timeout); }

  static TimePoint at(milliseconds time) { return TimePoint(1h) + time; }
  void leader(milliseconds sent, milliseconds answered) { proof_.answered(at(sent), true, at(answered)); }
  void follower(milliseconds sent, milliseconds answered) { proof_.answered(at(sent), false, at(answered)); }
  milliseconds known() const {
    return std::chrono::duration_cast<milliseconds>(proof_.valid_until() - timeout - TimePoint(1h));
  }

  SessionProof proof_;
};

TEST_F(SessionProofTest, NothingIsKnownOfNoSession) {
  EXPECT_EQ(SessionProof().valid_until(), TimePoint{});
  EXPECT_EQ(SessionProof().worth_asking(), never);
  leader(10ms, 11ms);
  proof_.ended();
  EXPECT_EQ(proof_.valid_until(), TimePoint{});
}

TEST_F(SessionProofTest, ANewSessionLivesFromTheInstantBeforeItWasAskedFor) {
  EXPECT_EQ(known(), 0ms);
}

TEST_F(SessionProofTest, OneAnswerAloneProvesNothingNew) {
  leader(2000ms, 2001ms);
  EXPECT_EQ(known(), 0ms);
}

TEST_F(SessionProofTest, ALaterOneThroughTheLeaderProvesTheSendTimeOfTheFirst) {
  leader(200ms, 210ms);
  leader(1209ms, 1211ms);  // the follower may not have reported
  EXPECT_EQ(known(), 0ms);
  leader(1210ms, 1212ms);
  EXPECT_EQ(known(), 200ms);
}

TEST_F(SessionProofTest, TheDelayCountsFromTheAnswerNotFromTheSending) {
  leader(200ms, 1500ms);  // held up on its way to the follower
  leader(1600ms, 1601ms);
  EXPECT_EQ(known(), 0ms);
}

TEST_F(SessionProofTest, WhatAFollowerAnswersAloneIsNoProofButCanBeProved) {
  follower(300ms, 301ms);
  follower(1500ms, 1501ms);
  EXPECT_EQ(known(), 0ms);
  leader(1600ms, 1601ms);
  EXPECT_EQ(known(), 300ms);
}

TEST_F(SessionProofTest, TheNewestThatIsOldEnoughCounts) {
  for (milliseconds time = 100ms; time <= 2000ms; time += 100ms) leader(time, time + 1ms);
  EXPECT_EQ(known(), 900ms);  // answered at 901 ms, a thousand before 2000
}

TEST_F(SessionProofTest, AResumedSessionLivesFromTheLastAnswerOfTheConnectionBefore) {
  follower(700ms, 701ms);
  proof_.resumed(timeout);
  EXPECT_EQ(known(), 700ms);
  leader(2000ms, 2001ms);  // nothing from before the reconnect is proved twice
  EXPECT_EQ(known(), 700ms);
}

TEST_F(SessionProofTest, AResumedSessionMayHaveAShorterTimeout) {
  follower(700ms, 701ms);
  proof_.resumed(1600ms);
  EXPECT_EQ(proof_.valid_until(), at(700ms) + 1600ms);
}

TEST_F(SessionProofTest, ItIsSaidFromWhenOnAskingIsWorthIt) {
  EXPECT_EQ(proof_.worth_asking(), never);
  leader(200ms, 210ms);
  EXPECT_EQ(proof_.worth_asking(), at(1210ms));
}

TEST_F(SessionProofTest, AfterASilenceTheOldAnswersGiveWhatIsLeft) {
  follower(100ms, 101ms);
  leader(3000ms, 3001ms);  // the process was stopped in between
  EXPECT_EQ(known(), 100ms);
  leader(3400ms, 3401ms);
  EXPECT_EQ(known(), 100ms);
  leader(4001ms, 4002ms);
  EXPECT_EQ(known(), 3000ms);
}

}  // namespace
}  // namespace forelock::lock
