// Operators' wishes in the nodes of waiting locks: who obeys them, on one real server.
#include "forelock/forelock.h"
#include "records/wish.h"
#include "support/shared_server.h"
#include "support/test.h"
#include "support/wait_until.h"

namespace forelock {
namespace {

constexpr auto patience = 20s;

class WishesTest : public test::SharedServerTest<> {
 protected:
  static Settings settings() {
    Settings settings;
    settings.set({{"zookeeper.servers", server_->connect_string()}, {"zookeeper.session.timeout", "4000"}});
    return settings;
  }

  // Waits until so many wait. \returns the line.
  std::vector<WaiterView> line(std::size_t waiting) {
    std::optional<MonitorView> view;
    EXPECT_TRUE(test::wait_until(
        [&] {
          view = inspector_.show(monitor_);
          return view && view->queue.size() == waiting;
        },
        patience));
    return view ? view->queue : std::vector<WaiterView>();
  }

  // As the command does it: into this waiter's node; the data of the one that is watched are set to what they are.
  void wish(BlockingWriteLock& holder, const WaiterView& waiter, const std::string& watched, const OwnerRecord& its,
            Priority priority) {
    const std::string record = records::with_wish(waiter.owner->to_json(), priority).value();
    std::vector<WriteOperation> operations{SetNode{"/" + monitor_ + "/" + waiter.node, record}};
    if (watched != waiter.node) operations.emplace_back(SetNode{"/" + monitor_ + "/" + watched, its.to_json()});
    holder.write_guarded(operations);
  }

  bool becomes_first(const std::string& info) {
    return test::wait_until(
        [&] {
          const auto view = inspector_.show(monitor_);
          return view && !view->queue.empty() && view->queue.front().owner &&
                 view->queue.front().owner->lock_info == info;
        },
        patience);
  }

  const std::string monitor_ = ::testing::UnitTest::GetInstance()->current_test_info()->name();
  Client holding_{settings()};
  Client others_{settings()};
  Inspector inspector_{holding_};
};

TEST_F(WishesTest, TheSecondOfAProcessIsMovedToo) {
  BlockingWriteLock holder(holding_, "save", monitor_);
  holder.lock();
  const auto ignored = [](const std::exception_ptr&) {};
  AsyncWriteLock first(others_, "first", monitor_, Priority::background);
  AsyncWriteLock second(others_, "second", monitor_, Priority::background);
  first.acquire(1min, ignored);
  line(1);
  second.acquire(1min, ignored);
  const auto waiting = line(2);
  ASSERT_EQ(waiting.size(), 2u);
  wish(holder, waiting[1], waiting[0].node, *waiting[0].owner, Priority::foreground);
  EXPECT_TRUE(becomes_first("second"));
  EXPECT_EQ(second.priority(), Priority::foreground);
  EXPECT_TRUE(second.owner().by_wish);
  EXPECT_EQ(first.priority(), Priority::background);
  const auto moved = line(2);
  ASSERT_TRUE(moved.front().owner);
  EXPECT_TRUE(moved.front().owner->by_wish);
  EXPECT_EQ(moved.front().owner->wish, std::nullopt);
  holder.unlock();
  EXPECT_TRUE(test::wait_until([&] { return second.healthy(); }, patience));
  EXPECT_EQ(first.state(), LockState::waiting);
}

TEST_F(WishesTest, AndOneThatWaitsBehindAHolderOfItsProcess) {
  BlockingWriteLock holder(others_, "save", monitor_);
  holder.lock();
  AsyncWriteLock waiter(others_, "bulk", monitor_, Priority::foreground);
  waiter.acquire(1min, [](const std::exception_ptr&) {});
  const auto waiting = line(1);
  ASSERT_EQ(waiting.size(), 1u);
  const HolderView seen = inspector_.show(monitor_)->holder.value();
  wish(holder, waiting[0], seen.node.value(), seen.owner.value(), Priority::background);
  EXPECT_TRUE(test::wait_until([&] { return waiter.priority() == Priority::background; }, patience));
  EXPECT_TRUE(test::wait_until([&] { return line(1).front().priority == Priority::background; }, patience));
}

TEST_F(WishesTest, ASetChangesItsClassAsAWhole) {
  BlockingWriteLock holder(holding_, "save", monitor_);
  holder.lock();
  BlockingWriteLock later(holding_, "later", monitor_ + "+");
  later.lock();
  LockSet set(others_, "bulk", {monitor_, monitor_ + "+"}, Priority::background);
  set.acquire(1min, [](const std::exception_ptr&) {});
  const auto waiting = line(1);
  ASSERT_EQ(waiting.size(), 1u);
  wish(holder, waiting[0], waiting[0].node, *waiting[0].owner, Priority::foreground);
  EXPECT_TRUE(test::wait_until([&] { return set.priority() == Priority::foreground; }, patience));
  EXPECT_TRUE(set.owner().by_wish);
  holder.unlock();
  EXPECT_TRUE(test::wait_until(
      [&] {
        const auto view = inspector_.show(monitor_ + "+");
        return view && !view->queue.empty() && view->queue.front().priority == Priority::foreground;
      },
      patience))
      << "at the next member, too";
  later.unlock();
  EXPECT_TRUE(test::wait_until([&] { return set.healthy(); }, patience));
}

}  // namespace
}  // namespace forelock
