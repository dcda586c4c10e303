// Ensembles that lose their leader.
#include "model/ensemble.h"
#include "model/model_session.h"
#include "model_listener.h"
#include "support/test.h"

namespace forelock::model {
namespace {

using namespace coordination;

constexpr milliseconds session_timeout(400);

class LeaderTest : public ::testing::TestWithParam<int> {
 protected:
  LeaderTest() : random_(static_cast<std::uint64_t>(GetParam())), ensemble_(timeline_, random_, {}) {}

  ModelSession& join(Listener& listener, int home) {
    ClientOptions client;
    client.timeout = session_timeout;
    client.pings = true;
    sessions_.push_back(std::make_unique<ModelSession>(ensemble_, listener, client));
    sessions_.back()->prefer_server(home);
    run(milliseconds(50));
    return *sessions_.back();
  }
  // With its followers gone for a second, and none the wiser for 800 ms.
  void depose() {
    Division division;
    division.election = milliseconds(20);
    division.leader_notices = milliseconds(800);
    division.heals = milliseconds(1000);
    ASSERT_TRUE(ensemble_.divide(division));
    run(milliseconds(30));
    ASSERT_NE(ensemble_.leader(), 0);
  }
  void run(Span span) { timeline_.run_until(timeline_.now() + span); }
  // Of what a session has heard.
  static long count(const Listener& listener, const std::string& entry) {
    return std::count(listener.log.begin(), listener.log.end(), entry);
  }

