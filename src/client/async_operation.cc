#include "client/async_operation.h"

#include <atomic>
#include <utility>
#include <vector>

#include "client/attempt_failure.h"
#include "client/clock.h"
#include "client/runner_core.h"

namespace forelock::client {

using retry::OperationStage;

// Behind all copies of one attempt's `done`: the first call counts, and so does the end of the last copy without any.
class AsyncOperation::DoneOnce {
 public:
  DoneOnce(std::shared_ptr<AsyncOperation> operation, std::uint32_t attempt)
      : operation_(std::move(operation)), attempt_(attempt) {}
  ~DoneOnce() {
    if (called_.load()) return;
    call(std::make_exception_ptr(OperationFailure(std::string(name_of(ErrorCode::handler_failed)),
                                                  "the handler has dropped its `done` without calling it", false)));
  }
  DoneOnce(const DoneOnce&) = delete;
  DoneOnce& operator=(const DoneOnce&) = delete;

  void call(std::exception_ptr error) {
    if (!called_.exchange(true)) operation_->handler_ended(attempt_, std::move(error));
  }

 private:
  const std::shared_ptr<AsyncOperation> operation_;
  const std::uint32_t attempt_;
  std::atomic<bool> called_{false};
};

AsyncOperation::AsyncOperation(RunnerCore& runner, Operation operation, Handler handler, Completion completion,
                               OperationRunOptions options)
    : runner_(runner),
      core_(*runner.client()),
      options_(std::move(options)),
      run_(core_, std::move(operation), runner.options().backoff, runner.budget(), from_steady(options_.deadline)),
      handler_(std::move(handler)),
      completion_(std::move(completion)) {}

void AsyncOperation::start() {
  stop_callback_.emplace(options_.stop, [this] { withdraw(); });
  bool begins = false;
  {
    const std::lock_guard guard(mutex_);
    run_.start();
    begins = run_.machine().stage() == OperationStage::locking;
  }
  if (begins) begin_attempt();
  leave();
}

void AsyncOperation::withdraw() {
  std::shared_ptr<AttemptLock> waiting;
  {
    const std::lock_guard guard(mutex_);
    if (ended_) return;
    run_.stop();
    if (run_.machine().over()) post();
    if (awaiting_ == Awaiting::lock) waiting = lock_;
  }
  if (waiting) waiting->slot().cancel();
}

void AsyncOperation::client_closed() {
  const std::lock_guard guard(mutex_);
  if (ended_) return;
  const Awaiting awaiting = awaiting_;
  if (awaiting == Awaiting::lock || awaiting == Awaiting::release) awaiting_ = Awaiting::nothing;
  if (awaiting == Awaiting::lock) {
    refused(std::make_exception_ptr(
        RequestRejectedException(ErrorCode::closed, run_.operation().monitor, "the client is closed")));
  } else if (awaiting == Awaiting::release) {
    run_.handler_succeeded(true);
  } else if (run_.machine().stage() == OperationStage::waiting) {
    run_.client_closed();
  }
  post();
}

// --- an attempt ---

void AsyncOperation::begin_attempt() {
  std::uint32_t attempt = 0;
  try {
    const auto lock = std::make_shared<AttemptLock>(runner_.client(), run_.operation());
    lock::TimePoint deadline;
    {
      const std::lock_guard guard(mutex_);
      attempt = run_.machine().attempt();
      deadline = run_.begin_waiting();
      lock_ = lock;
      awaiting_ = Awaiting::lock;
    }
    lock->slot().acquire(deadline, false, [self = shared_from_this(), attempt](const std::exception_ptr& error) {
      self->lock_answered(attempt, error);
    });
    // Both may have come just before there was something to withdraw.
    bool withdrawn = false;
    {
      const std::lock_guard guard(mutex_);
      withdrawn = run_.machine().stop_requested();
    }
    if (withdrawn) lock->slot().cancel();
    if (core_.closed().stop_requested()) client_closed();
  } catch (...) {
    const std::lock_guard guard(mutex_);
    if (awaiting_ == Awaiting::lock || lock_ == nullptr) {
      awaiting_ = Awaiting::nothing;
      refused(std::current_exception());
      post();
    }
  }
}

void AsyncOperation::refused(const std::exception_ptr& error) {
  try {
    run_.refused(error);
  } catch (...) {
    broken_ = std::current_exception();
  }
}

// On the dispatcher.
void AsyncOperation::lock_answered(std::uint32_t attempt, const std::exception_ptr& error) {
  std::shared_ptr<AttemptLock> lock;
  {
    const std::lock_guard guard(mutex_);
    if (awaiting_ != Awaiting::lock || run_.machine().attempt() != attempt) return;
    awaiting_ = Awaiting::nothing;
    lock = lock_;
    if (error) {
      refused(error);
    } else {
      run_.granted();
    }
    if (run_.machine().stage() == OperationStage::working) {
      awaiting_ = Awaiting::handler;
      ++busy_;
    } else {
      post();
    }
    if (awaiting_ != Awaiting::handler) return;  // a lock that was granted too late goes with its object
  }
  call_handler(attempt, lock);
  leave();
}

void AsyncOperation::call_handler(std::uint32_t attempt, const std::shared_ptr<AttemptLock>& lock) {
  struct Held {
    std::shared_ptr<AsyncOperation> operation;
    std::shared_ptr<AttemptLock> lock;
    OperationAttempt attempt;
  };
  try {
    const auto once = std::make_shared<DoneOnce>(shared_from_this(), attempt);
    try {
      const auto held = std::make_shared<Held>(Held{shared_from_this(), lock, {run_.operation(), *lock, attempt}});
      handler_(std::shared_ptr<OperationAttempt>(held, &held->attempt),
               [once](std::exception_ptr error) { once->call(std::move(error)); });
    } catch (...) {
      once->call(std::current_exception());
    }
  } catch (...) {
    handler_ended(attempt, std::current_exception());
  }
}

// On any thread.
void AsyncOperation::handler_ended(std::uint32_t attempt, std::exception_ptr error) {
  std::shared_ptr<AttemptLock> lock;
  {
    const std::lock_guard guard(mutex_);
    if (awaiting_ != Awaiting::handler || run_.machine().attempt() != attempt) return;
    awaiting_ = Awaiting::nothing;
    lock = lock_;
  }
  if (!error && !lock->healthy()) {
    try {
      lock->check_health();
    } catch (...) {
      error = std::current_exception();
    }
  }
  if (!error) return release(attempt, lock);
  lock->slot().release_detached();
  const std::lock_guard guard(mutex_);
  run_.handler_failed(error);
  post();
}

void AsyncOperation::release(std::uint32_t attempt, const std::shared_ptr<AttemptLock>& lock) {
  {
    const std::lock_guard guard(mutex_);
    awaiting_ = Awaiting::release;
    // As long as unlock() waits: what is certain needs no confirmation, and the release goes on behind it.
    timer_ = runner_.thread().post_at(deadline_after(core_.settings().session_timeout()),
                                      [self = shared_from_this(), attempt] { self->release_answered(attempt, true); });
  }
  lock->slot().release([self = shared_from_this(), attempt](const std::exception_ptr& error) {
    self->release_answered(attempt, !says_lock_was_gone(error));
  });
  if (core_.closed().stop_requested()) client_closed();
}

void AsyncOperation::release_answered(std::uint32_t attempt, bool certain) {
  const std::lock_guard guard(mutex_);
  if (awaiting_ != Awaiting::release || run_.machine().attempt() != attempt) return;
  awaiting_ = Awaiting::nothing;
  run_.handler_succeeded(certain);
  post();
}

// --- on the runner's thread ---

void AsyncOperation::leave() {
  const std::lock_guard guard(mutex_);
  --busy_;
  post();
}

// Under the mutex: as long as it is held, the operation cannot end, so the runner is there.
void AsyncOperation::post() {
  const OperationStage stage = run_.machine().stage();
  const bool goes_on = stage != OperationStage::locking && stage != OperationStage::working;
  if (goes_on || broken_) runner_.thread().post([self = shared_from_this()] { self->proceed(); });
}

void AsyncOperation::proceed() {
  std::shared_ptr<AttemptLock> finished;
  std::vector<FailedAttempt> news;
  OperationStage stage = OperationStage::failed;
  {
    const std::lock_guard guard(mutex_);
    if (ended_ || busy_ > 0) return;
    if (!broken_) stage = run_.machine().stage();
    if (stage == OperationStage::locking || stage == OperationStage::working) return;
    if (timer_) runner_.thread().cancel(*std::exchange(timer_, std::nullopt));
    finished = std::move(lock_);
    news = run_.take_news();
  }
  finished.reset();
  runner_.tell(options_, news, stage == OperationStage::waiting);
  if (stage == OperationStage::waiting) return wait_for_retry();
  if (stage == OperationStage::surrendering) surrender();
  end();
}

void AsyncOperation::wait_for_retry() {
  {
    const std::lock_guard guard(mutex_);
    if (run_.machine().stage() != OperationStage::waiting) return;
    timer_ = runner_.thread().post_at(run_.machine().wake_at(), [self = shared_from_this()] { self->time_is_up(); });
  }
  if (core_.closed().stop_requested()) client_closed();
}

void AsyncOperation::time_is_up() {
  {
    const std::lock_guard guard(mutex_);
    timer_.reset();
    if (ended_ || run_.machine().stage() != OperationStage::waiting) return;
    run_.due();
    if (run_.machine().stage() != OperationStage::locking) return post();
  }
  begin_attempt();
}

void AsyncOperation::surrender() {
  try {
    const DeadLetter letter = [this] {
      const std::lock_guard guard(mutex_);
      return run_.letter();
    }();
    runner_.accept(letter);
    const std::lock_guard guard(mutex_);
    run_.sink_took();
  } catch (...) {
    const std::lock_guard guard(mutex_);
    run_.sink_refused(std::current_exception());
  }
}

void AsyncOperation::end() {
  OperationResult result;
  std::exception_ptr error;
  {
    const std::lock_guard guard(mutex_);
    ended_ = true;
    try {
      if (broken_) std::rethrow_exception(broken_);
      if (run_.machine().stage() == OperationStage::failed) std::rethrow_exception(run_.error());
      result = run_.result();
    } catch (...) {
      error = std::current_exception();
    }
  }
  stop_callback_.reset();
  runner_.guarded("an operation's completion", [&] { completion_(std::move(result), error); });
  completion_ = nullptr;
  handler_ = nullptr;
  runner_.forget(shared_from_this());
}

}  // namespace forelock::client
