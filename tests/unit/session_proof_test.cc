// What may be concluded from answered requests about a session's life.
#include "lock/session_proof.h"
#include "support/test.h"

namespace forelock::lock {
namespace {

constexpr Duration timeout = 3200ms;  // the leader asks every 1000 ms at least

class SessionProofTest : public ::testing::Test {
 protected:
  SessionProofTest() { proof_.opened(at(0ms), timeout); }

  static TimePoint at(milliseconds time) { return TimePoint(1h) + time; }
  void write(milliseconds sent, milliseconds answered) { proof_.answered(at(sent), Reach::quorum, at(answered)); }
  void sync(milliseconds sent, milliseconds answered) { proof_.answered(at(sent), Reach::leader, at(answered)); }
  void read(milliseconds sent, milliseconds answered) { proof_.answered(at(sent), Reach::server, at(answered)); }
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

// The follower may not have been asked for its list.
TEST_F(SessionProofTest, TwoAnswersInAHurryProveNothingNew) {
  write(200ms, 210ms);
  write(1209ms, 1211ms);
  write(1212ms, 1213ms);
  EXPECT_EQ(known(), 0ms);
}

// The second answer shows that the list has been sent, the third that it has arrived.
TEST_F(SessionProofTest, ThreeAnswersProveTheSendTimeOfTheFirst) {
  write(200ms, 210ms);
  write(1210ms, 1300ms);
  EXPECT_EQ(known(), 0ms);
  write(1299ms, 1301ms);  // may have overtaken the list
  EXPECT_EQ(known(), 0ms);
  write(1300ms, 1302ms);
  EXPECT_EQ(known(), 200ms);
}

TEST_F(SessionProofTest, TheIntervalCountsFromTheAnswerNotFromTheSending) {
  write(200ms, 1500ms);  // held up on its way to the follower
  write(1600ms, 1601ms);
  write(1602ms, 1603ms);
  EXPECT_EQ(known(), 0ms);
}

// A sync goes through the leader, or one that believes to be the leader.
TEST_F(SessionProofTest, SyncsProveNothingUntilAWriteIsAnswered) {
  read(300ms, 301ms);
  sync(1400ms, 1401ms);
  sync(1500ms, 1501ms);
  sync(2900ms, 2901ms);
  EXPECT_EQ(known(), 0ms);
  write(2910ms, 2911ms);
  EXPECT_EQ(known(), 1500ms);
}

TEST_F(SessionProofTest, ReadsDoNotReachTheLeader) {
  read(300ms, 301ms);
  read(1400ms, 1401ms);
  read(1500ms, 1501ms);
  write(1600ms, 1601ms);
  EXPECT_EQ(known(), 0ms);
  write(1602ms, 1603ms);
  EXPECT_EQ(known(), 300ms);
}

TEST_F(SessionProofTest, TheNewestThatIsOldEnoughCounts) {
  for (milliseconds time = 100ms; time <= 2000ms; time += 100ms) write(time, time + 1ms);
  EXPECT_EQ(known(), 800ms);  // answered at 801 ms; the second at 1900 ms, the third at 2000 ms
}

// A leader that has been deposed without knowing it takes clients back, too.
TEST_F(SessionProofTest, AReconnectProvesNothingUntilAWriteIsAnswered) {
  read(700ms, 701ms);
  proof_.resumed(timeout);
  EXPECT_EQ(known(), 0ms);
  sync(900ms, 901ms);
  EXPECT_EQ(known(), 0ms);
  write(950ms, 951ms);
  EXPECT_EQ(known(), 700ms);
}

TEST_F(SessionProofTest, WhatWasAnsweredBeforeTheReconnectIsNoPartOfAProofAfterIt) {
  write(100ms, 101ms);
  write(700ms, 701ms);
  proof_.resumed(timeout);
  write(1750ms, 1751ms);
  write(1752ms, 1753ms);
  EXPECT_EQ(known(), 700ms);
  write(2760ms, 2761ms);
  EXPECT_EQ(known(), 700ms);
  write(2762ms, 2763ms);
  EXPECT_EQ(known(), 1750ms);
}

TEST_F(SessionProofTest, AListBeforeTheReconnectIsNoPartOfAProofAfterIt) {
  write(100ms, 101ms);
  write(1110ms, 1111ms);  // listed, but not known to have arrived
  proof_.resumed(timeout);
  write(1200ms, 1201ms);
  EXPECT_EQ(known(), 1110ms);  // by the reconnect itself
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

TEST_F(SessionProofTest, ANewSessionOwesNothingToTheAnswersOfTheOneBefore) {
  read(700ms, 701ms);
  write(1800ms, 1801ms);
  proof_.opened(at(100ms), timeout);
  write(2000ms, 2001ms);
  proof_.resumed(timeout);
  EXPECT_EQ(known(), 100ms);
}

// A new leader counts by the time-out of the session's creation.
TEST_F(SessionProofTest, AResumedSessionCountsByTheShorterTimeout) {
  proof_.resumed(2 * timeout);
  EXPECT_EQ(proof_.valid_until(), at(0ms) + timeout);
  proof_.resumed(1600ms);
  EXPECT_EQ(proof_.valid_until(), at(0ms) + 1600ms);
}

TEST_F(SessionProofTest, ItIsSaidFromWhenOnAWriteIsWorthwhile) {
  EXPECT_EQ(proof_.worth_asking(), never);
  write(200ms, 210ms);
  EXPECT_EQ(proof_.worth_asking(), at(1210ms));
  write(1210ms, 1220ms);
  EXPECT_EQ(proof_.worth_asking(), at(1220ms));  // at once
  sync(1230ms, 1240ms);
  EXPECT_EQ(proof_.worth_asking(), at(200ms));  // a write alone is missing
  write(1250ms, 1260ms);
  EXPECT_EQ(known(), 200ms);
}

TEST_F(SessionProofTest, AfterAReconnectAWriteIsWorthwhileAtOnce) {
  read(700ms, 701ms);
  proof_.resumed(timeout);
  EXPECT_LE(proof_.worth_asking(), at(701ms));
  write(800ms, 801ms);
  EXPECT_EQ(proof_.worth_asking(), at(1801ms));
}

// The first answer of a connection is kept, however soon after the last one of the connection before it came.
TEST_F(SessionProofTest, TheFirstAnswerAfterAReconnectIsKept) {
  read(700ms, 701ms);
  proof_.resumed(timeout);
  write(710ms, 711ms);
  EXPECT_EQ(proof_.worth_asking(), at(1711ms));
}

TEST_F(SessionProofTest, AnswersAsOldAsATimeoutProveNothing) {
  read(100ms, 101ms);
  write(3300ms, 3301ms);  // the process was stopped in between
  write(3302ms, 3303ms);
  EXPECT_EQ(known(), 0ms);
  write(4310ms, 4311ms);
  write(4312ms, 4313ms);
  EXPECT_EQ(known(), 3300ms);
}

}  // namespace
}  // namespace forelock::lock
