#include "capi/lock_arguments.h"

#include <algorithm>
#include <string_view>

#include "capi/owner.h"
#include "capi/result.h"
#include "capi/structure.h"
#include "client/clock.h"

namespace forelock::capi {
namespace {

std::string data_of(const fl_write& write) {
  require(write.data != nullptr || write.length == 0, "the data of a write is null");
  return write.length == 0 ? std::string() : std::string(static_cast<const char*>(write.data), write.length);
}

WriteOperation write_of(const fl_write& write) {
  switch (write.kind) {
    case FL_WRITE_CREATE:
      return CreateNode{text_of(write.path, "path"), data_of(write)};
    case FL_WRITE_SET:
      return SetNode{text_of(write.path, "path"), data_of(write), write.version};
    case FL_WRITE_DELETE:
      return DeleteNode{text_of(write.path, "path"), write.version};
    case FL_WRITE_CHECK:
      return CheckNode{text_of(write.path, "path"), write.version};
    default:
      throw RequestRejectedException(ErrorCode::invalid_argument, {},
                                     "a write of unknown kind " + std::to_string(write.kind));
  }
}

}  // namespace

Priority priority_of(int32_t priority) {
  for (const Priority known : all_priorities) {
    if (priority == to_c(known)) return known;
  }
  throw RequestRejectedException(ErrorCode::invalid_argument, {}, "the priority is not a fl_priority");
}

LockOptions options_of(const fl_lock_options* given) {
  const fl_lock_options options = read_structure(given);
  const auto expected_runtime = duration_of(options.expected_runtime_ms, "a duration is negative");
  const auto auto_unlock_after = duration_of(options.auto_unlock_after_ms, "a duration is negative");
  LockOptions result;
  if (options.expected_runtime_ms > 0) result.expected_runtime = expected_runtime;
  if (options.auto_unlock_after_ms > 0) result.auto_unlock_after = auto_unlock_after;
  result.capture_stack = options.capture_stack != 0;
  result.thread_name = text_or_empty(options.thread_name);
  constexpr std::uint64_t admission = FL_LOCK_ADMISSION_REFUSE | FL_LOCK_ADMISSION_OFF;
  require((options.flags & ~(FL_LOCK_NO_LINGER | FL_LOCK_KEEP_MONITOR | admission)) == 0, "unknown flags");
  require((options.flags & admission) != admission, "two flags for admission");
  require(options.queue_max >= FL_UNLIMITED, "queue_max is negative");
  result.may_linger = (options.flags & FL_LOCK_NO_LINGER) == 0;
  result.keep_monitor = (options.flags & FL_LOCK_KEEP_MONITOR) != 0;
  if ((options.flags & FL_LOCK_ADMISSION_REFUSE) != 0) result.admission = Admission::refuse;
  if ((options.flags & FL_LOCK_ADMISSION_OFF) != 0) result.admission = Admission::off;
  if (options.queue_max > 0) result.queue_max = static_cast<std::size_t>(options.queue_max);
  if (options.queue_max == FL_UNLIMITED) result.queue_max = 0;
  return result;
}

std::vector<std::string> stack_of(const char* lines) {
  constexpr std::size_t most_lines = 32;
  constexpr std::size_t most_bytes = 4096;
  std::vector<std::string> stack;
  std::string_view left = lines == nullptr ? std::string_view() : std::string_view(lines);
  left = left.substr(0, most_bytes);
  while (!left.empty() && stack.size() < most_lines) {
    const std::size_t end = std::min(left.find('\n'), left.size());
    if (end > 0) stack.emplace_back(left.substr(0, end));
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  return stack;
}

std::chrono::milliseconds duration_of(std::int64_t duration_ms, const char* problem) {
  constexpr std::chrono::hours most{24 * 36'500};
  require(duration_ms >= 0, problem);
  return std::min<std::chrono::milliseconds>(std::chrono::milliseconds(duration_ms), most);
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
  return static_cast<std::int64_t>(reason);  // of both the numbers are generated
}

Event event_of(int32_t kind, fl_handle source, uint64_t tag, const std::exception_ptr& error,
               const std::string& monitor) {
  Event event{.kind = kind, .source = source, .tag = tag};
  if (error) event.failure = failure_of(error);
  if (event.failure.monitor.empty()) event.failure.monitor = monitor;
  return event;
}

std::int32_t state_of(LockState state) {
  return static_cast<std::int32_t>(state);  // of both the numbers are generated
}

std::vector<WriteOperation> writes_of(const fl_write* writes, std::size_t count) {
  require(writes != nullptr || count == 0, "the writes are null");
  std::vector<WriteOperation> result;
  for (std::size_t i = 0; i < count; ++i) result.push_back(write_of(writes[i]));
  return result;
}

void tell_versions(const std::vector<WriteResult>& results, std::int32_t* versions) {
  if (versions == nullptr) return;
  for (std::size_t i = 0; i < results.size(); ++i) versions[i] = results[i].version;
}

std::int64_t count_ns(std::chrono::steady_clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

}  // namespace forelock::capi
