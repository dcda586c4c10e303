// What only the asynchronous way to run operations has: completions, limits, callbacks that misbehave.
#include "integration/operation_fixture.h"
#include "support/wait_until.h"

namespace forelock::test {
namespace {

using Attempt = std::shared_ptr<OperationAttempt>;
using Done = OperationRunner::Done;

class AsyncOperationTest : public OperationTest {
 protected:
  // Runs it with a handler of the asynchronous kind.
  std::future<Outcome> start(OperationRunner& runner, OperationRunner::AsyncHandler handler,
                             OperationRunOptions options = {}) {
    const auto promise = std::make_shared<std::promise<Outcome>>();
    runner.run_async(
        operation(), std::move(handler),
        [promise](OperationResult result, std::exception_ptr error) {
          promise->set_value(error ? outcome_of(error) : Outcome{std::move(result), "", ""});
        },
        std::move(options));
    return promise->get_future();
  }
  static std::size_t threads() {
    const std::filesystem::directory_iterator tasks("/proc/self/task");
    return static_cast<std::size_t>(std::distance(tasks, std::filesystem::directory_iterator()));
  }
};

TEST_P(AsyncOperationTest, DoneMayBeCalledByTheHandlerItself) {
  OperationRunner runner(client_, sink_, quick());
  auto result = start(runner, [](const Attempt& attempt, const Done& done) {
    attempt->lock.check_health();
    done(attempt->number == 1 ? std::make_exception_ptr(OperationFailure("busy", "try later", true)) : nullptr);
    done(std::make_exception_ptr(std::runtime_error("too late to matter")));
    throw std::runtime_error("so is this");
  });
  const Outcome outcome = result_of(result);
  ASSERT_TRUE(outcome.succeeded()) << outcome.message;
  EXPECT_THAT(outcome.result->attempts, SizeIs(1));
}

TEST_P(AsyncOperationTest, DoneThatIsDroppedIsAFailure) {
  OperationRunner runner(client_, sink_, quick());
  auto result = start(runner, [](const Attempt&, const Done&) {});
  const Outcome outcome = result_of(result);
  ASSERT_TRUE(outcome.dead_lettered()) << outcome.message;
  EXPECT_EQ(outcome.result->reason, "handler_failed");
  EXPECT_THAT(outcome.result->attempts[0].message, HasSubstr("without calling it"));
}

TEST_P(AsyncOperationTest, DoneAndAttemptMayOutliveTheRun) {
  Done kept;
  Attempt kept_attempt;
  {
    OperationRunner runner(client_, sink_, quick());
    auto result = start(runner, [&](const Attempt& attempt, const Done& done) {
      kept = done;
      kept_attempt = attempt;
      done(nullptr);
    });
    EXPECT_TRUE(result_of(result).succeeded());
  }
  kept(nullptr);
  EXPECT_FALSE(kept_attempt->lock.healthy());
  EXPECT_EQ(kept_attempt->operation.monitor, monitor_);
}

TEST_P(AsyncOperationTest, CallbacksMayThrowAndBeginOthers) {
  std::mutex mutex;
  std::vector<std::string> log;
  Client client(settings(server_->connect_string()), [&](std::string_view, std::string_view message) {
    const std::lock_guard guard(mutex);
    log.emplace_back(message);
  });
  std::promise<void> last;
  OperationRunner runner(client, sink_, quick());
  OperationRunOptions options;
  options.on_failure = [](const FailedAttempt&, bool) { throw std::runtime_error("from on_failure"); };
  runner.run_async(
      operation(),
      [&](const Attempt& attempt, const Done& done) {
        if (attempt->number == 1) throw OperationFailure("busy", "try later", true);
        Operation next = operation();
        next.monitor += "-next";
        runner.run_async(
            next, [](const Attempt&, const Done& next_done) { next_done(nullptr); },
            [&](const OperationResult&, const std::exception_ptr&) {
              runner.run_async(
                  operation(), [](const Attempt&, const Done& last_done) { last_done(nullptr); },
                  [&](const OperationResult&, const std::exception_ptr& error) {
                    EXPECT_FALSE(error);
                    last.set_value();
                  });
              throw std::runtime_error("from a completion");
            });
        done(nullptr);
      },
      [](const OperationResult& result, const std::exception_ptr&) {
        EXPECT_THAT(result.attempts, SizeIs(1));
        throw 42;
      },
      options);
  ASSERT_EQ(last.get_future().wait_for(30s), std::future_status::ready);
  EXPECT_TRUE(wait_until([&] {
    const std::lock_guard guard(mutex);
    const auto has = [&](const char* text) {
      return std::any_of(log.begin(), log.end(),
                         [&](const std::string& line) { return line.find(text) != std::string::npos; });
    };
    return has("from on_failure") && has("from a completion") && has("completion has thrown");
  }));
}

TEST_P(AsyncOperationTest, NoMoreThanTheLimitAreUnderWay) {
  OperationRunnerOptions options = quick();
  options.max_operations = 2;
  OperationRunner runner(client_, sink_, options);
  std::mutex mutex;
  std::vector<Done> open;
  const auto keep = [&](const Attempt&, const Done& done) {
    const std::lock_guard guard(mutex);
    open.push_back(done);
  };
  auto first = start(runner, keep);
  auto second = start(runner, keep);
  try {
    start(runner, keep);
    ADD_FAILURE() << "a third was taken";
  } catch (const RequestRejectedException& error) {
    EXPECT_EQ(error.code(), ErrorCode::overloaded);
    EXPECT_TRUE(error.retryable());
  }
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(wait_until([&] {
      const std::lock_guard guard(mutex);
      return !open.empty();
    }));
    const std::lock_guard guard(mutex);
    open.back()(nullptr);
    open.pop_back();
  }
  EXPECT_TRUE(result_of(first).succeeded());
  EXPECT_TRUE(result_of(second).succeeded());
  EXPECT_TRUE(wait_until([&] {  // its place is free when its completion has returned
    try {
      auto third = start(runner, [](const Attempt&, const Done& done) { done(nullptr); });
      return result_of(third).succeeded();
    } catch (const RequestRejectedException&) {
      return false;
    }
  }));
}

TEST_P(AsyncOperationTest, TheRunnersEndWithdrawsThoseThatWaitAndWaitsForHandlers) {
  BlockingWriteLock elsewhere(other_, "hold", monitor_);
  elsewhere.lock_with_timeout();
  auto runner = std::make_unique<OperationRunner>(client_, sink_, patient());
  auto waiting = start(*runner, [](const Attempt&, const Done&) { ADD_FAILURE() << "called"; });
  wait_until_queued(1);

  std::promise<Outcome> backing_off;
  std::promise<void> failed;
  OperationRunOptions told;
  told.on_failure = [&](const FailedAttempt&, bool) { failed.set_value(); };
  Operation other = operation();
  other.monitor += "-2";
  runner->run_async(
      other,
      [](const Attempt&, const Done& done) {
        done(std::make_exception_ptr(OperationFailure("busy", "try later", true)));
      },
      [&](const OperationResult&, const std::exception_ptr& error) { backing_off.set_value(outcome_of(error)); }, told);
  ASSERT_EQ(failed.get_future().wait_for(30s), std::future_status::ready);

  std::promise<Done> entered;
  std::atomic<bool> completed = false;
  other.monitor += "-3";
  runner->run_async(
      other, [&](const Attempt&, const Done& done) { entered.set_value(done); },
      [&](const OperationResult& result, const std::exception_ptr& error) {
        EXPECT_FALSE(error);
        EXPECT_EQ(result.status, OperationResult::Status::succeeded);
        completed = true;
      });
  Done done = entered.get_future().get();

  auto ended = std::async(std::launch::async, [&] { runner.reset(); });
  EXPECT_EQ(result_of(waiting).code, "cancelled");
  auto withdrawn = backing_off.get_future();
  EXPECT_EQ(result_of(withdrawn).code, "cancelled");
  EXPECT_EQ(ended.wait_for(50ms), std::future_status::timeout) << "a handler is under way";
  done(nullptr);
  ASSERT_EQ(ended.wait_for(30s), std::future_status::ready);
  EXPECT_TRUE(completed);
  EXPECT_THAT(sink_.letters(), IsEmpty());
}

// Fails after a wait, as an outbox does that another process has locked.
class BlockedSink final : public DeadLetterSink {
 public:
  void accept(const DeadLetter& letter) override {
    ++asked;
    begun.release();
    go_on.acquire();
    EXPECT_FALSE(never.try_acquire_for(1s));
    go_on.release();
    throw Error(ErrorCode::outbox_unavailable, letter.monitor, "another process has been using it for too long");
  }

