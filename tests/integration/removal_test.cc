// Nodes that an administrator deletes by hand.
#include "integration/fixture.h"
#include "support/shared_server.h"
#include "support/test.h"
#include "support/wait_until.h"

namespace forelock::test {
namespace {

class RemovalTest : public SharedServerTest<::testing::TestWithParam<std::string>> {
 protected:
  static Settings settings() { return settings_for(server_->connect_string(), {{"zookeeper.lock.watch", GetParam()}}); }

  void SetUp() override {
    admin_lock_.lock_with_timeout();
    holder_.on_lost([this](LossReason reason) { lost_.set_value(reason); });
    holder_.lock_with_timeout();
    granted_ = std::async(std::launch::async, [this] { waiter_.lock_with_timeout(); });
    EXPECT_TRUE(wait_until([this] {
      const auto view = Inspector(admin_).show(monitor_);
      if (!view || view->queue.size() != 1 || !view->holder || !view->holder->node) return false;
      holder_node_ = *view->holder->node;
      waiter_node_ = view->queue[0].node;
      return true;
    }));
  }
  void TearDown() override {
    ASSERT_EQ(granted_.wait_for(30s), std::future_status::ready) << "the waiter was not granted";
    EXPECT_NO_THROW(granted_.get());
    EXPECT_TRUE(waiter_.healthy());
    EXPECT_GT(waiter_.fencing_token(), holder_.fencing_token());
    waiter_.unlock();
    EXPECT_TRUE(wait_until_unused(*server_, monitor_));
    holder_.lock_with_timeout();  // the objects can be used again
    holder_.unlock();
  }
  void remove(const std::string& node) { admin_lock_.write_guarded({DeleteNode{"/" + monitor_ + "/" + node}}); }

  const std::string monitor_ = std::string("removal-") + GetParam();
  Client admin_{settings()};
  Client first_{settings()};
  Client second_{settings()};
  BlockingWriteLock admin_lock_{admin_, "administrator", "admin"};
  BlockingWriteLock holder_{first_, "hold", monitor_, Priority::background};
  BlockingWriteLock waiter_{second_, "wait", monitor_};
  std::promise<LossReason> lost_;
  std::future<void> granted_;
  std::string holder_node_;
  std::string waiter_node_;
};

TEST_P(RemovalTest, WaitersNode) {
  remove(waiter_node_);
  if (GetParam() == "parent") {  // the other kind of watch does not tell, the claim does
    EXPECT_TRUE(wait_until([this] {
      const auto view = Inspector(admin_).show(monitor_);
      return view->queue.size() == 1 && view->queue[0].node != waiter_node_;
    })) << "the waiter is not back in the queue";
  }
  EXPECT_TRUE(holder_.healthy());
  holder_.unlock();
}

// Without its own node a holder could not release any more: it hears of it, and only then the next one is granted.
TEST_P(RemovalTest, HoldersNode) {
  remove(holder_node_);
  auto lost = lost_.get_future();
  ASSERT_EQ(lost.wait_for(10s), std::future_status::ready);
  EXPECT_EQ(lost.get(), LossReason::removed);
  EXPECT_EQ(granted_.wait_for(10s), std::future_status::ready);
  EXPECT_FALSE(holder_.healthy());
  EXPECT_THROW(holder_.unlock_or_throw(), NoNodeException);
}

TEST_P(RemovalTest, PrivateLock) {
  remove("privateLock");
  auto lost = lost_.get_future();
  ASSERT_EQ(lost.wait_for(10s), std::future_status::ready);
  EXPECT_EQ(lost.get(), LossReason::removed);
  EXPECT_FALSE(holder_.healthy());
  EXPECT_THROW(holder_.unlock_or_throw(), NoNodeException);
}

TEST_P(RemovalTest, Both) {
  EXPECT_EQ(Inspector(admin_).force_release(monitor_, holder_node_), ForceReleaseResult::released);
  auto lost = lost_.get_future();
  ASSERT_EQ(lost.wait_for(10s), std::future_status::ready);
  EXPECT_EQ(lost.get(), LossReason::removed);
  EXPECT_THROW(holder_.unlock_or_throw(), NoNodeException);
  EXPECT_EQ(Inspector(admin_).force_release(monitor_, holder_node_), ForceReleaseResult::holder_changed);
}

INSTANTIATE_TEST_SUITE_P(Watch, RemovalTest, ::testing::Values("parent", "predecessor"),
                         [](const auto& mode) { return mode.param; });

}  // namespace
}  // namespace forelock::test
