#include "forelock/version.h"

#include <string>

#include "capi/result.h"
#include "forelock/c.h"

namespace {

using forelock::ErrorCode;

constexpr bool same(ErrorCode code, fl_code number) {
  return static_cast<int>(code) == static_cast<int>(number);
}

// The numbers of the C interface are those of the C++ one.
static_assert(same(ErrorCode::lock_timeout, FL_LOCK_TIMEOUT));
static_assert(same(ErrorCode::lock_unavailable, FL_LOCK_UNAVAILABLE));
static_assert(same(ErrorCode::cancelled, FL_CANCELLED));
static_assert(same(ErrorCode::session_expired, FL_SESSION_EXPIRED));
static_assert(same(ErrorCode::connection_loss, FL_CONNECTION_LOSS));
static_assert(same(ErrorCode::no_node, FL_NO_NODE));
static_assert(same(ErrorCode::lock_unhealthy, FL_LOCK_UNHEALTHY));
static_assert(same(ErrorCode::not_authorized, FL_NOT_AUTHORIZED));
static_assert(same(ErrorCode::quota_exceeded, FL_QUOTA_EXCEEDED));
static_assert(same(ErrorCode::invalid_argument, FL_INVALID_ARGUMENT));
static_assert(same(ErrorCode::request_too_large, FL_REQUEST_TOO_LARGE));
static_assert(same(ErrorCode::write_conflict, FL_WRITE_CONFLICT));
static_assert(same(ErrorCode::not_held, FL_NOT_HELD));
static_assert(same(ErrorCode::already_held, FL_ALREADY_HELD));
static_assert(same(ErrorCode::configuration, FL_CONFIGURATION));
static_assert(same(ErrorCode::closed, FL_CLOSED));
static_assert(same(ErrorCode::forked, FL_FORKED));
static_assert(same(ErrorCode::server_error, FL_SERVER_ERROR));
static_assert(same(ErrorCode::internal, FL_INTERNAL));
static_assert(same(ErrorCode::handler_failed, FL_HANDLER_FAILED));
static_assert(same(ErrorCode::overloaded, FL_OVERLOADED));
static_assert(same(ErrorCode::outbox_full, FL_OUTBOX_FULL));
static_assert(same(ErrorCode::outbox_unavailable, FL_OUTBOX_UNAVAILABLE));
static_assert(same(ErrorCode::kafka_unavailable, FL_KAFKA_UNAVAILABLE));
static_assert(same(ErrorCode::kafka_rejected, FL_KAFKA_REJECTED));
static_assert(same(ErrorCode::record_invalid, FL_RECORD_INVALID));
static_assert(same(ErrorCode::record_too_new, FL_RECORD_TOO_NEW));
static_assert(same(ErrorCode::lock_refused, FL_LOCK_REFUSED));

constexpr bool is_error_code(std::int32_t code) {
  return code >= FL_LOCK_TIMEOUT && code <= FL_LOCK_REFUSED && code != FL_RECORD_TOO_NEW + 1;  // which is not used
}

}  // namespace

extern "C" {

const char* fl_version(void) {
  return forelock::version().data();  // a literal
}

int32_t fl_abi_version(void) {
  return FL_ABI_VERSION;
}

int32_t fl_check_abi(int32_t headers) {
  return forelock::capi::run([&] {
    if (headers >= 1 && headers <= FL_ABI_VERSION) return;
    throw forelock::capi::AbiMismatch("libforelock " + std::string(forelock::version()) +
                                      " serves headers up to version " + std::to_string(FL_ABI_VERSION) +
                                      " of the binary interface, not version " + std::to_string(headers));
  });
}

const char* fl_code_name(int32_t code) {
  switch (code) {
    case FL_OK:
      return "ok";
    case FL_INVALID_HANDLE:
      return "invalid_handle";
    case FL_OUT_OF_MEMORY:
      return "out_of_memory";
    case FL_ABI_MISMATCH:
      return "abi_mismatch";
    default:
      return is_error_code(code) ? name_of(static_cast<ErrorCode>(code)).data() : "unknown";  // literals
  }
}

int32_t fl_is_retryable(int32_t code) {
  return is_error_code(code) && is_retryable(static_cast<ErrorCode>(code)) ? 1 : 0;
}

int32_t fl_last_code(void) {
  return forelock::capi::last_failure().code;
}

const char* fl_last_message(void) {
  return forelock::capi::last_failure().message.c_str();
}

const char* fl_last_hint(void) {
  return forelock::capi::last_failure().hint.c_str();
}

const char* fl_last_monitor(void) {
  return forelock::capi::last_failure().monitor.c_str();
}
}
