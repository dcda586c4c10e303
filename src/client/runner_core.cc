#include "client/runner_core.h"

#include <string>
#include <utility>
#include <vector>

#include "client/async_operation.h"
#include "client/attempt_failure.h"
#include "client/attempt_lock.h"
#include "client/clock.h"
#include "client/operation_check.h"

namespace forelock::client {

using retry::OperationStage;

namespace {

// How long the end of a runner waits, in all, for a sink that takes nothing.
constexpr std::chrono::seconds patience_with_sink{1};

}  // namespace

RunnerCore::RunnerCore(std::shared_ptr<ClientCore> core, DeadLetterSink& sink, OperationRunnerOptions options)
    : core_(std::move(core)),
      sink_(sink),
      options_((check(options), options)),
      budget_(core_->retry_budget(options.budget.burst, options.budget.retries_per_second)),
      client_closed_(core_->closed(), [this] {
        for (const auto& operation : operations()) operation->client_closed();
      }) {}

RunnerCore::~RunnerCore() {
  shut_down();
}

// --- blocking ---

OperationResult RunnerCore::run(const Operation& operation, const OperationRunner::Handler& handler,
                                const OperationRunOptions& options) {
  core_->check_usable();
  OperationRun run(*core_, operation, options_.backoff, budget_, from_steady(options.deadline));
  if (!handler) throw RequestRejectedException(ErrorCode::invalid_argument, operation.monitor, "there is no handler");
  if (options.stop.stop_requested()) run.stop();
  run.start();
  while (true) {
    const OperationStage stage = run.machine().stage();
    tell(options, run.take_news(), stage == OperationStage::waiting);
    switch (stage) {
      case OperationStage::locking:
        attempt(run, handler, options);
        break;
      case OperationStage::waiting:
        wait_for_retry(run, options);
        break;
      case OperationStage::surrendering:
        sink_.accept(run.letter());  // what it throws is the caller's
        run.sink_took();
        break;
      case OperationStage::failed:
        std::rethrow_exception(run.error());
      default:
        return run.result();
    }
  }
}

void RunnerCore::attempt(OperationRun& run, const OperationRunner::Handler& handler,
                         const OperationRunOptions& options) const {
  AttemptLock lock(core_, run.operation());
  const lock::TimePoint deadline = run.begin_waiting();
  try {
    const auto acquisition = lock.slot().acquire(deadline, false);
    const std::stop_callback withdraw(options.stop, [&lock] { lock.slot().cancel(); });
    const auto refusal = lock.slot().wait(acquisition, deadline);
    if (options.stop.stop_requested()) run.stop();
    if (refusal) std::rethrow_exception(lock.slot().error_of(*refusal, true));
  } catch (const Error&) {
    return run.refused(std::current_exception());
  }
  run.granted();
  if (run.machine().stage() != OperationStage::working) return;  // withdrawn; the lock goes with its object
  std::exception_ptr failure;
  try {
    OperationAttempt attempt{run.operation(), lock, run.machine().attempt()};
    handler(attempt);
    lock.check_health();
  } catch (...) {
    failure = std::current_exception();
  }
  // In the child of a handler that forks, nothing of this is ours.
  if (core_->in_forked_child()) core_->check_usable();
  const bool certain = !failure && release(lock);
  if (options.stop.stop_requested()) run.stop();
  if (!failure) return run.handler_succeeded(certain);
  lock.slot().release_detached();
  run.handler_failed(failure);
}

// Whether it was still there to be released. Without confirmation, what was certain before remains so.
bool RunnerCore::release(AttemptLock& lock) const {
  try {
    lock.slot().release_and_wait();
  } catch (const Error&) {
    return !says_lock_was_gone(std::current_exception());
  }
  return true;
}

void RunnerCore::wait_for_retry(OperationRun& run, const OperationRunOptions& options) const {
  std::mutex mutex;
  std::condition_variable changed;
  const std::stop_token closed = core_->closed();
  const auto wake = [&] {
    const std::lock_guard guard(mutex);
    changed.notify_all();
  };
  const std::stop_callback on_stop(options.stop, wake);
  const std::stop_callback on_close(closed, wake);
  {
    std::unique_lock guard(mutex);
    changed.wait_until(guard, to_steady(run.machine().wake_at()),
                       [&] { return options.stop.stop_requested() || closed.stop_requested(); });
  }
  if (options.stop.stop_requested()) return run.stop();
  if (closed.stop_requested()) return run.client_closed();
  run.due();
}

// --- asynchronous ---

void RunnerCore::run_async(Operation operation, OperationRunner::AsyncHandler handler,
                           OperationRunner::Completion completion, OperationRunOptions options) {
  core_->check_usable();
  const std::string monitor = operation.monitor;
  if (!handler || !completion) {
    throw RequestRejectedException(ErrorCode::invalid_argument, monitor, "there is no handler, or no completion");
  }
  const auto run = std::make_shared<AsyncOperation>(*this, std::move(operation), std::move(handler),
                                                    std::move(completion), std::move(options));
  thread_.start();
  {
    const std::lock_guard guard(mutex_);
    if (shutting_down_) throw RequestRejectedException(ErrorCode::closed, monitor, "the operation runner is closed");
    if (operations_.size() >= options_.max_operations) {
      throw RequestRejectedException(ErrorCode::overloaded, monitor,
                                     std::to_string(operations_.size()) + " operations are under way already",
                                     "begin the next when one has ended, or raise max_operations");
    }
    operations_.insert(run);
  }
  run->start();
}

std::vector<std::shared_ptr<AsyncOperation>> RunnerCore::operations() {
  const std::lock_guard guard(mutex_);
  return {operations_.begin(), operations_.end()};
}

void RunnerCore::accept(const DeadLetter& letter) {
  const bool closing = [this] {
    const std::lock_guard guard(mutex_);
    return shutting_down_;
  }();
  if (closing && sink_failing_for_ >= patience_with_sink) std::rethrow_exception(sink_failure_);
  const auto begun = std::chrono::steady_clock::now();
  try {
    sink_.accept(letter);
  } catch (...) {
    sink_failure_ = std::current_exception();
    if (closing) sink_failing_for_ += std::chrono::steady_clock::now() - begun;
    throw;
  }
  sink_failure_ = nullptr;
  sink_failing_for_ = {};
}

void RunnerCore::forget(const std::shared_ptr<AsyncOperation>& operation) {
  const std::lock_guard guard(mutex_);
  operations_.erase(operation);
  if (operations_.empty()) changed_.notify_all();
}

void RunnerCore::shut_down() {
  {
    const std::lock_guard guard(mutex_);
    shutting_down_ = true;
  }
  for (const auto& operation : operations()) operation->withdraw();
  {
    std::unique_lock guard(mutex_);
    changed_.wait(guard, [this] { return operations_.empty(); });
  }
  thread_.stop();
}

// --- the host's code ---

void RunnerCore::guarded(std::string_view what, const std::function<void()>& call) const {
  try {
    call();
  } catch (const std::exception& problem) {
    core_->log("error", std::string(what) + " has thrown: " + problem.what());
  } catch (...) {
    core_->log("error", std::string(what) + " has thrown");
  }
}

void RunnerCore::tell(const OperationRunOptions& options, const std::vector<FailedAttempt>& news,
                      bool will_retry) const {
  if (!options.on_failure) return;
  for (const FailedAttempt& attempt : news) {
    guarded("an operation's on_failure", [&] { options.on_failure(attempt, will_retry); });
  }
}

}  // namespace forelock::client