  Timeline timeline_;
  Random random_;
  Ensemble ensemble_;
  std::vector<std::unique_ptr<ModelSession>> sessions_;
};

TEST_P(LeaderTest, ADeposedOneAnswersReadsSyncsAndPingsAndNoWrite) {
  Listener listener;
  ModelSession& session = join(listener, 0);
  session.submit(1, Create{"/mine", "", CreateMode::ephemeral});
  run(milliseconds(50));
  depose();
  session.submit(2, Sync{"/"});
  session.submit(3, Exists{"/mine"});
  run(milliseconds(650));
  EXPECT_EQ(listener.replies[2].code, ReplyCode::ok);
  EXPECT_EQ(listener.replies[3].code, ReplyCode::ok) << "though the session has been ended by the others";
  EXPECT_FALSE(ensemble_.alive(session.id()));
  EXPECT_EQ(ensemble_.truth().find("/mine"), nullptr);
  EXPECT_TRUE(session.connected());
  session.submit(4, SetData{"/mine", "x"});
  session.submit(5, Sync{"/"});
  run(milliseconds(50));
  EXPECT_FALSE(listener.replies.contains(4));
  EXPECT_FALSE(listener.replies.contains(5)) << "a write is outstanding";
  run(milliseconds(500));
  EXPECT_EQ(listener.replies[4].code, ReplyCode::connection_loss);
  EXPECT_EQ(listener.log.back(), "expired");
}

TEST_P(LeaderTest, ADeposedOneTakesASessionBackThatTheOthersHaveEnded) {
  Listener listener;
  ModelSession& session = join(listener, 0);
  depose();
  run(milliseconds(500));
  ASSERT_FALSE(ensemble_.alive(session.id()));
  session.prefer_server(0);
  session.cut(0);
  run(milliseconds(100));
  EXPECT_EQ(listener.log, (std::vector<std::string>{"connected", "disconnected", "connected"}));
}

TEST_P(LeaderTest, ADeposedOneIsRefusedByWhoHasSeenMore) {
  Listener listener;
  ModelSession& session = join(listener, 1);
  session.block_until(timeline_.now() + milliseconds(40));
  depose();
  session.prefer_server(ensemble_.leader());
  run(milliseconds(100));
  ASSERT_TRUE(session.connected());
  session.submit(1, Create{"/new", ""});
  run(milliseconds(50));
  ASSERT_TRUE(listener.replies[1].ok());
  session.prefer_server(0);
  session.cut(0);
  run(milliseconds(300));
  session.submit(2, Exists{"/new"});
  run(milliseconds(50));
  EXPECT_EQ(listener.replies[2].code, ReplyCode::ok);
}

TEST_P(LeaderTest, ANewOneGivesEverySessionAFullTimeOut) {
  Listener listener;
  ModelSession& session = join(listener, 0);
  session.block_until(timeline_.now() + milliseconds(5000));
  session.cut(0);
  run(milliseconds(300));
  depose();
  run(milliseconds(350));
  EXPECT_TRUE(ensemble_.alive(session.id()));
  run(milliseconds(100));
  EXPECT_FALSE(ensemble_.alive(session.id()));
}

TEST_P(LeaderTest, ASessionMovesToTheNewOne) {
  Listener listener;
  ModelSession& session = join(listener, 0);
  session.submit(1, Create{"/mine", "", CreateMode::ephemeral});
  run(milliseconds(50));
  depose();
  session.prefer_server(ensemble_.leader());
  session.cut(0);
  run(milliseconds(600));
  EXPECT_TRUE(session.connected());
  EXPECT_TRUE(ensemble_.alive(session.id()));
  EXPECT_NE(ensemble_.truth().find("/mine"), nullptr);
}

TEST_P(LeaderTest, TransactionsOfANewOneAreOfAHigherEpoch) {
  Listener listener;
  ModelSession& session = join(listener, 1);
  session.submit(1, Create{"/before", ""});
  run(milliseconds(50));
  session.block_until(timeline_.now() + milliseconds(40));
  depose();
  session.prefer_server(ensemble_.leader());
  run(milliseconds(100));
  session.submit(2, Create{"/after", ""});
  run(milliseconds(50));
  ASSERT_NE(ensemble_.truth().find("/after"), nullptr);
  EXPECT_EQ(ensemble_.truth().find("/after")->czxid >> 32, (ensemble_.truth().find("/before")->czxid >> 32) + 1);
}

TEST_P(LeaderTest, TheOneBeforeBecomesAFollowerWithTheSameTree) {
  Listener listener;
  ModelSession& session = join(listener, 0);
  depose();
  session.submit(1, Create{"/lost", ""});
  ensemble_.administer(Create{"/kept", ""});
  run(milliseconds(1100));
  EXPECT_EQ(ensemble_.server(0).role(), Server::Role::following);
  EXPECT_EQ(ensemble_.server(0).tree().find("/lost"), nullptr);
  EXPECT_NE(ensemble_.server(0).tree().find("/kept"), nullptr);
}

TEST_P(LeaderTest, AnElectionCutsEverybodyAndEndsNobodysSession) {
  Listener listeners[3];
  for (int i = 0; i < 3; ++i) join(listeners[i], i);
  Division election;
  election.election = milliseconds(100);
  ASSERT_TRUE(ensemble_.divide(election));
  run(milliseconds(90));
  for (const auto& session : sessions_) EXPECT_FALSE(session->connected());
  run(milliseconds(300));
  for (const auto& session : sessions_) EXPECT_TRUE(session->connected());
  for (const Listener& listener : listeners) EXPECT_EQ(count(listener, "expired"), 0);
}

TEST_P(LeaderTest, AFollowerThatIsCutOffForTooLongServesNobody) {
  Listener listener;
  ModelSession& session = join(listener, 1);
  ensemble_.isolate(1, milliseconds(2000));
  run(milliseconds(900));
  ASSERT_TRUE(session.connected());
  session.prefer_server(1);
  run(milliseconds(400));
  EXPECT_EQ(ensemble_.server(1).role(), Server::Role::looking);
  EXPECT_GT(count(listener, "disconnected") + count(listener, "expired"), 0);
  run(milliseconds(800));
  EXPECT_EQ(ensemble_.server(1).role(), Server::Role::following);
}

// What came to the leader before its followers left it may be committed by the next one, in its order; nothing else.
TEST_P(LeaderTest, TheFirstOfTheWritesUnderWayMayCount) {
  Listener listener;
  ModelSession& session = join(listener, 0);
  Division division;
  division.followers_notice = milliseconds(10);
  division.election = milliseconds(20);
  division.leader_notices = milliseconds(100);
  division.heals = milliseconds(200);
  ASSERT_TRUE(ensemble_.divide(division));
  session.submit(1, Create{"/1", ""});
  session.submit(2, Create{"/2", ""});
  run(milliseconds(50));
  session.submit(3, Create{"/3", ""});
  run(milliseconds(500));
  for (RequestTag tag = 1; tag <= 3; ++tag) EXPECT_EQ(listener.replies[tag].code, ReplyCode::connection_loss) << tag;
  const bool first = ensemble_.truth().find("/1") != nullptr;
  const bool second = ensemble_.truth().find("/2") != nullptr;
  EXPECT_TRUE(first || !second);
  EXPECT_EQ(ensemble_.truth().find("/3"), nullptr);
}

INSTANTIATE_TEST_SUITE_P(Seeds, LeaderTest, ::testing::Range(1, 21));

}  // namespace
}  // namespace forelock::model
