#include "client/attempt_failure.h"

#include <unistd.h>

#include "forelock/operation.h"
#include "forelock/version.h"

namespace forelock::client {

AttemptFailure describe_failure(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const OperationFailure& failure) {
    return {failure.code(), failure.what(), failure.retryable()};
  } catch (const Error& failure) {
    return {std::string(name_of(failure.code())), failure.what(), failure.retryable(), failure.code()};
  } catch (const std::exception& failure) {
    return {std::string(name_of(ErrorCode::handler_failed)), failure.what(), false};
  } catch (...) {
    return {std::string(name_of(ErrorCode::handler_failed)),
            "the handler threw an exception that is not a std::exception", false};
  }
}

bool says_lock_was_gone(const std::exception_ptr& error) {
  return error && describe_failure(error).known == ErrorCode::no_node;
}

DeadLetterOrigin letter_origin(const std::string& instance) {
  DeadLetterOrigin origin;
  origin.host = instance.substr(0, instance.find('/'));
  origin.pid = getpid();
  origin.instance = instance;
  origin.version = version();
  return origin;
}

}  // namespace forelock::client
