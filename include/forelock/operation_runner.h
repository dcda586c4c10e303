/// \file
/// Runs operations under their locks, with retries and, after the last, the dead-letter queue.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

#include "forelock/blocking_write_lock.h"
#include "forelock/client.h"
#include "forelock/dead_letter_sink.h"
#include "forelock/operation.h"

namespace forelock {

namespace client {
class RunnerCore;
}

/// How long to wait between attempts: exponential, with full jitter (the wait is uniform between zero and the bound of
/// the attempt, so that operations which failed together do not come back together), and a cap.
/// From "Exponential Backoff And Jitter", AWS Architecture Blog.
struct BackoffOptions {
  /// The bound before the first retry; doubles with each further one. At least 1 ms.
  std::chrono::milliseconds initial{100};
  /// The bound never grows beyond. At most 24 hours.
  std::chrono::milliseconds cap{10'000};
};

/// Limits the rate of retries: each retry takes a token out of a bucket that all runners of one client share; where
/// none is left, the retry waits until one is. First attempts need none.
struct RetryBudgetOptions {
  std::uint32_t burst = 100;         ///< tokens that a full bucket holds: 1 to 1,000,000
  double retries_per_second = 50.0;  ///< how fast it fills: 0.001 to 1,000,000
};

/// Settings of a runner beyond those of the client (`elastic.request.retry.count`, the classes' time-outs).
struct OperationRunnerOptions {
  BackoffOptions backoff;               ///< between attempts
  RetryBudgetOptions budget;            ///< of the client; the first runner of a client decides
  std::size_t max_operations = 10'000;  ///< asynchronous operations under way, at most 1,000,000; more are refused
};

/// Optional parameters of one run.
struct OperationRunOptions {
  /// No attempt begins, and none waits for its lock, after this instant: an operation that has failed by then goes
  /// to the dead-letter queue with the attempts that it had, and so does, at once, one whose retry could only begin
  /// later. If it has passed already when the operation is run, nothing is attempted and no failure is reported:
  /// the caller keeps the operation (InstanceLockException, lock_timeout). It does not interrupt a handler.
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  /// Cancels the operation: waiting ends at once, and the caller keeps it (InstanceLockException, cancelled). It does
  /// not interrupt a handler; a handler that then succeeds has succeeded. It has no effect on a letter that
  /// the sink is already taking.
  std::stop_token stop = {};
  /// Called for each failed attempt, before the wait for the next; on the thread that runs the operation (asynchronous:
  /// the runner's). Exceptions that it throws are swallowed and logged.
  std::function<void(const FailedAttempt&, bool will_retry)> on_failure = {};
};

/// The arguments of a handler. Valid during the call (blocking) or until `done` was called (asynchronous).
struct OperationAttempt {
  const Operation& operation;  ///< the operation to work on
  WriteLock& lock;             ///< held: check_health(), fencing_token(), write_guarded(), stop_token()
  std::uint32_t number = 1;    ///< 1 is the first attempt
};

/// Every operation ends as exactly one of: succeeded, failed to the caller (an exception: the caller still owns it), or
/// in the dead-letter queue. One attempt: take the lock within its class's time-out, call the handler, check that
/// the lock is certain to have been held, release. If the release finds that the lock had been removed, it may have
/// been gone before the handler returned, and the attempt has failed (lock_unhealthy); a release without an answer
/// changes nothing, nor is the server asked when the lock lingers (`zookeeper.lock.linger`). What counts as retryable
/// is decided by is_retryable(ErrorCode) for this library's errors and by OperationFailure for the handler's own; any
/// other exception of a handler is code "handler_failed", not retryable. A retryable failure is tried again,
/// `elastic.request.retry.count` times at most;
/// the others, and the last, go to the sink.
///
/// At least once: a handler may be called again although an earlier call had its effect (the lock was lost meanwhile,
/// the process died). Handlers must be idempotent, or guard their effects with the fencing token or write_guarded().
///
/// Thread-safe. Must not outlive client and sink.
class FORELOCK_EXPORT OperationRunner {
 public:
  /// Does the work of one attempt; throws to say that it failed.
  using Handler = std::function<void(OperationAttempt&)>;

  /// \throws RequestRejectedException(invalid_argument) for invalid options.
  OperationRunner(Client& client, DeadLetterSink& sink, OperationRunnerOptions options = {});
  /// Cancels the asynchronous operations that wait, and returns when none is left: handlers under way are waited for,
  /// and so are completions. Must not be called from a handler or a completion, which it would wait for. No run() may
  /// be under way.
  ~OperationRunner();
  OperationRunner(const OperationRunner&) = delete;
  OperationRunner& operator=(const OperationRunner&) = delete;

  /// Runs the operation on this thread; blocks for its waits.
  /// \throws RequestRejectedException for an invalid operation (nothing was tried: invalid_argument,
  /// request_too_large), for a client that is closed or belongs to the parent process; InstanceLockException: cancelled
  /// when it was stopped, lock_timeout when its deadline had passed already; whatever the sink throws when it cannot
  /// take the letter (outbox_full, …). In all these cases the caller still owns the operation. A client that is closed
  /// meanwhile ends waiting at once. Not from a callback of this library: it blocks.
  OperationResult run(const Operation& operation, const Handler& handler, const OperationRunOptions& options = {});

  /// Ends an asynchronous attempt: with nullptr when it succeeded, else with what a Handler would have thrown. To be
  /// called exactly once, from any thread; later calls are ignored. If every copy is destroyed without having been
  /// called, the attempt has failed with "handler_failed".
  using Done = std::function<void(std::exception_ptr error)>;
  /// Begins the work of one attempt and returns at once; runs on the client's dispatcher thread, must not block. What
  /// it throws counts as given to `done`. `attempt` is usable until `done` was called; it may be kept longer, and
  /// destroyed whenever the client is still there.
  using AsyncHandler = std::function<void(std::shared_ptr<OperationAttempt> attempt, Done done)>;
  /// Called exactly once: with the result, or with what run() would have thrown. On the runner's own thread: may block,
  /// but this delays other operations' retries and completions. May call run_async(). What it throws is
  /// swallowed and logged.
  using Completion = std::function<void(OperationResult result, std::exception_ptr error)>;

  /// As run(), without blocking. Waiting operations need no threads; the sink is called on the runner's own, which is
  /// started with the first of them.
  /// \throws RequestRejectedException as run() does for what it sees at once, or overloaded when max_operations are
  /// under way, or its thread cannot be started; `completion` is not called then.
  void run_async(Operation operation, AsyncHandler handler, Completion completion, OperationRunOptions options = {});

 private:
  std::shared_ptr<client::RunnerCore> core_;
};

}  // namespace forelock
