// A lock object against the answers of a session that the test gives by hand.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>

#include "client/lock_slot.h"
#include "tree_session.h"
#include "unlock_points.h"

namespace forelock::client {
namespace {

using namespace std::chrono_literals;

class SlotTest : public ::testing::Test {
 protected:
  SlotTest() { session_.connect(1h); }

  std::shared_ptr<LockSlot> make_slot(const std::string& monitor = "P") {
    LockOptions options;
    options.capture_stack = false;
    return std::make_shared<LockSlot>(core_, "test", monitor, Priority::foreground, options);
  }

  // Its threads do not run: nothing happens but what a test does.
  std::shared_ptr<ClientCore> core_ = std::make_shared<ClientCore>(Settings(), LogSink());
  TreeSession session_{*core_};
};

TEST_F(SlotTest, ALockThatIsGrantedWhileItsObjectIsDestroyedIsReleased) {
  if (!test::unlock_points_work()) GTEST_SKIP() << "the thread sanitizer watches the mutexes";
  const auto first = make_slot();
  first->acquire(lock::never, false);
  session_.answer_all();
  ASSERT_TRUE(first->holds());
  first->retire();
  session_.answer_all();

  int point = 1;
  for (bool reached = true; reached; ++point) {
    const auto slot = make_slot();
    slot->acquire(lock::never, false, [](std::exception_ptr) {});
    ASSERT_EQ(session_.waiting(), 1u) << "the claim, whose answer is the grant";
    reached = test::run_at_unlock_point(
        point, [&] { slot->retire(); }, [&] { session_.answer_one(); });
    session_.answer_all();
    EXPECT_EQ(core_->statistics().contenders, 0u) << "held by no object; granted at point " << point;
  }
  EXPECT_GT(point, 2);
}

}  // namespace
}  // namespace forelock::client
