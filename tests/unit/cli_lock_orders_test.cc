// Orders in which locks are nested: cli/serve/lock_orders.h.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "cli/serve/lock_orders.h"

namespace forelock::cli {
namespace {

using namespace std::chrono_literals;

const WallTime start_of_looks{std::chrono::hours(24 * 365 * 50)};

// A namespace: each lock is granted after the one before, and asked for a moment before its grant.
class Locks {
 public:
  Locks& held(const std::string& monitor, const std::string& thread, const std::string& set = {}) {
    MonitorView& view = of(monitor);
    view.holder.emplace();
    view.holder->owner = record(thread, set);
    view.holder->owner->acquired_at = view.holder->owner->enqueued_at + 1ms;
    view.holder->session = 0x100 + thread[0];
    view.holder->token = ++token_;
    return *this;
  }
  Locks& waits(const std::string& monitor, const std::string& thread, const std::string& set = {}) {
    WaiterView waiter;
    waiter.owner = record(thread, set);
    waiter.session = 0x100 + thread[0];
    of(monitor).queue.push_back(waiter);
    return *this;
  }
  MonitorView& of(const std::string& monitor) {
    for (MonitorView& view : views) {
      if (view.monitor == monitor) return view;
    }
    MonitorView& view = views.emplace_back();
    view.monitor = monitor;
    view.path = '/' + monitor;
    return view;
  }

  std::vector<MonitorView> views;

