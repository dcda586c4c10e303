// The implementation of a runner.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "client/attempt_lock.h"
#include "client/client_core.h"
#include "client/operation_run.h"
#include "client/runner_thread.h"
#include "forelock/operation_runner.h"

namespace forelock::client {

class AsyncOperation;

// Thread-safe.
class RunnerCore {
 public:
  // \throws RequestRejectedException(invalid_argument).
  RunnerCore(std::shared_ptr<ClientCore> core, DeadLetterSink& sink, OperationRunnerOptions options);
  ~RunnerCore();

  OperationResult run(const Operation& operation, const OperationRunner::Handler& handler,
                      const OperationRunOptions& options);
  void run_async(Operation operation, OperationRunner::AsyncHandler handler, OperationRunner::Completion completion,
                 OperationRunOptions options);
  // Withdraws the asynchronous operations and waits until none is left. Not from one of their callbacks.
  void shut_down();

  // --- for AsyncOperation ---

  const std::shared_ptr<ClientCore>& client() const { return core_; }
  const OperationRunnerOptions& options() const { return options_; }
  // To the sink, on the runner's thread. While the runner shuts down, a sink that fails only after long waits (blocked
  // by another process, say) is not asked again for each letter. \throws what the sink throws, or has thrown before.
  void accept(const DeadLetter& letter);
  retry::RetryBudget& budget() const { return budget_; }
  RunnerThread& thread() { return thread_; }
  void forget(const std::shared_ptr<AsyncOperation>& operation);

  // Calls code of the host that must not end anything by throwing; what it throws is logged.
  void guarded(std::string_view what, const std::function<void()>& call) const;
  void tell(const OperationRunOptions& options, const std::vector<FailedAttempt>& news, bool will_retry) const;

 private:
  std::vector<std::shared_ptr<AsyncOperation>> operations();
  void attempt(OperationRun& run, const OperationRunner::Handler& handler, const OperationRunOptions& options) const;
  bool release(AttemptLock& lock) const;
  void wait_for_retry(OperationRun& run, const OperationRunOptions& options) const;

  const std::shared_ptr<ClientCore> core_;
  DeadLetterSink& sink_;
  const OperationRunnerOptions options_;
  retry::RetryBudget& budget_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::unordered_set<std::shared_ptr<AsyncOperation>> operations_;
  bool shutting_down_ = false;
  // Of the runner's thread: what the sink has thrown last, and how long it has taken to do so since its last success.
  std::exception_ptr sink_failure_;
  std::chrono::steady_clock::duration sink_failing_for_{0};
  RunnerThread thread_;
  // The last member: its end waits for the call that it may be in.
  std::stop_callback<std::function<void()>> client_closed_;
};

}  // namespace forelock::client
