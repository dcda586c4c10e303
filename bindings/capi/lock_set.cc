// Lock sets behind handles. But for their members they are used as locks are, by whose functions theirs are done.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "capi/handles.h"
#include "capi/lock_arguments.h"
#include "capi/lock_object.h"
#include "forelock/c.h"

using namespace forelock;
using namespace forelock::capi;

extern "C" {

int32_t fl_set_new(fl_client client, const char* lock_info, const char* const* monitors, size_t count, int32_t priority,
                   const fl_lock_options* options, fl_set* set) {
  return capi::run([&] {
    const auto use = find<ClientObject>(client);
    fl_set& result = target(set);
    require(monitors != nullptr || count == 0, "the monitors are null");
    std::vector<std::string> ids;
    for (size_t i = 0; i < count; ++i) ids.push_back(text_of(monitors[i], "a monitor"));
    const auto slot = std::make_shared<client::SetSlot>(use->client().core(), text_of(lock_info, "lock_info"), ids,
                                                        priority_of(priority), options_of(options));
    result = add(std::make_unique<SetObject>(use->state(), slot));
  });
}

size_t fl_set_size(fl_set set) {
  if (!is_kind(set, Kind::set)) return 0;
  const auto use = HandleTable::instance().find(set);
  return use ? static_cast<const SetObject&>(use.object()).slot().monitors().size() : 0;
}

int32_t fl_set_member(fl_set set, size_t index, const char** monitor, int64_t* token) {
  thread_local std::string name;  // the set may be freed as soon as its use here ends
  return capi::run([&] {
    const auto use = find<SetObject>(set);
    require(index < use->slot().monitors().size(), "the set has no such member");
    if (monitor != nullptr) *monitor = (name = use->slot().monitors()[index]).c_str();
    if (token != nullptr) *token = use->slot().member_token(index);
  });
}

int32_t fl_set_waits_for(fl_set set, const char** monitor) {
  thread_local std::string name;
  return capi::run([&] {
    const auto use = find<SetObject>(set);
    const char*& result = target(monitor);
    name = use->slot().waits_for().value_or("");
    result = name.c_str();
  });
}

int32_t fl_set_watch(fl_set set, uint32_t events, uint64_t tag) {
  if ((events & FL_ON_DANGER) == 0) return fl_lock_watch(set, events, 0, tag);
  return capi::run([] { require(false, "fl_set_watch_danger() is told the margin of danger"); });
}

int32_t fl_set_watch_danger(fl_set set, int64_t danger_margin_ms, uint64_t tag) {
  return fl_lock_watch(set, FL_ON_DANGER, danger_margin_ms, tag);
}

// --- as those of locks ---

int32_t fl_set_set_stack(fl_set set, const char* stack) {
  return fl_lock_set_stack(set, stack);
}
int32_t fl_set_acquire(fl_set set, int64_t timeout_ms) {
  return fl_lock_acquire(set, timeout_ms);
}
int32_t fl_set_try(fl_set set) {
  return fl_lock_try(set);
}
int32_t fl_set_acquire_async(fl_set set, int64_t timeout_ms, uint64_t tag) {
  return fl_lock_acquire_async(set, timeout_ms, tag);
}
int32_t fl_set_try_async(fl_set set, uint64_t tag) {
  return fl_lock_try_async(set, tag);
}
int32_t fl_set_acquire_within(fl_set set, int64_t timeout_ms, int64_t block_ms, uint64_t tag, int32_t* pending) {
  return fl_lock_acquire_within(set, timeout_ms, block_ms, tag, pending);
}
int32_t fl_set_try_within(fl_set set, int64_t block_ms, uint64_t tag, int32_t* pending) {
  return fl_lock_try_within(set, block_ms, tag, pending);
}
int32_t fl_set_cancel(fl_set set, int32_t* was_waiting) {
  return fl_lock_cancel(set, was_waiting);
}
int32_t fl_set_cancel_async(fl_set set, uint64_t tag, int32_t* was_waiting) {
  return fl_lock_cancel_async(set, tag, was_waiting);
}
int32_t fl_set_set_priority(fl_set set, int32_t priority, int32_t* changed) {
  return fl_lock_set_priority(set, priority, changed);
}
int32_t fl_lock_inside_set(fl_lock lock, fl_set outer) {
  return fl_lock_inside(lock, outer);
}
int32_t fl_set_inside(fl_set set, fl_lock outer) {
  return fl_lock_inside(set, outer);
}
int32_t fl_set_inside_set(fl_set set, fl_set outer) {
  return fl_lock_inside(set, outer);
}
int32_t fl_set_release(fl_set set) {
  return fl_lock_release(set);
}
int32_t fl_set_release_async(fl_set set, uint64_t tag) {
  return fl_lock_release_async(set, tag);
}
int32_t fl_set_release_detached(fl_set set) {
  return fl_lock_release_detached(set);
}
int32_t fl_set_step_aside(fl_set set, int64_t timeout_ms) {
  return fl_lock_step_aside(set, timeout_ms);
}
int32_t fl_set_free(fl_set set) {
  return fl_lock_free(set);
}
int32_t fl_set_is_healthy(fl_set set) {
  return fl_lock_is_healthy(set);
}
int32_t fl_set_check_health(fl_set set) {
  return fl_lock_check_health(set);
}
int64_t fl_set_expires_at_ns(fl_set set) {
  return fl_lock_expires_at_ns(set);
}
int32_t fl_set_get_state(fl_set set, int32_t* state) {
  return fl_lock_get_state(set, state);
}
int32_t fl_set_alive(fl_set set, int64_t expected_ms) {
  return fl_lock_alive(set, expected_ms);
}
int32_t fl_set_write_guarded(fl_set set, const fl_write* writes, size_t count, int32_t* versions) {
  return fl_lock_write_guarded(set, writes, count, versions);
}
}
