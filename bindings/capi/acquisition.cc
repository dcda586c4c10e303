#include "capi/acquisition.h"

#include <chrono>
#include <exception>
#include <optional>

#include "capi/event_queue.h"
#include "client/clock.h"

namespace forelock::capi {
namespace {

// What an acquisition asks for. Who gives it no time asks once: a lock that is free takes some, too.
struct Terms {
  lock::TimePoint deadline;
  bool try_once;
};

Terms terms_of(const client::Hold& hold, std::int64_t timeout_ms, bool try_once) {
  if (timeout_ms == 0) return {deadline_of(hold.core(), hold.priority(), FL_CONFIGURED), true};
  return {deadline_of(hold.core(), hold.priority(), timeout_ms), try_once};
}

// The end of a blocking acquisition that has begun. What was freed meanwhile holds nothing.
void finish(const HoldObject& object, client::Hold::Acquisition acquisition, lock::TimePoint deadline) {
  client::Hold& hold = object.hold();
  if (object.closed()) hold.cancel();
  hold.wait_or_throw(acquisition, deadline);
  if (!object.closed()) return;
  hold.release_detached();
  object.throw_freed();
}

// The callback of an acquisition whose end is an event. It is called while the object lives.
auto end_event(const HoldObject& object, Handle handle, std::uint64_t tag) {
  return [events = object.client()->events, handle, tag, &hold = object.hold()](const std::exception_ptr& error) {
    Event event = event_of(FL_EVENT_ACQUIRED, handle, tag, error, hold.first_monitor());
    if (!error) event.value = hold.token();
    events->complete(std::move(event));
  };
}

}  // namespace

std::int32_t acquire(Handle handle, std::int64_t timeout_ms, bool try_once) {
  return run([&] {
    const auto use = find_hold(handle);
    const Terms terms = terms_of(use->hold(), timeout_ms, try_once);
    const auto begin = [&] { return use->hold().acquire(terms.deadline, terms.try_once); };
    finish(*use, use->last().begin(std::nullopt, begin), terms.deadline);
  });
}

std::int32_t cancel_async(Handle handle, std::uint64_t tag, std::int32_t* was_waiting) {
  return run([&] {
    const auto use = find_hold(handle);
    const bool waited = use->last().cancel(tag, [&] { return use->hold().cancel(); });
    if (was_waiting != nullptr) *was_waiting = waited ? 1 : 0;
  });
}

std::int32_t acquire_async(Handle handle, std::int64_t timeout_ms, bool try_once, std::uint64_t tag) {
  return run([&] {
    const auto use = find_hold(handle);
    const Terms terms = terms_of(use->hold(), timeout_ms, try_once);
    EventQueue::Reservation room(use->events());
    use->last().begin(
        tag, [&] { return use->hold().acquire(terms.deadline, terms.try_once, end_event(*use, handle, tag)); });
    room.keep();
    if (use->closed()) use->hold().cancel();
  });
}

std::int32_t acquire_within(Handle handle, std::int64_t timeout_ms, bool try_once, std::int64_t block_ms,
                            std::uint64_t tag, std::int32_t* pending) {
  return run([&] {
    std::int32_t& goes_on = target(pending);
    require(block_ms >= 0, "the time to block is negative");
    const auto use = find_hold(handle);
    client::Hold& hold = use->hold();
    const Terms terms = terms_of(hold, timeout_ms, try_once);
    const lock::TimePoint deadline = terms.deadline;
    const lock::TimePoint block_until = client::deadline_after(std::chrono::milliseconds(block_ms));
    EventQueue::Reservation room(use->events());
    const auto acquisition = use->last().begin(tag, [&] { return hold.acquire(deadline, terms.try_once); });
    if (use->closed()) hold.cancel();
    const bool blocks_to_the_end = block_ms > 0 && deadline <= block_until;
    const bool ends_in_time = blocks_to_the_end || hold.wait_until(acquisition, block_until);
    goes_on = !ends_in_time && hold.tell_end(acquisition, end_event(*use, handle, tag)) ? 1 : 0;
    if (goes_on == 0) {
      // Who does not block hears of every refusal by an event; nor does it look at the holder, which takes time.
      const auto refusal = block_ms == 0 ? hold.wait(acquisition, deadline) : std::nullopt;
      if (!refusal) return finish(*use, acquisition, deadline);
      end_event(*use, handle, tag)(hold.error_of(*refusal, false));
      goes_on = 1;
    }
    room.keep();
    if (use->closed()) hold.cancel();
  });
}

std::int32_t step_aside(Handle handle, std::int64_t timeout_ms) {
  return run([&] {
    const auto use = find_hold(handle);
    client::Hold& hold = use->hold();
    const lock::TimePoint deadline = deadline_of(hold.core(), hold.priority(), timeout_ms);
    finish(*use, hold.begin_step_aside(deadline), deadline);
    hold.check_health();  // it may have been removed before it could be given back
  });
}

}  // namespace forelock::capi
