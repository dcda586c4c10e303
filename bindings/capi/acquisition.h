// Acquisitions of what is behind a handle: blocking, with an event at the end, or the one and then the other.
//
// T is the object of a lock or of a set. Besides its slot it has the event of an acquisition's end (acquired_event()),
// the error of one whose handle was freed meanwhile (throw_freed()), and its LastAcquisition (last()).
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>

#include "capi/event_queue.h"
#include "capi/handles.h"
#include "capi/lock_arguments.h"
#include "client/clock.h"

namespace forelock::capi {

// What an acquisition asks for. Who gives it no time asks once: a lock that is free takes some, too.
struct Terms {
  lock::TimePoint deadline;
  bool try_once;
};

template <class Slot>
Terms terms_of(Slot& slot, std::int64_t timeout_ms, bool try_once) {
  if (timeout_ms == 0) return {deadline_of(slot.core(), slot.priority(), FL_CONFIGURED), true};
  return {deadline_of(slot.core(), slot.priority(), timeout_ms), try_once};
}

// The end of a blocking acquisition that has begun. What was freed meanwhile holds nothing.
template <class T>
void finish(T& object, typename T::Slot::Acquisition acquisition, lock::TimePoint deadline) {
  auto& slot = object.slot();
  if (object.closed()) slot.cancel();
  if (const auto refusal = slot.wait(acquisition, deadline)) std::rethrow_exception(slot.error_of(*refusal, true));
  if (!object.closed()) return;
  slot.release_detached();
  object.throw_freed();
}

template <class T>
std::int32_t acquire(Handle handle, std::int64_t timeout_ms, bool try_once) {
  return run([&] {
    const auto use = find<T>(handle);
    const Terms terms = terms_of(use->slot(), timeout_ms, try_once);
    const auto begin = [&] { return use->slot().acquire(terms.deadline, terms.try_once); };
    finish(*use, use->last().begin(std::nullopt, begin), terms.deadline);
  });
}

template <class T>
std::int32_t cancel_async(Handle handle, std::uint64_t tag, std::int32_t* was_waiting) {
  return run([&] {
    const auto use = find<T>(handle);
    const bool waited = use->last().cancel(tag, [&] { return use->slot().cancel(); });
    if (was_waiting != nullptr) *was_waiting = waited ? 1 : 0;
  });
}

// The callback of an acquisition whose end is an event. The slot calls it while it lives.
template <class T>
auto end_event(const T& object, Handle handle, std::uint64_t tag) {
  return [events = object.client()->events, handle, tag, &slot = object.slot()](const std::exception_ptr& error) {
    events->complete(T::acquired_event(handle, tag, error, slot));
  };
}

template <class T>
std::int32_t acquire_async(Handle handle, std::int64_t timeout_ms, bool try_once, std::uint64_t tag) {
  return run([&] {
    const auto use = find<T>(handle);
    const Terms terms = terms_of(use->slot(), timeout_ms, try_once);
    EventQueue::Reservation room(*use->client()->events);
    use->last().begin(
        tag, [&] { return use->slot().acquire(terms.deadline, terms.try_once, end_event(*use, handle, tag)); });
    room.keep();
    if (use->closed()) use->slot().cancel();
  });
}

// Blocks for as long as most acquisitions take, without a second thread; the others end with an event.
template <class T>
std::int32_t acquire_within(Handle handle, std::int64_t timeout_ms, bool try_once, std::int64_t block_ms,
                            std::uint64_t tag, std::int32_t* pending) {
  return run([&] {
    std::int32_t& goes_on = target(pending);
    require(block_ms >= 0, "the time to block is negative");
    const auto use = find<T>(handle);
    auto& slot = use->slot();
    const Terms terms = terms_of(slot, timeout_ms, try_once);
    const lock::TimePoint deadline = terms.deadline;
    const lock::TimePoint block_until = client::deadline_after(std::chrono::milliseconds(block_ms));
    EventQueue::Reservation room(*use->client()->events);
    const auto acquisition = use->last().begin(tag, [&] { return slot.acquire(deadline, terms.try_once); });
    if (use->closed()) slot.cancel();
    const bool blocks_to_the_end = block_ms > 0 && deadline <= block_until;
    const bool ends_in_time = blocks_to_the_end || slot.wait_until(acquisition, block_until);
    goes_on = !ends_in_time && slot.tell_end(acquisition, end_event(*use, handle, tag)) ? 1 : 0;
    if (goes_on == 0) {
      // Who does not block hears of every refusal by an event; nor does it look at the holder, which takes time.
      const auto refusal = block_ms == 0 ? slot.wait(acquisition, deadline) : std::nullopt;
      if (!refusal) return finish(*use, acquisition, deadline);
      end_event(*use, handle, tag)(slot.error_of(*refusal, false));
      goes_on = 1;
    }
    room.keep();
    if (use->closed()) slot.cancel();
  });
}

}  // namespace forelock::capi
