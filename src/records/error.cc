#include "forelock/error.h"

#include <utility>

namespace forelock {

std::string_view name_of(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::lock_timeout:
      return "lock_timeout";
    case ErrorCode::lock_unavailable:
      return "lock_unavailable";
    case ErrorCode::lock_refused:
      return "lock_refused";
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
    case ErrorCode::handler_failed:
      return "handler_failed";
    case ErrorCode::overloaded:
      return "overloaded";
    case ErrorCode::outbox_full:
      return "outbox_full";
    case ErrorCode::outbox_unavailable:
      return "outbox_unavailable";
    case ErrorCode::kafka_unavailable:
      return "kafka_unavailable";
    case ErrorCode::kafka_rejected:
      return "kafka_rejected";
    case ErrorCode::record_invalid:
      return "record_invalid";
    case ErrorCode::record_too_new:
      return "record_too_new";
    case ErrorCode::internal:
      break;
  }
  return "internal";
}

// Every code is named, so that a new one cannot be forgotten here.
bool is_retryable(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::lock_timeout:
    case ErrorCode::lock_unavailable:
    case ErrorCode::lock_refused:
    case ErrorCode::session_expired:
    case ErrorCode::connection_loss:
    case ErrorCode::lock_unhealthy:
    case ErrorCode::overloaded:
    case ErrorCode::outbox_full:  // it empties by itself as soon as the broker takes what is in it
    case ErrorCode::kafka_unavailable:
      return true;
    case ErrorCode::cancelled:
    case ErrorCode::no_node:
    case ErrorCode::not_authorized:
    case ErrorCode::quota_exceeded:
    case ErrorCode::invalid_argument:
    case ErrorCode::request_too_large:
    case ErrorCode::write_conflict:
    case ErrorCode::not_held:
    case ErrorCode::already_held:
    case ErrorCode::configuration:
    case ErrorCode::closed:
    case ErrorCode::forked:
    case ErrorCode::server_error:
    case ErrorCode::internal:
    case ErrorCode::handler_failed:
    case ErrorCode::outbox_unavailable:
    case ErrorCode::kafka_rejected:
    case ErrorCode::record_invalid:
    case ErrorCode::record_too_new:
      break;
  }
  return false;
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
