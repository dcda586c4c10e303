// Locks inside of locks, over several levels and several sessions, on one real server.
#include "forelock/forelock.h"
#include "support/shared_server.h"
#include "support/test.h"
#include "support/wait_until.h"

namespace forelock {
namespace {

constexpr auto enough_for_a_move = 20s;

class InsideTest : public test::SharedServerTest<> {
 protected:
  static Settings settings() {
    Settings settings;
    settings.set({{"zookeeper.servers", server_->connect_string()}});
    return settings;
  }

  static void wait_in_line(AsyncWriteLock& lock) {
    lock.acquire(1min, [](const std::exception_ptr&) {});
  }

  // What those that wait for the monitor wait for, in the order of the queue, as soon as it is this.
  bool queue_becomes(const std::string& monitor, const std::vector<std::string>& expected) {
    std::vector<std::string> waiting;
    const bool became = test::wait_until(
        [&] {
          const auto view = inspector_.show(monitor);
          waiting.clear();
          if (!view) return false;
          for (const WaiterView& waiter : view->queue) {
            waiting.push_back(waiter.owner ? waiter.owner->lock_info : std::string());
          }
          return waiting == expected;
        },
        enough_for_a_move);
    if (!became) ADD_FAILURE() << monitor << ": " << ::testing::PrintToString(waiting);
    return became;
  }

  const std::string name_ = ::testing::UnitTest::GetInstance()->current_test_info()->name();
  const std::string outermost_ = name_ + "-outermost";
  const std::string middle_ = name_ + "-middle";
  const std::string inner_ = name_ + "-inner";
  Client first_{settings()};
  Client second_{settings()};
  Client third_{settings()};
  Inspector inspector_{third_};
};

TEST_F(InsideTest, AnInnerLockCountsForTheOutermostOne) {
  BlockingWriteLock holder(third_, "holder", inner_);
  holder.lock();
  AsyncWriteLock bulk(third_, "bulk", inner_, Priority::background);
  wait_in_line(bulk);
  ASSERT_TRUE(queue_becomes(inner_, {"bulk"}));

  BlockingWriteLock outermost(first_, "outermost", outermost_, Priority::background);
  outermost.lock();
  LockSet middle(first_, "middle", {middle_, middle_ + "2"}, Priority::background);
  middle.inside(outermost);
  middle.lock();
  AsyncWriteLock inner(first_, "inner", inner_, Priority::background);
  inner.inside(middle);
  wait_in_line(inner);
  ASSERT_TRUE(queue_becomes(inner_, {"bulk", "inner"}));

  AsyncWriteLock save(second_, "save", outermost_);
  wait_in_line(save);
  EXPECT_TRUE(queue_becomes(inner_, {"inner", "bulk"}));
}

TEST_F(InsideTest, AMoveInOneProcessMovesWhatTheNextOneWaitsFor) {
  BlockingWriteLock holder(third_, "holder", inner_);
  holder.lock();
  AsyncWriteLock bulk(third_, "bulk", inner_, Priority::background);
  wait_in_line(bulk);
  ASSERT_TRUE(queue_becomes(inner_, {"bulk"}));

  BlockingWriteLock seconds(second_, "second's outer", middle_, Priority::background);
  seconds.lock();
  AsyncWriteLock second_waits(second_, "second waits", inner_, Priority::background);
  second_waits.inside(seconds);
  wait_in_line(second_waits);
  ASSERT_TRUE(queue_becomes(inner_, {"bulk", "second waits"}));

  BlockingWriteLock firsts(first_, "first's outer", outermost_, Priority::background);
  firsts.lock();
  AsyncWriteLock first_waits(first_, "first waits", middle_, Priority::background);
  first_waits.inside(firsts);
  wait_in_line(first_waits);
  ASSERT_TRUE(queue_becomes(middle_, {"first waits"}));

  AsyncWriteLock save(third_, "save", outermost_);
  wait_in_line(save);
  EXPECT_TRUE(queue_becomes(inner_, {"second waits", "bulk"}));
}

// The lock stays with its process, and the next section there has the same grant.
TEST_F(InsideTest, AnOuterLockThatHasBeenUnlockedCountsNoMoreThoughItIsTakenAgain) {
  Settings lingering = settings();
  lingering.set({{"zookeeper.lock.linger", "60000"}});
  Client client(lingering);
  BlockingWriteLock holder(third_, "holder", inner_);
  holder.lock();
  AsyncWriteLock bulk(third_, "bulk", inner_, Priority::background);
  wait_in_line(bulk);
  ASSERT_TRUE(queue_becomes(inner_, {"bulk"}));

  BlockingWriteLock before(client, "before", outermost_, Priority::background);
  before.lock();
  const auto token = before.fencing_token();
  AsyncWriteLock of_before(client, "of before", inner_, Priority::background);
  of_before.inside(before);
  wait_in_line(of_before);
  ASSERT_TRUE(queue_becomes(inner_, {"bulk", "of before"}));
  before.unlock();
  BlockingWriteLock now(client, "now", outermost_, Priority::background);
  now.lock();
  ASSERT_EQ(now.fencing_token(), token);
  AsyncWriteLock of_now(client, "of now", inner_, Priority::background);
  of_now.inside(now);
  wait_in_line(of_now);
  ASSERT_TRUE(queue_becomes(inner_, {"bulk", "of before", "of now"}));

  AsyncWriteLock save(second_, "save", outermost_);
  wait_in_line(save);
  EXPECT_TRUE(queue_becomes(inner_, {"of now", "bulk", "of before"}));
  AsyncWriteLock later(client, "later", inner_, Priority::background);
  later.inside(now);
  wait_in_line(later);
  EXPECT_TRUE(queue_becomes(inner_, {"of now", "later", "bulk", "of before"})) << "nor has it moved meanwhile";
}

}  // namespace
}  // namespace forelock
