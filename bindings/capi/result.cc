#include "capi/result.h"

#include <new>
#include <utility>

namespace forelock::capi {
namespace {

thread_local Failure last;

}  // namespace

Failure failure_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Error& problem) {
    return {static_cast<std::int32_t>(problem.code()), problem.monitor(), problem.what(), problem.hint()};
  } catch (const InvalidHandle& problem) {
    return {FL_INVALID_HANDLE, {}, problem.what(), {}};
  } catch (const AbiMismatch& problem) {
    return {FL_ABI_MISMATCH, {}, problem.what(), {}};
  } catch (const std::bad_alloc&) {
    return {FL_OUT_OF_MEMORY, {}, "out of memory", {}};
  } catch (const std::exception& problem) {
    return {FL_INTERNAL, {}, problem.what(), {}};
  } catch (...) {
    return {FL_INTERNAL, {}, "an unknown exception", {}};
  }
}

std::int32_t fail() noexcept {
  try {
    last = failure_of(std::current_exception());
  } catch (...) {
    // The short texts need no memory.
    last.code = FL_OUT_OF_MEMORY;
    last.monitor.clear();
    last.message.clear();
    last.hint.clear();
  }
  return last.code;
}

const Failure& last_failure() noexcept {
  return last;
}

void require(bool valid, const char* problem) {
  if (!valid) throw RequestRejectedException(ErrorCode::invalid_argument, {}, problem);
}

std::string text_of(const char* text, const char* name) {
  if (text != nullptr) return text;
  throw RequestRejectedException(ErrorCode::invalid_argument, {}, std::string(name) + " is null");
}

}  // namespace forelock::capi
