// Failures in the form of a dead letter: the exception of an attempt, and the process that gives the operation up.
#pragma once

#include <exception>
#include <optional>
#include <string>

#include "forelock/dead_letter_sink.h"
#include "forelock/error.h"

namespace forelock::client {

struct AttemptFailure {
  std::string code;
  std::string message;
  bool retryable = false;
  std::optional<ErrorCode> known = {};  // if it is an Error of this library
};

// OperationFailure and Error speak for themselves; of everything else nothing is known: handler_failed.
AttemptFailure describe_failure(const std::exception_ptr& error);

// Of what a release ended with: the lock had been removed before, perhaps before the work under it was done.
bool says_lock_was_gone(const std::exception_ptr& error);

// This process. `instance`: the client's, `host/pid`.
DeadLetterOrigin letter_origin(const std::string& instance);

}  // namespace forelock::client
