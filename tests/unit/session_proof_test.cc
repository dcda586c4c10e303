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
  void write(milliseconds sent, milliseconds answered) { proof_.answered(at(sent), true, at(answered)); }
  void read(milliseconds sent, milliseconds answered) { proof_.answered(at(sent), false, at(answered)); }
  milliseconds known() const {
    return std::chrono::duration_cast<milliseconds>(proof_.valid_until() - timeout - TimePoint(1h));
  }

  SessionProof proof_;
};

TEST_F(SessionProofTest, NothingIsKnownOfNoSession) {
  EXPECT_EQ(SessionProof().valid_until(), TimePoint{});
  EXPECT_EQ(SessionProof().worth_asking(), never);
  write(10ms, 11ms);
  proof_.ended();
  EXPECT_EQ(proof_.valid_until(), TimePoint{});
}

TEST_F(SessionProofTest, ANewSessionLivesFromTheInstantBeforeItWasAskedFor) {
  EXPECT_EQ(known(), 0ms);
}

TEST_F(SessionProofTest, OneAnswerAloneProvesNothingNew) {
  write(2000ms, 2001ms);
  EXPECT_EQ(known(), 0ms);
}

TEST_F(SessionProofTest, ALaterWriteProvesTheSendTimeOfTheFirst) {
  write(200ms, 210ms);
  write(1209ms, 1211ms);  // the follower may not have reported
  EXPECT_EQ(known(), 0ms);
  write(1210ms, 1212ms);
  EXPECT_EQ(known(), 200ms);
}

TEST_F(SessionProofTest, TheDelayCountsFromTheAnswerNotFromTheSending) {
  write(200ms, 1500ms);  // held up on its way to the follower
  write(1600ms, 1601ms);
  EXPECT_EQ(known(), 0ms);
}

TEST_F(SessionProofTest, AReadIsNoProofButCanBeProved) {
  read(300ms, 301ms);
  read(1500ms, 1501ms);
  EXPECT_EQ(known(), 0ms);
  write(1600ms, 1601ms);
  EXPECT_EQ(known(), 300ms);
}

TEST_F(SessionProofTest, TheNewestThatIsOldEnoughCounts) {
  for (milliseconds time = 100ms; time <= 2000ms; time += 100ms) write(time, time + 1ms);
  EXPECT_EQ(known(), 900ms);  // answered at 901 ms, a thousand before 2000
}

// A leader that has been deposed without knowing it takes clients back, too.
TEST_F(SessionProofTest, AReconnectProvesNothingUntilAWriteIsAnswered) {
  read(700ms, 701ms);
  proof_.resumed(timeout);
  EXPECT_EQ(known(), 0ms);
  read(900ms, 901ms);
  EXPECT_EQ(known(), 0ms);
  write(950ms, 951ms);
  EXPECT_EQ(known(), 700ms);
  write(1910ms, 1911ms);  // more than the delay after 901 ms
  EXPECT_EQ(known(), 900ms);
}

TEST_F(SessionProofTest, WhatWasAnsweredBeforeTheReconnectIsNoHalfOfAPairAfterIt) {
  read(700ms, 701ms);
  proof_.resumed(timeout);
  write(710ms, 711ms);
  write(1709ms, 1710ms);
  EXPECT_EQ(known(), 700ms);  // 710 ms was answered over this connection at 711 ms: too late for 1709 ms
  write(1711ms, 1712ms);
  EXPECT_EQ(known(), 710ms);
}

TEST_F(SessionProofTest, OneWriteProvesSeveralReconnects) {
  read(700ms, 701ms);
  proof_.resumed(timeout);
  read(900ms, 901ms);
  proof_.resumed(timeout);
  proof_.resumed(timeout);
  write(1000ms, 1001ms);
  EXPECT_EQ(known(), 900ms);
}

TEST_F(SessionProofTest, ANewSessionOwesNothingToTheReconnectsOfTheOneBefore) {
  read(700ms, 701ms);
  proof_.resumed(timeout);
  proof_.ended();
  proof_.opened(at(100ms), timeout);
  write(2000ms, 2001ms);
  EXPECT_EQ(known(), 100ms);
}

// A new leader counts by the time-out of the session's creation.
TEST_F(SessionProofTest, AResumedSessionCountsByTheShorterTimeout) {
  proof_.resumed(2 * timeout);
  EXPECT_EQ(proof_.valid_until(), at(0ms) + timeout);
  proof_.resumed(1600ms);
  EXPECT_EQ(proof_.valid_until(), at(0ms) + 1600ms);
}

TEST_F(SessionProofTest, AfterAReconnectAWriteIsWorthwhileAtOnce) {
  read(700ms, 701ms);
  proof_.resumed(timeout);
  EXPECT_LE(proof_.worth_asking(), at(701ms));
  write(800ms, 801ms);
  EXPECT_EQ(proof_.worth_asking(), at(1801ms));
}

TEST_F(SessionProofTest, ItIsSaidFromWhenOnAskingIsWorthIt) {
  EXPECT_EQ(proof_.worth_asking(), never);
  write(200ms, 210ms);
  EXPECT_EQ(proof_.worth_asking(), at(1210ms));
}

TEST_F(SessionProofTest, AfterASilenceTheOldAnswersGiveWhatIsLeft) {
  read(100ms, 101ms);
  write(3000ms, 3001ms);  // the process was stopped in between
  EXPECT_EQ(known(), 100ms);
  write(3400ms, 3401ms);
  EXPECT_EQ(known(), 100ms);
  write(4001ms, 4002ms);
  EXPECT_EQ(known(), 3000ms);
}

}  // namespace
}  // namespace forelock::lock
