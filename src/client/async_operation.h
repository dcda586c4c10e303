// One asynchronous run of an operation.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>

#include "client/attempt_lock.h"
#include "client/operation_run.h"
#include "client/runner_thread.h"
#include "forelock/operation_runner.h"

namespace forelock::client {

class RunnerCore;

// What happens to an operation comes from four sides: the dispatcher (the lock's answer, and there the handler is
// called), callers of `done`, callers that stop it, and the runner's thread. All of them tell the machine under
// this object's mutex; what follows from it is done on the runner's thread, in proceed(). User code is called without
// the mutex, and no lock object dies under it: that may wait for a callback.
class AsyncOperation : public std::enable_shared_from_this<AsyncOperation> {
 public:
  using Handler = OperationRunner::AsyncHandler;
  using Completion = OperationRunner::Completion;

  // \throws RequestRejectedException as OperationRun.
  AsyncOperation(RunnerCore& runner, Operation operation, Handler handler, Completion completion,
                 OperationRunOptions options);

  void start();
  // The caller, or the runner's end, wants it back. From any thread.
  void withdraw();
  // The client is closed: the dispatcher has ended, so some answers will never come.
  void client_closed();

 private:
  class DoneOnce;

  void begin_attempt();
  void lock_answered(std::uint32_t attempt, const std::exception_ptr& error);
  void call_handler(std::uint32_t attempt, const std::shared_ptr<AttemptLock>& lock);
  void handler_ended(std::uint32_t attempt, std::exception_ptr error);
  void release(std::uint32_t attempt, const std::shared_ptr<AttemptLock>& lock);
  void refused(const std::exception_ptr& error);
  void release_answered(std::uint32_t attempt, bool certain);
  void leave();
  void post();

  // --- on the runner's thread ---
  void proceed();
  void wait_for_retry();
  void time_is_up();
  void surrender();
  void end();

  // Which answer of the attempt under way is outstanding: the first to give it is heard, the others are not.
  enum class Awaiting { nothing, lock, handler, release };

  RunnerCore& runner_;
  ClientCore& core_;
  const OperationRunOptions options_;

  std::mutex mutex_;
  OperationRun run_;
  Awaiting awaiting_ = Awaiting::nothing;
  // Calls of start() and of the handler that have not returned yet: until then there is no proceeding.
  int busy_ = 1;
  std::exception_ptr broken_;  // what is neither a failure nor a refusal, such as a lack of memory
  bool ended_ = false;
  std::shared_ptr<AttemptLock> lock_;  // of the attempt under way
  std::optional<RunnerThread::TimerId> timer_;

  Handler handler_;
  Completion completion_;
  std::optional<std::stop_callback<std::function<void()>>> stop_callback_;
};

}  // namespace forelock::client
