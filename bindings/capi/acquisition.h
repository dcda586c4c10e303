// Acquisitions of what is behind the handle of a lock or a set: blocking, with an event at the end, or the one and then
// the other.
#pragma once

#include <cstdint>

#include "capi/lock_object.h"

namespace forelock::capi {

std::int32_t acquire(Handle handle, std::int64_t timeout_ms, bool try_once);
std::int32_t acquire_async(Handle handle, std::int64_t timeout_ms, bool try_once, std::uint64_t tag);
// Blocks for as long as most acquisitions take, without a second thread; the others end with an event.
std::int32_t acquire_within(Handle handle, std::int64_t timeout_ms, bool try_once, std::int64_t block_ms,
                            std::uint64_t tag, std::int32_t* pending);
std::int32_t cancel_async(Handle handle, std::uint64_t tag, std::int32_t* was_waiting);
std::int32_t step_aside(Handle handle, std::int64_t timeout_ms);

}  // namespace forelock::capi
