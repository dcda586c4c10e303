// The failure of an attempt, as its exception tells it.
#pragma once

#include <exception>
#include <optional>
#include <string>

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

}  // namespace forelock::client
