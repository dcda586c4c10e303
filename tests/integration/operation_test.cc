// Operations on a real server, run both ways: each ends as exactly one of succeeded, dead-lettered, left to its caller.
#include <sys/wait.h>
#include <unistd.h>

#include "integration/operation_fixture.h"
#include "support/wait_until.h"

namespace forelock::test {
namespace {

const OperationRunner::Handler does_nothing = [](OperationAttempt&) {};
const OperationRunner::Handler fails = [](OperationAttempt&) { throw OperationFailure("busy", "try later", true); };

TEST_P(OperationTest, SucceedsAtTheFirstAttempt) {
  OperationRunner runner(client_, sink_);
  Operation wanted = operation();
  wanted.priority = Priority::foreground;
  std::string seen;
  const Outcome outcome = run(runner, wanted, [&](OperationAttempt& attempt) {
    EXPECT_EQ(attempt.number, 1u);
    EXPECT_TRUE(attempt.lock.healthy());
    EXPECT_GT(attempt.lock.fencing_token(), 0);
    EXPECT_EQ(attempt.lock.monitor(), monitor_);
    EXPECT_EQ(attempt.lock.priority(), Priority::foreground);
    EXPECT_EQ(attempt.lock.lock_info(), "saveContent");
    EXPECT_EQ(attempt.operation.payload, wanted.payload);
    seen = attempt.operation.id;
  });
  ASSERT_TRUE(outcome.succeeded()) << outcome.message;
  EXPECT_THAT(outcome.result->id, SizeIs(36));
  EXPECT_EQ(outcome.result->id, seen);
  EXPECT_THAT(outcome.result->attempts, IsEmpty());
  EXPECT_THAT(sink_.letters(), IsEmpty());
  EXPECT_TRUE(wait_until_unused(*server_, monitor_));
}

TEST_P(OperationTest, IsTriedAgainAfterALockTimeout) {
  Client hurried(settings(proxy_.connect_string(), {{"zookeeper.backgound.task.timeout", "300"}}));
  OperationRunner runner(hurried, sink_, quick());
  BlockingWriteLock elsewhere(other_, "Somebody's work", monitor_);
  elsewhere.lock_with_timeout();
  OperationRunOptions options;
  options.on_failure = [&](const FailedAttempt& attempt, bool will_retry) {
    EXPECT_TRUE(will_retry);
    EXPECT_EQ(attempt.code, "lock_timeout");
    if (attempt.number == 2) elsewhere.unlock();
  };
  const Outcome outcome = run(runner, operation(), does_nothing, options);
  ASSERT_TRUE(outcome.succeeded()) << outcome.message;
  ASSERT_THAT(outcome.result->attempts, SizeIs(2));
  const FailedAttempt& first = outcome.result->attempts[0];
  EXPECT_EQ(first.number, 1u);
  EXPECT_GE(first.waited, 290ms);
  EXPECT_GT(first.at.time_since_epoch().count(), 0);
  EXPECT_THAT(first.message, HasSubstr(monitor_));
  if (GetParam() == "blocking") {
    EXPECT_THAT(first.message, HasSubstr("Somebody's work"));
  }
  EXPECT_THAT(sink_.letters(), IsEmpty());
}

TEST_P(OperationTest, IsTriedAgainAfterAFailureThatPasses) {
  OperationRunner runner(client_, sink_, quick());
  std::set<std::int64_t> tokens;
  const Outcome outcome = run(runner, operation(), [&](OperationAttempt& attempt) {
    tokens.insert(attempt.lock.fencing_token());
    if (attempt.number <= 2) fails(attempt);
  });
  ASSERT_TRUE(outcome.succeeded()) << outcome.message;
  EXPECT_THAT(tokens, SizeIs(3)) << "each attempt takes the lock anew";
  ASSERT_THAT(outcome.result->attempts, SizeIs(2));
  EXPECT_EQ(outcome.result->attempts[1].number, 2u);
  EXPECT_EQ(outcome.result->attempts[1].code, "busy");
  EXPECT_EQ(outcome.result->attempts[1].message, "try later");
}

TEST_P(OperationTest, IsDeadLetteredAtOnceForAFailureThatDoesNotPass) {
  OperationRunner runner(client_, sink_, quick());
  Operation wanted = operation();
  wanted.id = "order-17";
  wanted.lock_info = "Bulk propagation";
  wanted.traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  wanted.replay_count = 2;
  bool told = false;
  OperationRunOptions options;
  options.on_failure = [&](const FailedAttempt&, bool will_retry) { told = !will_retry; };
  const Outcome outcome = run(
      runner, wanted, [](OperationAttempt&) { throw OperationFailure("no_such_article", "it is gone", false); },
      options);
  ASSERT_TRUE(outcome.dead_lettered()) << outcome.message;
  EXPECT_EQ(outcome.result->id, "order-17");
  EXPECT_EQ(outcome.result->reason, "no_such_article");
  EXPECT_TRUE(told);
  ASSERT_THAT(sink_.letters(), SizeIs(1));
  const DeadLetter letter = sink_.letters()[0];
  EXPECT_EQ(letter.id, "order-17");
  EXPECT_EQ(letter.type, "saveContent");
  EXPECT_EQ(letter.monitor, monitor_);
  EXPECT_EQ(letter.priority, Priority::background);
  EXPECT_EQ(letter.lock_info, "Bulk propagation");
  EXPECT_EQ(letter.payload, wanted.payload);
  EXPECT_EQ(letter.reason, "no_such_article");
  ASSERT_THAT(letter.attempts, SizeIs(1));
  EXPECT_EQ(letter.attempts[0].message, "it is gone");
  EXPECT_EQ(letter.max_attempts, 4u);
  EXPECT_LE(letter.enqueued_at, letter.failed_at);
  EXPECT_EQ(letter.failed_at, letter.attempts[0].at);
  EXPECT_EQ(letter.replay_count, 2u);
  EXPECT_EQ(letter.client.pid, getpid());
  EXPECT_EQ(letter.client.instance, client_.instance());
  EXPECT_EQ(letter.client.instance, letter.client.host + "/" + std::to_string(letter.client.pid));
  EXPECT_EQ(letter.client.version, version());
  EXPECT_EQ(letter.traceparent, wanted.traceparent);
  EXPECT_TRUE(wait_until_unused(*server_, monitor_));
}

TEST_P(OperationTest, IsDeadLetteredOnceWhenItIsOutOfRetries) {
  OperationRunner runner(client_, sink_, quick());
  const Outcome outcome = run(runner, operation(), fails);
  ASSERT_TRUE(outcome.dead_lettered()) << outcome.message;
  EXPECT_EQ(outcome.result->reason, "busy");
  ASSERT_THAT(sink_.letters(), SizeIs(1));
  const DeadLetter letter = sink_.letters()[0];
  EXPECT_EQ(letter.id, outcome.result->id);
  ASSERT_THAT(letter.attempts, SizeIs(4));
  for (std::uint32_t i = 0; i < 4; ++i) EXPECT_EQ(letter.attempts[i].number, i + 1);
}

TEST_P(OperationTest, HandlersMayThrowAnything) {
  const auto reason_of = [this](const OperationRunner::Handler& handler) {
    OperationRunner runner(client_, sink_, quick());
    const Outcome outcome = run(runner, operation(), handler);
    EXPECT_TRUE(outcome.dead_lettered()) << outcome.code << ": " << outcome.message;
    if (!outcome.dead_lettered()) return std::string();
    return outcome.result->reason + " x" + std::to_string(outcome.result->attempts.size()) + ": " +
           outcome.result->attempts.back().message;
  };
  EXPECT_EQ(reason_of([](OperationAttempt&) { throw std::runtime_error("what it says"); }),
            "handler_failed x1: what it says");
  EXPECT_THAT(reason_of([](OperationAttempt&) { throw 42; }), HasSubstr("handler_failed x1"));
  EXPECT_EQ(
      reason_of([](OperationAttempt&) { throw Error(ErrorCode::write_conflict, "P1", "changed by somebody else"); }),
      "write_conflict x1: changed by somebody else");
  EXPECT_EQ(reason_of([](OperationAttempt&) { throw Error(ErrorCode::session_expired, "P1", "expired"); }),
            "session_expired x4: expired");
  EXPECT_EQ(reason_of([](OperationAttempt&) { throw OperationFailure("Not a Code!", "misspelt", true); }),
            "not_a_code_ x4: misspelt");
  EXPECT_EQ(reason_of([](OperationAttempt&) { throw OperationFailure("", "empty", false); }),
            "handler_failed x1: empty");
  EXPECT_THAT(reason_of([](OperationAttempt&) { throw std::runtime_error(std::string(100'000, 'x')); }),
              SizeIs(std::string("handler_failed x1: ").size() + 1000));
}

TEST_P(OperationTest, IsLeftToItsCallerWhenTheSinkRefuses) {
  sink_.refuse(true);
  OperationRunner runner(client_, sink_, quick());
  const Outcome outcome = run(runner, operation(), fails);
  EXPECT_EQ(outcome.code, "outbox_full");
  sink_.refuse(false);
  EXPECT_THAT(sink_.letters(), IsEmpty());
}

TEST_P(OperationTest, StopsWhileItWaitsForTheLock) {
  BlockingWriteLock elsewhere(other_, "hold", monitor_);
  elsewhere.lock_with_timeout();
  OperationRunner runner(client_, sink_);
  std::stop_source stop;
  OperationRunOptions options;
  options.stop = stop.get_token();
  auto running = begin(
      runner, operation(), [](OperationAttempt&) { ADD_FAILURE() << "called"; }, options);
  wait_until_queued(1);
  stop.request_stop();
  EXPECT_EQ(result_of(running).code, "cancelled");
  wait_until_queued(0);
  EXPECT_THAT(sink_.letters(), IsEmpty());
}

TEST_P(OperationTest, StopsBeforeItHasBegun) {
  OperationRunner runner(client_, sink_);
  std::stop_source stop;
  stop.request_stop();
  OperationRunOptions options;
  options.stop = stop.get_token();
  const Outcome outcome = run(
      runner, operation(), [](OperationAttempt&) { ADD_FAILURE() << "called"; }, options);
  EXPECT_EQ(outcome.code, "cancelled");
}

TEST_P(OperationTest, StopsDuringBackoff) {
  OperationRunner runner(client_, sink_, patient());
  std::stop_source stop;
  std::promise<void> failed;
  OperationRunOptions options;
  options.stop = stop.get_token();
  options.on_failure = [&](const FailedAttempt&, bool) { failed.set_value(); };
  auto running = begin(runner, operation(), fails, options);
  ASSERT_EQ(failed.get_future().wait_for(30s), std::future_status::ready);
  stop.request_stop();
  const Outcome outcome = result_of(running);
  EXPECT_EQ(outcome.code, "cancelled");
  EXPECT_THAT(outcome.message, HasSubstr("busy: try later")) << "what is known is not lost";
  EXPECT_THAT(sink_.letters(), IsEmpty());
}

TEST_P(OperationTest, AHandlerThatSucceedsAfterTheStopHasSucceeded) {
  OperationRunner runner(client_, sink_);
  std::stop_source stop;
  OperationRunOptions options;
  options.stop = stop.get_token();
  EXPECT_TRUE(run(
                  runner, operation(), [&](OperationAttempt&) { stop.request_stop(); }, options)
                  .succeeded());
}

TEST_P(OperationTest, AHandlerThatFailsForTheLastTimeAfterTheStopLeavesItToTheCaller) {
  OperationRunner runner(client_, sink_, quick());
  std::stop_source stop;
  OperationRunOptions options;
  options.stop = stop.get_token();
  const auto stopped = [&](OperationAttempt& attempt) {
    if (std::cmp_greater(attempt.number, client_.settings().request_retry_count())) stop.request_stop();
    fails(attempt);
  };
  EXPECT_EQ(run(runner, operation(), stopped, options).code, "cancelled");
  EXPECT_THAT(sink_.letters(), IsEmpty());
}

TEST_P(OperationTest, DoesNotWaitForTheLockPastItsDeadline) {
  BlockingWriteLock elsewhere(other_, "hold", monitor_);
  elsewhere.lock_with_timeout();
  OperationRunner runner(client_, sink_, quick());
  OperationRunOptions options;
  options.deadline = steady_clock::now() + 400ms;  // the class's own time-out is a minute
  const Outcome outcome = run(
      runner, operation(), [](OperationAttempt&) { ADD_FAILURE() << "called"; }, options);
  ASSERT_TRUE(outcome.dead_lettered()) << outcome.message;
  EXPECT_EQ(outcome.result->reason, "lock_timeout");
  EXPECT_THAT(outcome.result->attempts, SizeIs(1));
  EXPECT_THAT(sink_.letters(), SizeIs(1));
}

TEST_P(OperationTest, DoesNotWaitForARetryPastItsDeadline) {
  OperationRunner runner(client_, sink_, patient());
  OperationRunOptions options;
  options.deadline = steady_clock::now() + 20s;
  const Outcome outcome = run(runner, operation(), fails, options);
  ASSERT_TRUE(outcome.dead_lettered()) << outcome.message;
  EXPECT_THAT(outcome.result->attempts, SizeIs(1));
}

TEST_P(OperationTest, BeginsNothingWhenItsDeadlineHasPassed) {
  OperationRunner runner(client_, sink_);
  OperationRunOptions options;
  options.deadline = steady_clock::now();
  const Outcome outcome = run(
      runner, operation(), [](OperationAttempt&) { ADD_FAILURE() << "called"; }, options);
  EXPECT_EQ(outcome.code, "lock_timeout");
  EXPECT_THAT(sink_.letters(), IsEmpty()) << "there is no failed attempt to tell of";
}

TEST_P(OperationTest, IsTriedAgainWhenTheSessionEndsUnderTheHandler) {
  OperationRunner runner(client_, sink_, quick());
  std::int64_t first = 0;
  const Outcome outcome = run(runner, operation(), [&](OperationAttempt& attempt) {
    if (attempt.number > 1) {
      EXPECT_GT(attempt.lock.fencing_token(), first);
      return;
    }
    first = attempt.lock.fencing_token();
    expire_session();
    EXPECT_TRUE(wait_until([&] { return !attempt.lock.healthy(); }));
  });
  ASSERT_TRUE(outcome.succeeded()) << outcome.message;
  ASSERT_THAT(outcome.result->attempts, Not(IsEmpty()));
  EXPECT_EQ(outcome.result->attempts[0].code, "lock_unhealthy");
  EXPECT_THAT(sink_.letters(), IsEmpty());
}

TEST_P(OperationTest, IsTriedAgainWhenAnAdministratorRemovesItsLock) {
  for (const bool at_once : {false, true}) {
    OperationRunner runner(client_, sink_, quick());
    const Outcome outcome = run(runner, operation(), [&](OperationAttempt& attempt) {
      if (attempt.number > 1) return;
      remove_lock_by_force();
      // If the handler is quicker than the news, the release finds it out.
      EXPECT_TRUE(at_once || wait_until([&] { return !attempt.lock.healthy(); }));
    });
    ASSERT_TRUE(outcome.succeeded()) << outcome.message;
    ASSERT_THAT(outcome.result->attempts, SizeIs(1));
    EXPECT_EQ(outcome.result->attempts[0].code, "lock_unhealthy");
  }
}

TEST_P(OperationTest, IsTriedAgainWhileTheConnectionIsDown) {
  Client hurried(
      settings(proxy_.connect_string(), {{"zookeeper.connection.retry", "1"}, {"zookeeper.connection.delay", "100"}}));
  ASSERT_TRUE(hurried.wait_connected(10s));
  OperationRunner runner(hurried, sink_, quick());
  proxy_.refuse(true);
  proxy_.cut_connections();
  ASSERT_TRUE(wait_until([&] { return !hurried.connected(); }));
  OperationRunOptions options;
  options.on_failure = [&](const FailedAttempt& attempt, bool) {
    EXPECT_EQ(attempt.code, "connection_loss") << attempt.message;
    proxy_.refuse(false);
    EXPECT_TRUE(hurried.wait_connected(10s));
  };
  const Outcome outcome = run(runner, operation(), does_nothing, options);
  ASSERT_TRUE(outcome.succeeded()) << outcome.message;
  EXPECT_THAT(outcome.result->attempts, SizeIs(1));
}

// What was certain when the handler returned stays a success, whatever becomes of the release.
TEST_P(OperationTest, AReleaseWithoutAnswerChangesNothing) {
  OperationRunner runner(client_, sink_, quick());
  int calls = 0;
  const Outcome outcome = run(runner, operation(), [&](OperationAttempt& attempt) {
    ++calls;
    proxy_.stall(true);
    EXPECT_TRUE(attempt.lock.healthy());
  });
  proxy_.stall(false);
  EXPECT_TRUE(outcome.succeeded()) << outcome.message;
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(wait_until_unused(*server_, monitor_));
}

TEST_P(OperationTest, IsLeftToItsCallerWhenTheClientIsClosed) {
  const auto client = std::make_unique<Client>(settings(proxy_.connect_string()));
  BlockingWriteLock elsewhere(other_, "hold", monitor_);
  elsewhere.lock_with_timeout();
  OperationRunner runner(*client, sink_, patient());
  auto waiting = begin(runner, operation(), does_nothing);
  Operation free = operation();
  free.monitor += "-free";
  std::promise<void> failed;
  OperationRunOptions options;
  options.on_failure = [&](const FailedAttempt&, bool) { failed.set_value(); };
  auto backing_off = begin(runner, free, fails, options);
  ASSERT_EQ(failed.get_future().wait_for(30s), std::future_status::ready);
  Operation busy = operation();
  busy.monitor += "-busy";
  std::promise<void> entered;
  std::promise<void> may_return;
  auto working = begin(runner, busy, [&, leave = may_return.get_future().share()](OperationAttempt&) {
    entered.set_value();
    leave.wait();
  });
  entered.get_future().wait();
  wait_until_queued(1);
  client->close();
  EXPECT_EQ(result_of(waiting).code, "closed");
  may_return.set_value();
  EXPECT_EQ(result_of(working).code, "closed") << "its lock went with the client";
  const Outcome outcome = result_of(backing_off);
  EXPECT_EQ(outcome.code, "closed");
  EXPECT_THAT(outcome.message, HasSubstr("busy"));
  EXPECT_EQ(run(runner, operation(), does_nothing).code, "closed");
  EXPECT_THAT(sink_.letters(), IsEmpty());
}

TEST_P(OperationTest, WhatCannotBeRightIsRefused) {
  OperationRunner runner(client_, sink_);
  const auto code_with = [&](const std::function<void(Operation&)>& change) {
    Operation wrong = operation();
    change(wrong);
    const Outcome outcome = run(runner, wrong, [](OperationAttempt&) { ADD_FAILURE() << "called"; });
    EXPECT_THAT(outcome.message, Not(HasSubstr("opaque")));
    return outcome.code;
  };
  EXPECT_EQ(code_with([](Operation& one) { one.id = std::string(129, 'x'); }), "invalid_argument");
  EXPECT_EQ(code_with([](Operation& one) { one.id = "line\nbreak"; }), "invalid_argument");
  EXPECT_EQ(code_with([](Operation& one) { one.id = "ä"; }), "invalid_argument");
  EXPECT_EQ(code_with([](Operation& one) { one.type.clear(); }), "invalid_argument");
  EXPECT_EQ(code_with([](Operation& one) { one.type = std::string(129, 'x'); }), "invalid_argument");
  EXPECT_EQ(code_with([](Operation& one) { one.type = "\xff"; }), "invalid_argument");
  EXPECT_EQ(code_with([](Operation& one) { one.monitor.clear(); }), "invalid_argument");
  EXPECT_EQ(code_with([](Operation& one) { one.monitor = "\xc3\x28"; }), "invalid_argument");
  EXPECT_EQ(code_with([](Operation& one) { one.monitor = std::string(300, 'x'); }), "invalid_argument");
  EXPECT_EQ(code_with([](Operation& one) { one.lock_info = std::string(1025, 'x'); }), "invalid_argument");
  EXPECT_EQ(code_with([](Operation& one) { one.payload += std::string(1024 * 1024, 'x'); }), "request_too_large");
  for (const char* traceparent : {"x", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0",
                                  "00-00000000000000000000000000000000-b7ad6b7169203331-01",
                                  "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                                  "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
                                  "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more"}) {
    EXPECT_EQ(code_with([&](Operation& one) { one.traceparent = traceparent; }), "invalid_argument") << traceparent;
  }
  Operation largest = operation();
  largest.id = std::string(128, 'x');
  largest.payload = std::string(1024 * 1024, 'x');
  largest.traceparent = "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more";
  EXPECT_TRUE(run(runner, largest, does_nothing).succeeded());
}

TEST_P(OperationTest, ImpossibleOptionsAreRefused) {
  const auto refused = [this](const std::function<void(OperationRunnerOptions&)>& change) {
    OperationRunnerOptions options;
    change(options);
    EXPECT_THROW(OperationRunner(client_, sink_, options), RequestRejectedException);
  };
  refused([](OperationRunnerOptions& options) { options.backoff.initial = 0ms; });
  refused([](OperationRunnerOptions& options) { options.backoff.cap = options.backoff.initial - 1ms; });
  refused([](OperationRunnerOptions& options) { options.backoff.cap = 25h; });
  refused([](OperationRunnerOptions& options) { options.budget.burst = 0; });
  refused([](OperationRunnerOptions& options) { options.budget.burst = 1'000'001; });
  refused([](OperationRunnerOptions& options) { options.budget.retries_per_second = 0; });
  refused([](OperationRunnerOptions& options) { options.budget.retries_per_second = 0.0 / 0.0; });
  refused([](OperationRunnerOptions& options) { options.max_operations = 0; });
}

// One token, and the next one in a quarter of an hour: whoever comes second has no retry within its deadline.
TEST_P(OperationTest, RunnersOfOneClientShareTheirBudget) {
  OperationRunnerOptions options = quick();
  options.budget = {1, 0.001};
  OperationRunner first(client_, sink_, options);
  OperationRunner second(client_, sink_, quick());  // too late to say otherwise
  const Outcome served = run(second, operation(), [&](OperationAttempt& attempt) {
    if (attempt.number == 1) fails(attempt);
  });
  EXPECT_TRUE(served.succeeded()) << served.message;
  OperationRunOptions hurried;
  hurried.deadline = steady_clock::now() + 10min;
  const Outcome damped = run(first, operation(), fails, hurried);
  ASSERT_TRUE(damped.dead_lettered()) << damped.message;
  EXPECT_THAT(damped.result->attempts, SizeIs(1));
}

TEST_P(OperationTest, AChildProcessCannotUseIt) {
  OperationRunner runner(client_, sink_);
  EXPECT_TRUE(run(runner, operation(), does_nothing).succeeded());
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    try {
      if (GetParam() == "blocking") {
        runner.run(operation(), does_nothing);
      } else {
        runner.run_async(
            operation(), [](auto, auto) {}, [](auto, auto) {});
      }
    } catch (const Error& error) {
      _exit(error.code() == ErrorCode::forked ? 0 : 1);
    }
    _exit(2);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(run(runner, operation(), does_nothing).succeeded()) << "the parent is unaffected";
}

INSTANTIATE_TEST_SUITE_P(Way, OperationTest, ::testing::Values("blocking", "asynchronous"),
                         [](const auto& way) { return way.param; });

}  // namespace
}  // namespace forelock::test
