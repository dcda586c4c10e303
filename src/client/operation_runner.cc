#include "forelock/operation_runner.h"

#include <utility>

#include "client/runner_core.h"

namespace forelock {

OperationRunner::OperationRunner(Client& client, DeadLetterSink& sink, OperationRunnerOptions options)
    : core_(std::make_shared<client::RunnerCore>(client.core(), sink, options)) {}

OperationRunner::~OperationRunner() {
  if (core_->client()->in_forked_child()) {
    // The thread that would be joined belongs to the parent: leave it all alone.
    new std::shared_ptr<client::RunnerCore>(std::move(core_));
    return;
  }
  core_->shut_down();
}

OperationResult OperationRunner::run(const Operation& operation, const Handler& handler,
                                     const OperationRunOptions& options) {
  return core_->run(operation, handler, options);
}

void OperationRunner::run_async(Operation operation, AsyncHandler handler, Completion completion,
                                OperationRunOptions options) {
  core_->run_async(std::move(operation), std::move(handler), std::move(completion), std::move(options));
}

}  // namespace forelock
