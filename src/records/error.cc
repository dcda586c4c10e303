#include "forelock/error.h"

#include <utility>

namespace forelock {

std::string_view name_of(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::lock_timeout:
      return "lock_timeout";
    case ErrorCode::lock_unavailable:
      return "lock_unavailable";
    case ErrorCode::cancelled:
      return "cancelled";
    case ErrorCode::session_expired:
      return "session_expired";
    case ErrorCode::connection_loss:
      return "connection_loss";
    case ErrorCode::no_node:
      return "no_node";
    case ErrorCode::lock_unhealthy:
      return "lock_unhealthy";
    case ErrorCode::not_authorized:
      return "not_authorized";
    case ErrorCode::quota_exceeded:
      return "quota_exceeded";
    case ErrorCode::invalid_argument:
      return "invalid_argument";
    case ErrorCode::request_too_large:
      return "request_too_large";
    case ErrorCode::write_conflict:
      return "write_conflict";
    case ErrorCode::not_held:
      return "not_held";
    case ErrorCode::already_held:
      return "already_held";
    case ErrorCode::configuration:
      return "configuration";
    case ErrorCode::closed:
      return "closed";
    case ErrorCode::forked:
      return "forked";
    case ErrorCode::server_error:
      return "server_error";
    case ErrorCode::internal:
      break;
  }
  return "internal";
}

bool is_retryable(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::lock_timeout:
    case ErrorCode::lock_unavailable:
    case ErrorCode::session_expired:
    case ErrorCode::connection_loss:
    case ErrorCode::lock_unhealthy:
      return true;
    default:
      return false;
  }
}

Error::Error(ErrorCode code, std::string monitor, const std::string& message, std::string hint)
    : std::runtime_error(message), code_(code), monitor_(std::move(monitor)), hint_(std::move(hint)) {}

// Out of line, so that each class has one type_info and can be caught across shared libraries.
Error::~Error() = default;
InstanceLockException::~InstanceLockException() = default;
SessionExpiredException::~SessionExpiredException() = default;
ConnectionLossException::~ConnectionLossException() = default;
NoNodeException::~NoNodeException() = default;
LockUnhealthyException::~LockUnhealthyException() = default;
RequestRejectedException::~RequestRejectedException() = default;

}  // namespace forelock
