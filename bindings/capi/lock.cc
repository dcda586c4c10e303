#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "capi/acquisition.h"
#include "capi/handles.h"
#include "capi/lock_arguments.h"
#include "capi/lock_object.h"
#include "capi/owner.h"
#include "forelock/c.h"

using namespace forelock;
using namespace forelock::capi;

extern "C" {

int32_t fl_lock_new(fl_client client, const char* lock_info, const char* monitor, int32_t priority,
                    const fl_lock_options* options, fl_lock* lock) {
  return capi::run([&] {
    const auto use = find<ClientObject>(client);
    fl_lock& result = target(lock);
    auto slot =
        std::make_shared<client::LockSlot>(use->client().core(), text_of(lock_info, "lock_info"),
                                           text_of(monitor, "monitor"), priority_of(priority), options_of(options));
    result = add(std::make_unique<LockObject>(use->state(), std::move(slot)));
  });
}

int32_t fl_lock_set_stack(fl_lock lock, const char* stack) {
  return capi::run([&] { find_hold(lock)->hold().set_stack(stack_of(stack)); });
}

int32_t fl_lock_acquire(fl_lock lock, int64_t timeout_ms) {
  return capi::acquire(lock, timeout_ms, false);
}

int32_t fl_lock_try(fl_lock lock) {
  return capi::acquire(lock, FL_CONFIGURED, true);
}

int32_t fl_lock_acquire_async(fl_lock lock, int64_t timeout_ms, uint64_t tag) {
  return capi::acquire_async(lock, timeout_ms, false, tag);
}

int32_t fl_lock_try_async(fl_lock lock, uint64_t tag) {
  return capi::acquire_async(lock, FL_CONFIGURED, true, tag);
}

int32_t fl_lock_acquire_within(fl_lock lock, int64_t timeout_ms, int64_t block_ms, uint64_t tag, int32_t* pending) {
  return capi::acquire_within(lock, timeout_ms, false, block_ms, tag, pending);
}

int32_t fl_lock_try_within(fl_lock lock, int64_t block_ms, uint64_t tag, int32_t* pending) {
  return capi::acquire_within(lock, FL_CONFIGURED, true, block_ms, tag, pending);
}

int32_t fl_lock_cancel(fl_lock lock, int32_t* was_waiting) {
  return capi::run([&] {
    const bool waited = find_hold(lock)->hold().cancel();
    if (was_waiting != nullptr) *was_waiting = waited ? 1 : 0;
  });
}

int32_t fl_lock_cancel_async(fl_lock lock, uint64_t tag, int32_t* was_waiting) {
  return capi::cancel_async(lock, tag, was_waiting);
}

int32_t fl_lock_set_priority(fl_lock lock, int32_t priority, int32_t* changed) {
  return capi::run([&] {
    const bool done = find_hold(lock)->hold().set_priority(priority_of(priority));
    if (changed != nullptr) *changed = done ? 1 : 0;
  });
}

int32_t fl_lock_inside(fl_lock lock, fl_lock outer) {
  return capi::run([&] {
    const auto inner = find_hold(lock);
    inner->hold().put_inside(find_hold(outer)->hold());
  });
}

int32_t fl_lock_release(fl_lock lock) {
  return capi::run([&] { find_hold(lock)->hold().release_and_wait(); });
}

int32_t fl_lock_release_async(fl_lock lock, uint64_t tag) {
  return capi::run([&] {
    const auto use = find_hold(lock);
    const auto& events = use->client()->events;
    EventQueue::Reservation room(*events);
    use->hold().release([events, lock, tag, &hold = use->hold()](const std::exception_ptr& error) {
      events->complete(event_of(FL_EVENT_RELEASED, lock, tag, error, hold.first_monitor()));
    });
    room.keep();
  });
}

int32_t fl_lock_release_detached(fl_lock lock) {
  return capi::run([&] { find_hold(lock)->hold().release_detached(); });
}

int32_t fl_lock_step_aside(fl_lock lock, int64_t timeout_ms) {
  return capi::step_aside(lock, timeout_ms);
}

int32_t fl_lock_watch(fl_handle lock, uint32_t events, int64_t danger_margin_ms, uint64_t tag) {
  return capi::run([&] {
    constexpr std::uint32_t known = FL_ON_LOST | FL_ON_DANGER | FL_ON_QUEUED | FL_ON_CONTENDED;
    require((events & ~known) == 0, "unknown events");
    const auto use = find_held(lock);
    client::Hold& of = use->hold();
    const auto tell = [queue = use->client()->events, lock, tag](std::int32_t kind, std::int64_t value,
                                                                 const std::string& monitor, std::string text = {},
                                                                 std::string hint = {}) {
      Event event{.kind = kind, .source = lock, .tag = tag, .value = value};
      event.failure.monitor = monitor;
      event.failure.message = std::move(text);
      event.failure.hint = std::move(hint);
      queue->notify(std::move(event));
    };
    if ((events & FL_ON_DANGER) != 0) {
      of.on_danger(std::chrono::milliseconds(danger_margin_ms),
                   [tell, monitor = of.first_monitor()] { tell(FL_EVENT_DANGER, 0, monitor); });
    }
    if ((events & FL_ON_LOST) != 0) {
      of.on_lost([tell](LossReason reason, const std::string& monitor) {
        tell(FL_EVENT_LOST, loss_of(reason), monitor, std::string(name_of(reason)));
      });
    }
    if ((events & FL_ON_QUEUED) != 0) {
      of.on_queued([tell](const QueuePosition& where, const std::string& monitor) {
        tell(FL_EVENT_QUEUED, static_cast<std::int64_t>(where.place), monitor, where.behind,
             where.expected_wait ? std::to_string(where.expected_wait->count()) : std::string());
      });
    }
    if ((events & FL_ON_CONTENDED) != 0) {
      of.on_contended(
          [tell](Priority waiting, const std::string& monitor) { tell(FL_EVENT_CONTENDED, to_c(waiting), monitor); });
    }
  });
}

int32_t fl_lock_free(fl_lock lock) {
  return capi::run([&] { remove_hold(lock)->close(); });
}
}