 private:
  OwnerRecord record(const std::string& thread, const std::string& set) {
    OwnerRecord record;
    record.instance = "host/1/" + thread;
    record.lock_info = "work of " + thread;
    record.enqueued_at = set.empty() || set != set_ ? time_ += 10ms : time_;
    record.set = set_ = set;
    record.stack = {thread + "::take"};
    return record;
  }
  WallTime time_ = start_of_looks;
  std::int64_t token_ = 0;
  std::string set_;
};

// A look, all of whose holders are still there afterwards.
void look(LockOrders& orders, const Locks& locks, WallTime now = start_of_looks) {
  for (const auto& doubt : orders.take(locks.views, now)) orders.confirm(doubt);
}

std::string drawn(const LockOrders& orders) {
  std::string text;
  for (const OrderWarning& warning : orders.warnings()) {
    if (!text.empty()) text += ' ';
    for (const LockOrder& order : warning) text += order.outer + '>';
    text += warning.front().outer;
  }
  return text;
}

TEST(LockOrders, BothOrdersAreAWarningThoughNobodyWaits) {
  LockOrders orders;
  look(orders, Locks().held("P1", "a").held("P2", "a"), start_of_looks);
  EXPECT_EQ(drawn(orders), "");
  look(orders, Locks().held("P2", "b").held("P1", "b"), start_of_looks + 1min);
  ASSERT_EQ(drawn(orders), "P1>P2>P1");
  const OrderWarning warning = orders.warnings().front();
  EXPECT_EQ(warning[0].who, "host/1/a");
  EXPECT_EQ(warning[0].info, "work of a");
  EXPECT_EQ(warning[0].outer_stack, std::vector<std::string>{"a::take"});
  EXPECT_EQ(warning[1].inner_stack, std::vector<std::string>{"b::take"});
  EXPECT_EQ(warning[0].last_seen, start_of_looks);
  EXPECT_EQ(warning[1].first_seen, start_of_looks + 1min);
}

TEST(LockOrders, OneOrderIsNone) {
  LockOrders orders;
  for (const char* thread : {"a", "b"}) look(orders, Locks().held("P1", thread).held("P2", thread));
  look(orders, Locks().held("P1", "a").waits("P2", "a"));
  EXPECT_EQ(drawn(orders), "");
  EXPECT_EQ(orders.size(), 1U);
}

TEST(LockOrders, AWaitInsideALockCounts) {
  LockOrders orders;
  look(orders, Locks().held("P1", "a").waits("P2", "a"));
  look(orders, Locks().held("P2", "b").waits("P1", "b"));
  EXPECT_EQ(drawn(orders), "P1>P2>P1");
}

TEST(LockOrders, ALongerRingIsFound) {
  LockOrders orders;
  look(orders, Locks().held("P1", "a").held("P2", "a"));
  look(orders, Locks().held("P2", "b").held("P3", "b"));
  look(orders, Locks().held("P3", "c").held("P1", "c"));
  EXPECT_EQ(drawn(orders), "P1>P2>P3>P1");
}

TEST(LockOrders, OneAfterTheOtherIsNoNesting) {
  LockOrders orders;
  look(orders, Locks().held("P1", "a").held("P2", "b"));
  // Its reads are no transaction: P1 was free before P2 was taken.
  const std::vector<LockOrders::Doubt> doubts =
      orders.take(Locks().held("P1", "a").held("P2", "a").views, start_of_looks);
  EXPECT_EQ(doubts, (std::vector<LockOrders::Doubt>{{"P1", 1}}));
  EXPECT_EQ(orders.size(), 0U);
  orders.confirm({"P1", 2});  // a later holder
  EXPECT_EQ(orders.size(), 0U);
  orders.confirm(doubts.front());
  EXPECT_EQ(orders.size(), 1U);
}

TEST(LockOrders, WhatIsNotConfirmedIsForgotten) {
  LockOrders orders;
  const auto doubts = orders.take(Locks().held("P1", "a").held("P2", "a").views, start_of_looks);
  orders.take({}, start_of_looks);
  orders.confirm(doubts.front());
  EXPECT_EQ(orders.size(), 0U);
}

TEST(LockOrders, TheSessionAloneIsNoThread) {
  LockOrders orders;
  Locks locks;
  locks.held("P1", "a").held("P2", "a");
  for (MonitorView& view : locks.views) view.holder->owner.reset();
  look(orders, locks);
  look(orders, Locks().held("P1", "a").held("P2", "ab"));  // two threads of one session
  EXPECT_EQ(orders.size(), 0U);
}

TEST(LockOrders, WhoWaitsForTwoAtOnceIsNoSingleThread) {
  LockOrders orders;
  look(orders, Locks().held("P1", "a").waits("P2", "a").waits("P3", "a"));
  Locks later;
  later.waits("P2", "a").held("P1", "a");  // was got while it waits
  look(orders, later);
  EXPECT_EQ(orders.size(), 0U);
}

TEST(LockOrders, ALockThatLingersIsHeldByNoSection) {
  LockOrders orders;
  Locks locks;
  locks.held("P1", "a").held("P2", "a");
  locks.of("P1").holder->owner->linger = 1s;
  look(orders, locks);
  EXPECT_EQ(orders.size(), 0U);
}

TEST(LockOrders, SetsAgreeAmongThemselvesAndNotWithNestedLocks) {
  LockOrders orders;
  look(orders, Locks().held("P2", "a", "s1").held("P1", "a", "s1"));
  look(orders, Locks().held("P1", "b", "s2").waits("P2", "b", "s2"));
  EXPECT_EQ(drawn(orders), "");
  EXPECT_EQ(orders.size(), 1U) << "P2 inside P1";
  look(orders, Locks().held("P2", "c").held("P1", "c"));
  EXPECT_EQ(drawn(orders), "P1>P2>P1");
}

TEST(LockOrders, ASetInsideALock) {
  LockOrders orders;
  look(orders, Locks().held("P3", "a").held("P1", "a", "s1").held("P2", "a", "s1"));
  look(orders, Locks().held("P1", "b", "s2").held("P2", "b", "s2").waits("P3", "b"));
  EXPECT_EQ(drawn(orders), "P1>P3>P1 P2>P3>P2");
}

TEST(LockOrders, ALockAroundBothExcludesThem) {
  LockOrders orders;
  look(orders, Locks().held("G", "a").held("P1", "a").held("P2", "a"));
  look(orders, Locks().held("G", "b").held("P2", "b").held("P1", "b"));
  EXPECT_EQ(drawn(orders), "");
  look(orders, Locks().held("P2", "b").held("P1", "b"));  // once without it
  EXPECT_EQ(drawn(orders), "P1>P2>P1");
}

TEST(LockOrders, SeenAgainItIsTheSameWarning) {
  LockOrders orders;
  for (int i = 0; i < 3; ++i) {
    look(orders, Locks().held("P1", "a").held("P2", "a"), start_of_looks + i * 1h);
    look(orders, Locks().held("P2", "b").held("P1", "b"), start_of_looks + i * 1h);
  }
  ASSERT_EQ(drawn(orders), "P1>P2>P1");
  EXPECT_EQ(orders.warnings().front()[0].looks, 3U);
  EXPECT_EQ(orders.warnings().front()[0].last_seen, start_of_looks + 2h);
}

TEST(LockOrders, ADayLaterItIsForgotten) {
  LockOrders orders;
  look(orders, Locks().held("P1", "a").held("P2", "a"), start_of_looks);
  look(orders, Locks().held("P2", "b").held("P1", "b"), start_of_looks + 12h);
  orders.take({}, start_of_looks + 24h);
  EXPECT_EQ(drawn(orders), "P1>P2>P1");
  orders.take({}, start_of_looks + 24h + 1s);
  EXPECT_EQ(drawn(orders), "");
  EXPECT_EQ(orders.size(), 1U);
}

TEST(LockOrders, ItsMemoryIsBounded) {
  LockOrders orders;
  const std::string long_name(200, 'x');
  for (std::size_t i = 0; i < LockOrders::max_orders + 100; ++i) {
    const std::string one = long_name + std::to_string(i);
    const std::string other = one + "-other";
    const WallTime now = start_of_looks + std::chrono::milliseconds(i);
    Locks locks;
    locks.held(one, "a").held(other, "a");
    locks.of(one).holder->owner->stack.assign(100, std::string(100, 'f'));
    look(orders, locks, now);
    look(orders, Locks().held(other, "b").held(one, "b"), now);
  }
  EXPECT_EQ(orders.size(), LockOrders::max_orders);
  const std::vector<OrderWarning> warnings = orders.warnings();
  EXPECT_EQ(warnings.size(), LockOrders::max_warnings);
  EXPECT_EQ(warnings.front()[0].outer, long_name + std::to_string(LockOrders::max_orders + 99)) << "the newest first";
  std::size_t bytes = 0;
  for (const std::string& frame : warnings.front()[0].outer_stack) bytes += frame.size();
  EXPECT_LE(bytes, LockOrders::max_stack_bytes);
}

TEST(LockOrders, ALookDoubtsAFewAndComesToTheOthersLater) {
  LockOrders orders;
  Locks locks;
  for (int i = 0; i < 100; ++i) {
    const std::string thread = "t" + std::to_string(i);
    locks.held("A" + std::to_string(i), thread).held("B" + std::to_string(i), thread);
  }
  EXPECT_EQ(orders.take(locks.views, start_of_looks).size(), LockOrders::max_doubts);
  for (std::size_t i = 0; i < 100 / LockOrders::max_doubts; ++i) look(orders, locks);
  EXPECT_EQ(orders.size(), 100U);
}

TEST(LockOrders, ManyLocksOfOneThreadAreFewOrders) {
  LockOrders orders;
  Locks locks;
  for (int i = 0; i < 1000; ++i) locks.held("P" + std::to_string(i), "a");
  for (int i = 0; i < 10; ++i) look(orders, locks);
  EXPECT_LE(orders.size(), LockOrders::max_locks * LockOrders::max_outer);
}

}  // namespace
}  // namespace forelock::cli
