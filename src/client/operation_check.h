// Checks an operation, and the options of its runner.
#pragma once

#include "forelock/operation.h"
#include "forelock/operation_runner.h"

namespace forelock::client {

// The operation as it is run: with an id, and with something to say what its lock is for.
// \throws RequestRejectedException: request_too_large for the payload, invalid_argument for everything else. Says what
// and why; never quotes the payload.
Operation checked(Operation operation);

// \throws RequestRejectedException(invalid_argument).
void check(const OperationRunnerOptions& options);

}  // namespace forelock::client
