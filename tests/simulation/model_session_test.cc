// Sessions of the model under the faults that the contract tests cannot cause.
#include "model/model_session.h"
#include "model/ensemble.h"
#include "model_listener.h"
#include "support/test.h"

namespace forelock::model {
namespace {

using namespace coordination;

class ModelSessionTest : public ::testing::TestWithParam<int> {
 protected:
  ModelSessionTest() : random_(static_cast<std::uint64_t>(GetParam())), ensemble_(timeline_, random_, options()) {}

  static EnsembleOptions options() {
    EnsembleOptions options;
    options.servers = 3;
    options.container_chance = 1;
    return options;
  }
  ModelSession& join(Listener& listener, int server = -1) {
    ClientOptions client;
    client.timeout = milliseconds(400);
    client.pings = true;
    sessions_.push_back(std::make_unique<ModelSession>(ensemble_, listener, client));
    ModelSession& session = *sessions_.back();
    session.prefer_server(server);
    run(milliseconds(50));
    return session;
  }
  void run(Span span) { timeline_.run_until(timeline_.now() + span); }
  static long place(const Listener& listener, const std::string& entry) {
    return std::find(listener.log.begin(), listener.log.end(), entry) - listener.log.begin();
  }

  Timeline timeline_;
  Random random_;
  Ensemble ensemble_;
  std::vector<std::unique_ptr<ModelSession>> sessions_;
};

TEST_P(ModelSessionTest, ALateRequestNeverCountsAfterTheSessionIsAttachedAgain) {
  Listener listener;
  ModelSession& session = join(listener);
  session.stall(true, false, timeline_.now() + milliseconds(200));
  session.submit(1, Create{"/late", ""});
  session.cut(1);
  run(milliseconds(100));
  ASSERT_EQ(listener.log,
            (std::vector<std::string>{"connected", "reply 1 connection_loss", "disconnected", "connected"}));
  run(milliseconds(200));
  EXPECT_EQ(ensemble_.truth().find("/late"), nullptr);
}

TEST_P(ModelSessionTest, ALateRequestMayCountBefore) {
  Listener listener;
  ModelSession& session = join(listener);
  session.submit(1, Create{"/late", ""});
  session.block_until(timeline_.now() + milliseconds(100));
  session.cut(1);
  run(milliseconds(200));
  EXPECT_EQ(listener.replies[1].code, ReplyCode::connection_loss);
  EXPECT_NE(ensemble_.truth().find("/late"), nullptr);
}

TEST_P(ModelSessionTest, AReplyIsLostAfterTheWrite) {
  Listener listener;
  ModelSession& session = join(listener);
  session.set_fate({ReplyCode::server_error, true, false});
  session.submit(1, Create{"/applied", ""});
  session.set_fate({ReplyCode::no_auth, false, false});
  session.submit(2, Create{"/refused", ""});
  run(milliseconds(100));
  EXPECT_EQ(listener.replies[1].code, ReplyCode::server_error);
  EXPECT_EQ(listener.replies[2].code, ReplyCode::no_auth);
  EXPECT_NE(ensemble_.truth().find("/applied"), nullptr);
  EXPECT_EQ(ensemble_.truth().find("/refused"), nullptr);
}

TEST_P(ModelSessionTest, AFollowerLagsUntilItIsSynchronised) {
  Listener slow_listener;
  Listener fast_listener;
  ModelSession& slow = join(slow_listener, 1);
  ModelSession& fast = join(fast_listener, 0);
  ensemble_.server(1).freeze_until(timeline_.now() + milliseconds(80));
  fast.submit(1, Create{"/new", ""});
  run(milliseconds(40));
  ASSERT_TRUE(fast_listener.replies[1].ok());
  slow.submit(1, Exists{"/new"});
  slow.submit(2, Sync{"/"});
  slow.submit(3, Exists{"/new"});
  run(milliseconds(100));
  EXPECT_EQ(slow_listener.replies[1].code, ReplyCode::no_node);
  EXPECT_EQ(slow_listener.replies[3].code, ReplyCode::ok);
}

TEST_P(ModelSessionTest, AWatchThatWasMissedFiresAfterTheReconnect) {
  Listener listener;
  ModelSession& session = join(listener);
  session.submit(1, List{"/", true});
  run(milliseconds(50));
  session.block_until(timeline_.now() + milliseconds(50));
  session.cut(0);
  ensemble_.administer(Create{"/new", ""});
  run(milliseconds(100));
  ASSERT_EQ(listener.log.back(), "watch /");
  session.submit(2, List{"/"});
  run(milliseconds(50));
  EXPECT_LT(place(listener, "watch /"), place(listener, "reply 2 ok"));
}

TEST_P(ModelSessionTest, ASilentClientExpiresAndLearnsItLater) {
  Listener listener;
  ModelSession& session = join(listener);
  session.submit(1, Create{"/mine", "", CreateMode::ephemeral});
  run(milliseconds(50));
  const SessionId id = session.id();
  session.stall(true, true, timeline_.now() + milliseconds(2000));
  session.block_until(timeline_.now() + milliseconds(1000));
  run(milliseconds(300));
  EXPECT_TRUE(ensemble_.alive(id));
  run(milliseconds(300));
  EXPECT_FALSE(ensemble_.alive(id));
  EXPECT_EQ(ensemble_.truth().find("/mine"), nullptr);
  run(milliseconds(2000));
  EXPECT_EQ(listener.log.back(), "expired");
}

TEST_P(ModelSessionTest, APausedProcessHandlesEverythingAfterwards) {
  Listener listener;
  ModelSession& session = join(listener);
  for (RequestTag tag = 1; tag <= 5; ++tag) session.submit(tag, Exists{"/"});
  session.pause(timeline_.now() + milliseconds(100));
  run(milliseconds(99));
  EXPECT_TRUE(listener.replies.empty());
  run(milliseconds(50));
  EXPECT_EQ(listener.replies.size(), 5u);
}

TEST_P(ModelSessionTest, AnEmptyContainerGoes) {
  Listener listener;
  ModelSession& session = join(listener);
  session.submit(1, Create{"/P", "", CreateMode::container});
  run(milliseconds(200));
  EXPECT_NE(ensemble_.truth().find("/P"), nullptr) << "it never had a child";
  session.submit(2, Create{"/P/child", ""});
  session.submit(3, Delete{"/P/child"});
  run(milliseconds(200));
  EXPECT_EQ(ensemble_.truth().find("/P"), nullptr);
}

INSTANTIATE_TEST_SUITE_P(Seeds, ModelSessionTest, ::testing::Range(1, 21));

}  // namespace
}  // namespace forelock::model