  std::atomic<int> asked{0};
  std::counting_semaphore<> begun{0};
  std::counting_semaphore<> go_on{0};
  std::counting_semaphore<> never{0};
};

TEST_P(AsyncOperationTest, TheRunnersEndDoesNotWaitForABlockedSinkOnceForEachLetter) {
  constexpr int operations = 6;
  BlockedSink blocked;
  std::optional<OperationRunner> runner(std::in_place, client_, blocked, quick());
  std::atomic<int> failed{0};
  std::vector<std::future<Outcome>> results;
  for (int i = 0; i < operations; ++i) {
    results.push_back(start(*runner, [&](const Attempt&, const Done& done) {
      done(std::make_exception_ptr(OperationFailure("broken", "it is broken", false)));
      ++failed;
    }));
  }
  ASSERT_TRUE(wait_until([&] { return failed == operations; }));
  blocked.begun.acquire();
  std::thread end([&] { runner.reset(); });
  blocked.go_on.release();
  end.join();
  for (auto& result : results) EXPECT_EQ(result_of(result).code, "outbox_unavailable");
  // The end may have begun behind the first of them.
  EXPECT_LT(blocked.asked, operations);
}

TEST_P(AsyncOperationTest, ThousandsWaitWithoutThreads) {
  constexpr int operations = 2000;
  constexpr int monitors = 37;  // every one of them has both kinds of operations
  std::vector<std::unique_ptr<BlockingWriteLock>> elsewhere;
  for (int i = 0; i < monitors; ++i) {
    elsewhere.push_back(std::make_unique<BlockingWriteLock>(other_, "hold", monitor_ + std::to_string(i)));
    elsewhere.back()->lock_with_timeout();
  }
  OperationRunnerOptions options = quick();
  options.budget = {1'000, 10'000.0};
  OperationRunner runner(client_, sink_, options);
  const std::size_t before = threads();
  std::atomic<int> succeeded = 0;
  std::atomic<int> dead_lettered = 0;
  std::atomic<int> ended = 0;
  for (int i = 0; i < operations; ++i) {
    Operation one = operation();
    one.monitor = monitor_ + std::to_string(i % monitors);
    runner.run_async(
        one,
        [fails = i % 10 == 0](const Attempt&, const Done& done) {
          done(fails ? std::make_exception_ptr(OperationFailure("busy", "try later", true)) : nullptr);
        },
        [&](const OperationResult& result, const std::exception_ptr& error) {
          EXPECT_FALSE(error);
          (result.status == OperationResult::Status::succeeded ? succeeded : dead_lettered)++;
          ended++;
        });
  }
  EXPECT_LE(threads(), before + 1) << "the runner's own";
  for (auto& lock : elsewhere) lock->unlock();
  EXPECT_TRUE(wait_until([&] { return ended == operations; }, 60s)) << ended;
  EXPECT_EQ(succeeded, operations * 9 / 10);
  EXPECT_EQ(dead_lettered, operations / 10);
  EXPECT_EQ(sink_.letters().size(), static_cast<std::size_t>(operations / 10));
  for (const DeadLetter& letter : sink_.letters()) EXPECT_EQ(letter.reason, "busy") << letter.attempts.back().message;
}

INSTANTIATE_TEST_SUITE_P(Way, AsyncOperationTest, ::testing::Values("asynchronous"),
                         [](const auto& way) { return way.param; });

}  // namespace
}  // namespace forelock::test
