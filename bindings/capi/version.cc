#include "forelock/version.h"

#include <string>

#include "capi/result.h"
#include "forelock/c.h"

namespace {

using forelock::ErrorCode;

// An unknown one has the name of the last resort.
bool is_error_code(std::int32_t code) {
  return code == FL_INTERNAL || name_of(static_cast<ErrorCode>(code)) != name_of(ErrorCode::internal);
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
  return is_retryable(static_cast<ErrorCode>(code)) ? 1 : 0;
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
