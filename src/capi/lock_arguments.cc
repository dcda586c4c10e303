#include "capi/lock_arguments.h"

#include "capi/owner.h"
#include "capi/result.h"
#include "capi/structure.h"
#include "client/clock.h"

namespace forelock::capi {

Priority priority_of(int32_t priority) {
  for (const Priority known : all_priorities) {
    if (priority == to_c(known)) return known;
  }
  throw RequestRejectedException(ErrorCode::invalid_argument, {}, "the priority is not a fl_priority");
}

LockOptions options_of(const fl_lock_options* given) {
  const fl_lock_options options = read_structure(given);
  require(options.expected_runtime_ms >= 0 && options.auto_unlock_after_ms >= 0, "a duration is negative");
  LockOptions result;
  if (options.expected_runtime_ms > 0) result.expected_runtime.emplace(options.expected_runtime_ms);
  if (options.auto_unlock_after_ms > 0) result.auto_unlock_after.emplace(options.auto_unlock_after_ms);
  result.capture_stack = options.capture_stack != 0;
  result.thread_name = text_or_empty(options.thread_name);
  return result;
}

lock::TimePoint deadline_of(const client::ClientCore& core, Priority priority, int64_t timeout_ms) {
  if (timeout_ms == FL_FOREVER) return lock::never;
  if (timeout_ms == FL_CONFIGURED) {
    return client::deadline_after(core.settings().timeout(priority));
  }
  require(timeout_ms >= 0, "the time-out is negative");
  return client::deadline_after(std::chrono::milliseconds(timeout_ms));
}

std::int64_t loss_of(LossReason reason) {
  switch (reason) {
    case LossReason::deadline_passed:
      return FL_LOSS_DEADLINE_PASSED;
    case LossReason::session_expired:
      return FL_LOSS_SESSION_EXPIRED;
    case LossReason::removed:
      return FL_LOSS_REMOVED;
    case LossReason::closed:
      break;
  }
  return FL_LOSS_CLOSED;
}

Event event_of(int32_t kind, fl_handle source, uint64_t tag, const std::exception_ptr& error,
               const std::string& monitor) {
  Event event{.kind = kind, .source = source, .tag = tag};
  if (error) event.failure = failure_of(error);
  if (event.failure.monitor.empty()) event.failure.monitor = monitor;
  return event;
}

std::int32_t state_of(LockState state) {
  switch (state) {
    case LockState::free:
      return FL_STATE_FREE;
    case LockState::waiting:
      return FL_STATE_WAITING;
    case LockState::held:
      return FL_STATE_HELD;
    case LockState::suspect:
      return FL_STATE_SUSPECT;
    case LockState::lost:
      break;
  }
  return FL_STATE_LOST;
}

std::int64_t count_ns(std::chrono::steady_clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

}  // namespace forelock::capi
