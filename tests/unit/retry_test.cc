// The pure parts of the retry layer: waits, the budget, and the machine of one operation.
#include "retry/backoff.h"
#include "retry/capped_text.h"
#include "retry/operation_machine.h"
#include "retry/retry_budget.h"
#include "support/test.h"

namespace forelock::retry {
namespace {

constexpr std::uint64_t least = 0;
constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
constexpr TimePoint start{1h};

// --- Backoff ---

TEST(Backoff, DoublesUpToItsCap) {
  const Backoff backoff(100ms, 1000ms);
  const std::vector<Duration> bounds = {backoff.bound(1), backoff.bound(2), backoff.bound(3),
                                        backoff.bound(4), backoff.bound(5), backoff.bound(6)};
  EXPECT_THAT(bounds, ElementsAre(100ms, 200ms, 400ms, 800ms, 1000ms, 1000ms));
}

TEST(Backoff, IsSpreadOverTheWholeBound) {
  const Backoff backoff(100ms, 1000ms);
  EXPECT_EQ(backoff.wait(2, least), 0ms);
  EXPECT_EQ(backoff.wait(2, most / 2 + 1), 100ms);
  EXPECT_GT(backoff.wait(2, most), 199ms);
  EXPECT_LE(backoff.wait(2, most), 200ms);
  EXPECT_EQ(backoff.wait(2, 12345), backoff.wait(2, 12345));
}

TEST(Backoff, NeverOverflows) {
  const Backoff endless(std::chrono::milliseconds::max(), std::chrono::milliseconds::max());
  EXPECT_EQ(endless.bound(1), Backoff::longest);
  const Backoff growing(1ms, std::chrono::milliseconds::max());
  EXPECT_EQ(growing.bound(std::numeric_limits<std::uint32_t>::max()), Backoff::longest);
  EXPECT_LE(growing.wait(1000, most), Backoff::longest);
  const Backoff none(0ms, 10ms);
  EXPECT_EQ(none.wait(std::numeric_limits<std::uint32_t>::max(), most), 0ms);
  const Backoff negative(-5ms, -1ms);
  EXPECT_EQ(negative.wait(7, most), 0ms);
  const Backoff inverted(50ms, 10ms);
  EXPECT_EQ(inverted.bound(1), 10ms);
}

// --- RetryBudget ---

TEST(RetryBudget, HasItsBurstAtOnceAndThenItsRate) {
  RetryBudget budget(3, 10.0);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(budget.take(start), start);
  EXPECT_EQ(budget.take(start), start + 100ms);
  EXPECT_EQ(budget.take(start), start + 200ms);
  // The debt is remembered: at 250 ms two of the five tokens are paid back, and this one follows them.
  EXPECT_EQ(budget.take(start + 250ms), start + 300ms);
}

TEST(RetryBudget, FillsUpToItsBurstAndNoFurther) {
  RetryBudget budget(2, 10.0);
  budget.take(start);
  budget.take(start);
  const TimePoint later = start + 1h;
  EXPECT_EQ(budget.take(later), later);
  EXPECT_EQ(budget.take(later), later);
  EXPECT_EQ(budget.take(later), later + 100ms);
}

TEST(RetryBudget, TakesBackWhatWasNotUsed) {
  RetryBudget budget(1, 10.0);
  EXPECT_EQ(budget.take(start), start);
  EXPECT_EQ(budget.take(start), start + 100ms);
  budget.give_back();
  EXPECT_EQ(budget.take(start), start + 100ms);
}

TEST(RetryBudget, IsNotFooledByExtremes) {
  RetryBudget slow(RetryBudget::largest_burst, 0.0);
  EXPECT_EQ(slow.take(TimePoint{}), TimePoint{});
  RetryBudget broken(0, std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(broken.take(start), start);
  EXPECT_EQ(broken.take(start), start + 1000s);
  EXPECT_EQ(broken.take(never), never);
  EXPECT_EQ(broken.take(never), never);
}

TEST(RetryBudget, ManyThreadsTogetherGetNoMoreThanOne) {
  constexpr std::size_t threads = 4;
  constexpr std::size_t tokens = 2000;
  RetryBudget budget(10, 1000.0);
  std::vector<std::vector<TimePoint>> taken(threads);
  {
    std::vector<std::jthread> takers;
    for (auto& mine : taken) {
      takers.emplace_back([&budget, &mine] {
        for (std::size_t i = 0; i < tokens; ++i) mine.push_back(budget.take(start));
      });
    }
  }
  std::vector<TimePoint> all;
  for (const auto& mine : taken) all.insert(all.end(), mine.begin(), mine.end());
  std::sort(all.begin(), all.end());
  for (std::size_t i = 0; i < all.size(); ++i) {
    ASSERT_EQ(all[i], start + 1ms * (i < 10 ? 0 : static_cast<int>(i) - 9)) << i;
  }
}

// --- texts ---

TEST(CappedText, IsCutBetweenCharacters) {
  EXPECT_EQ(capped("short", 5), "short");
  EXPECT_EQ(capped("longer", 5), "lo…");
  EXPECT_EQ(capped("xäöü", 6), "xä…");  // the cut would be inside of the second letter
  EXPECT_EQ(capped("😀😀", 7), "😀…");
  EXPECT_EQ(capped("😀😀", 6), "…");
  EXPECT_EQ(capped(std::string(50, '\x80'), 10).size(), 7u) << "no text at all: cut anyhow";
  EXPECT_LE(capped(std::string(5000, 'x'), 1000).size(), 1000u);
}

// --- OperationMachine ---

class MachineTest : public ::testing::Test {
 protected:
  static OperationLimits limits(std::uint32_t retries, TimePoint deadline = never) {
    return {retries, deadline, Backoff(100ms, 1000ms)};
  }
  AttemptEnd end(std::uint64_t random = most) const { return {now_, WallTime(1s), 7ms, random}; }
  OperationStage fail(OperationMachine& machine, bool retryable = true) {
    machine.granted();
    return machine.handler_failed("broken", "it broke", retryable, end());
  }
  // Lets the machine's wait pass.
  OperationStage wait(OperationMachine& machine) {
    now_ = std::max(now_, machine.wake_at());
    return machine.due(now_);
  }

  TimePoint now_ = start;
  RetryBudget budget_{100, 50.0};
};

TEST_F(MachineTest, SucceedsAtOnce) {
  OperationMachine machine(limits(3), budget_);
  EXPECT_EQ(machine.start(now_), OperationStage::locking);
  EXPECT_EQ(machine.attempt(), 1u);
  EXPECT_EQ(machine.granted(), OperationStage::working);
  EXPECT_EQ(machine.handler_succeeded(true, end()), OperationStage::succeeded);
  EXPECT_TRUE(machine.over());
  EXPECT_THAT(machine.attempts(), SizeIs(0));
  EXPECT_EQ(machine.cause(), CallerCause::none);
}

TEST_F(MachineTest, IsTriedAgainAfterWhatPasses) {
  OperationMachine machine(limits(3), budget_);
  machine.start(now_);
  EXPECT_EQ(machine.refused(ErrorCode::lock_timeout, "held by somebody", end()), OperationStage::waiting);
  EXPECT_GT(machine.wake_at(), now_ + 99ms);
  EXPECT_EQ(machine.due(now_ + 50ms), OperationStage::waiting) << "too early";
  EXPECT_EQ(wait(machine), OperationStage::locking);
  EXPECT_EQ(machine.attempt(), 2u);
  EXPECT_EQ(fail(machine), OperationStage::waiting);
  EXPECT_EQ(wait(machine), OperationStage::locking);
  machine.granted();
  EXPECT_EQ(machine.handler_succeeded(false, end()), OperationStage::waiting) << "the lock was not certain";
  EXPECT_EQ(wait(machine), OperationStage::locking);
  machine.granted();
  EXPECT_EQ(machine.handler_succeeded(true, end()), OperationStage::succeeded);
  ASSERT_THAT(machine.attempts(), SizeIs(3));
  EXPECT_EQ(machine.attempts()[0].code, "lock_timeout");
  EXPECT_EQ(machine.attempts()[0].message, "held by somebody");
  EXPECT_EQ(machine.attempts()[0].waited, 7ms);
  EXPECT_EQ(machine.attempts()[0].at, WallTime(1s));
  EXPECT_EQ(machine.attempts()[1].code, "broken");
  EXPECT_EQ(machine.attempts()[1].number, 2u);
  EXPECT_EQ(machine.attempts()[2].code, "lock_unhealthy");
}

TEST_F(MachineTest, IsGivenUpAfterItsRetries) {
  for (const std::uint32_t retries : {0U, 1U, 3U, 1000U}) {
    OperationMachine machine(limits(retries), budget_);
    machine.start(now_);
    for (std::uint32_t i = 0; i < retries; ++i) {
      ASSERT_EQ(fail(machine), OperationStage::waiting);
      while (machine.stage() == OperationStage::waiting) wait(machine);
    }
    EXPECT_EQ(fail(machine), OperationStage::surrendering);
    EXPECT_THAT(machine.attempts(), SizeIs(retries + 1));
    EXPECT_EQ(machine.sink_took(), OperationStage::queued);
    EXPECT_TRUE(machine.over());
  }
}

TEST_F(MachineTest, IsGivenUpAtOnceForWhatDoesNotPass) {
  OperationMachine handler(limits(3), budget_);
  handler.start(now_);
  EXPECT_EQ(fail(handler, false), OperationStage::surrendering);
  OperationMachine lock(limits(3), budget_);
  lock.start(now_);
  EXPECT_EQ(lock.refused(ErrorCode::not_authorized, "no", end()), OperationStage::surrendering);
}

TEST_F(MachineTest, IsLeftToItsCallerWhenTheSinkRefuses) {
  OperationMachine machine(limits(0), budget_);
  machine.start(now_);
  fail(machine);
  EXPECT_EQ(machine.sink_refused(), OperationStage::failed);
  EXPECT_EQ(machine.cause(), CallerCause::sink_refused);
}

TEST_F(MachineTest, IsLeftToItsCallerWhenTheClientIsGone) {
  for (const ErrorCode code : {ErrorCode::closed, ErrorCode::forked}) {
    OperationMachine machine(limits(3), budget_);
    machine.start(now_);
    EXPECT_EQ(machine.refused(code, "gone", end()), OperationStage::failed);
    EXPECT_EQ(machine.cause(), CallerCause::refused);
    EXPECT_THAT(machine.attempts(), SizeIs(0));
  }
}

TEST_F(MachineTest, BeginsNothingAfterItsDeadline) {
  OperationMachine late(limits(3, start), budget_);
  EXPECT_EQ(late.start(start), OperationStage::failed);
  EXPECT_EQ(late.cause(), CallerCause::too_late);
  EXPECT_EQ(late.attempt(), 0u);

  OperationMachine soon(limits(3, start + 50ms), budget_);
  soon.start(start);
  EXPECT_EQ(fail(soon), OperationStage::surrendering) << "a retry would come too late";

  OperationMachine overslept(limits(3, start + 500ms), budget_);
  overslept.start(start);
  EXPECT_EQ(fail(overslept), OperationStage::waiting);
  EXPECT_EQ(overslept.due(start + 500ms), OperationStage::surrendering) << "the driver was late";
  EXPECT_EQ(overslept.attempt(), 1u);
}

TEST_F(MachineTest, StopsWhileItWaits) {
  OperationMachine machine(limits(3), budget_);
  machine.start(now_);
  fail(machine);
  EXPECT_EQ(machine.stop(), OperationStage::failed);
  EXPECT_EQ(machine.cause(), CallerCause::withdrawn);
  EXPECT_THAT(machine.attempts(), SizeIs(1));
  EXPECT_EQ(machine.stop(), OperationStage::failed);
}

TEST_F(MachineTest, StopsBeforeItHasBegun) {
  OperationMachine machine(limits(3), budget_);
  EXPECT_EQ(machine.stop(), OperationStage::failed);
  EXPECT_EQ(machine.start(now_), OperationStage::failed);
  EXPECT_EQ(machine.cause(), CallerCause::withdrawn);
}

TEST_F(MachineTest, StopsWhileItWaitsForTheLock) {
  OperationMachine refused(limits(3), budget_);
  refused.start(now_);
  EXPECT_EQ(refused.stop(), OperationStage::locking) << "the driver withdraws";
  EXPECT_EQ(refused.refused(ErrorCode::cancelled, "cancelled", end()), OperationStage::failed);
  EXPECT_EQ(refused.cause(), CallerCause::withdrawn);

  OperationMachine granted(limits(3), budget_);
  granted.start(now_);
  granted.stop();
  EXPECT_EQ(granted.granted(), OperationStage::failed) << "the handler is not called any more";
}

TEST_F(MachineTest, AHandlerUnderWayIsHeardBeforeItStops) {
  OperationMachine succeeds(limits(3), budget_);
  succeeds.start(now_);
  succeeds.granted();
  EXPECT_EQ(succeeds.stop(), OperationStage::working);
  EXPECT_EQ(succeeds.handler_succeeded(true, end()), OperationStage::succeeded);

  for (const bool retryable : {true, false}) {
    OperationMachine fails(limits(3), budget_);
    fails.start(now_);
    fails.granted();
    fails.stop();
    EXPECT_EQ(fails.handler_failed("broken", "it broke", retryable, end()), OperationStage::failed);
    EXPECT_EQ(fails.cause(), CallerCause::withdrawn);
    EXPECT_THAT(fails.attempts(), SizeIs(1));
  }
}

TEST_F(MachineTest, ALetterUnderWayIsNotHeldBack) {
  OperationMachine machine(limits(0), budget_);
  machine.start(now_);
  fail(machine);
  EXPECT_EQ(machine.stop(), OperationStage::surrendering);
  EXPECT_EQ(machine.sink_took(), OperationStage::queued);
}

TEST_F(MachineTest, WaitsForTheBudget) {
  RetryBudget poor(1, 1.0);
  OperationMachine first(limits(3), poor);
  OperationMachine second(limits(3), poor);
  OperationMachine hurried(limits(3, start + 500ms), poor);
  for (OperationMachine* machine : {&first, &second, &hurried}) {
    machine->start(now_);
    fail(*machine);
  }
  EXPECT_EQ(wait(first), OperationStage::locking);
  const TimePoint before = now_;
  EXPECT_EQ(wait(second), OperationStage::waiting) << "there is no token left";
  EXPECT_EQ(second.wake_at(), before + 1s);
  EXPECT_EQ(hurried.due(now_), OperationStage::surrendering) << "its token would come too late";
  EXPECT_EQ(second.stop(), OperationStage::failed);
  // Neither of the two has used its token.
  EXPECT_EQ(poor.take(now_), before + 1s);
}

// However many fail together: first attempts cost nothing, retries no more than the budget has, by injected time.
TEST_F(MachineTest, AStormIsDamped) {
  constexpr std::size_t operations = 500;
  constexpr std::uint32_t burst = 20;
  constexpr double rate = 40.0;
  RetryBudget budget(burst, rate);
  std::vector<OperationMachine> machines;
  machines.reserve(operations);
  std::uint64_t random = 1;
  const auto some_end = [&] {
    random = random * 6364136223846793005ULL + 1442695040888963407ULL;
    return AttemptEnd{now_, WallTime{}, 0ms, random};
  };
  for (std::size_t i = 0; i < operations; ++i) {
    machines.emplace_back(limits(3), budget);
    machines.back().start(now_);
    machines.back().refused(ErrorCode::connection_loss, "down", some_end());
  }
  std::vector<TimePoint> retries;
  std::size_t over = 0;
  while (over < operations) {
    TimePoint next = never;
    for (const auto& machine : machines) {
      if (machine.stage() == OperationStage::waiting) next = std::min(next, machine.wake_at());
    }
    ASSERT_NE(next, never);
    now_ = next;
    for (auto& machine : machines) {
      if (machine.stage() != OperationStage::waiting || machine.wake_at() > now_) continue;
      if (machine.due(now_) != OperationStage::locking) continue;
      retries.push_back(now_);
      if (machine.refused(ErrorCode::connection_loss, "down", some_end()) == OperationStage::surrendering) {
        machine.sink_took();
        ++over;
      }
    }
  }
  EXPECT_THAT(retries, SizeIs(operations * 3));
  // In every window, not only since the beginning.
  for (std::size_t i = 0; i < retries.size(); ++i) {
    for (std::size_t k = i + burst; k < retries.size(); ++k) {
      const double seconds = std::chrono::duration<double>(retries[k] - retries[i]).count();
      ASSERT_LE(static_cast<double>(k - i + 1), burst + rate * seconds + 1e-6) << i << " to " << k;
    }
  }
}

TEST_F(MachineTest, MessagesAreCapped) {
  OperationMachine machine(limits(0), budget_);
  machine.start(now_);
  machine.granted();
  machine.handler_failed("broken", std::string(100'000, 'x'), true, end());
  EXPECT_THAT(machine.attempts()[0].message, SizeIs(OperationMachine::max_message_bytes));
}

TEST_F(MachineTest, EventsOutOfOrderAreRefused) {
  OperationMachine machine(limits(0), budget_);
  EXPECT_THROW(machine.due(now_), Error);
  EXPECT_THROW(machine.granted(), Error);
  machine.start(now_);
  EXPECT_THROW(machine.start(now_), Error);
  EXPECT_THROW(machine.handler_succeeded(true, end()), Error);
  fail(machine);
  EXPECT_THROW(machine.refused(ErrorCode::lock_timeout, "", end()), Error);
  machine.sink_took();
  EXPECT_THROW(machine.sink_took(), Error);
  EXPECT_THROW(machine.sink_refused(), Error);
  EXPECT_EQ(machine.stage(), OperationStage::queued);
}

}  // namespace
}  // namespace forelock::retry
