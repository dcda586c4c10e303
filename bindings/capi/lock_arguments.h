// Arguments and answers that single locks and lock sets have in common, between C and C++.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <vector>

#include "capi/event_queue.h"
#include "client/client_core.h"
#include "forelock/c.h"
#include "forelock/write_lock.h"
#include "forelock/write_operation.h"

namespace forelock::capi {

// \throws RequestRejectedException(invalid_argument), as the next three.
Priority priority_of(std::int32_t priority);
LockOptions options_of(const fl_lock_options* given);
std::vector<std::string> stack_of(const char* lines);  // null: empty
lock::TimePoint deadline_of(const client::ClientCore& core, Priority priority, std::int64_t timeout_ms);
std::vector<WriteOperation> writes_of(const fl_write* writes, std::size_t count);

// A time that the caller names; where it is longer than anyone waits or works, less, so that the instants that it leads
// to can be computed. \throws RequestRejectedException(invalid_argument), saying `problem`, if it is negative.
std::chrono::milliseconds duration_of(std::int64_t duration_ms, const char* problem = "the time-out is negative");

// `versions` may be null.
void tell_versions(const std::vector<WriteResult>& results, std::int32_t* versions);
std::int64_t loss_of(LossReason reason);
std::int32_t state_of(LockState state);
std::int64_t count_ns(std::chrono::steady_clock::time_point time);
// `monitor`: that of an event that is no failure, or whose failure names none.
Event event_of(std::int32_t kind, fl_handle source, std::uint64_t tag, const std::exception_ptr& error,
               const std::string& monitor);

}  // namespace forelock::capi
