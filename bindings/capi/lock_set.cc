// Lock sets behind handles.
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "capi/acquisition.h"
#include "capi/client_object.h"
#include "capi/handles.h"
#include "capi/last_acquisition.h"
#include "capi/lock_arguments.h"
#include "capi/owner.h"
#include "client/set_slot.h"
#include "forelock/c.h"

using namespace forelock;
using namespace forelock::capi;

namespace {

class SetObject final : public Object {
 public:
  using Slot = client::SetSlot;
  static constexpr Kind object_kind = Kind::set;

  SetObject(std::shared_ptr<ClientState> client, std::shared_ptr<client::SetSlot> slot)
      : Object(object_kind), client_(std::move(client)), slot_(std::move(slot)) {}
  ~SetObject() override { slot_->retire(); }

  client::SetSlot& slot() const { return *slot_; }
  LastAcquisition& last() { return last_; }
  const std::shared_ptr<ClientState>& client() const { return client_; }

  // Ends what other threads wait for; what they obtain from now on they give back.
  void close() {
    closed_ = true;
    slot().cancel();
    slot().release_detached();
  }
  bool closed() const { return closed_; }
  [[noreturn]] void throw_freed() const {
    throw InstanceLockException(ErrorCode::cancelled, slot().monitors().front(), "the set was freed by another thread");
  }

  static Event acquired_event(fl_set set, uint64_t tag, const std::exception_ptr& error, const Slot& slot) {
    return event_of(FL_EVENT_ACQUIRED, set, tag, error, slot.monitors().front());
  }

 private:
  const std::shared_ptr<ClientState> client_;
  const std::shared_ptr<client::SetSlot> slot_;
  LastAcquisition last_;
  std::atomic<bool> closed_{false};
};

// What `read` says of the set; `absent` for an invalid handle.
template <class Result, class Read>
Result read_set(fl_set set, Result absent, Read&& read) noexcept {
  if (!is_kind(set, Kind::set)) return absent;
  const auto use = HandleTable::instance().find(set);
  return use ? read(static_cast<const SetObject&>(use.object()).slot()) : absent;
}

}  // namespace

extern "C" {

int32_t fl_set_new(fl_client client, const char* lock_info, const char* const* monitors, size_t count, int32_t priority,
                   const fl_lock_options* options, fl_set* set) {
  return capi::run([&] {
    const auto use = find<ClientObject>(client);
    fl_set& result = target(set);
    require(monitors != nullptr || count == 0, "the monitors are null");
    std::vector<std::string> ids;
    for (size_t i = 0; i < count; ++i) ids.push_back(text_of(monitors[i], "a monitor"));
    auto slot = std::make_shared<client::SetSlot>(use->client().core(), text_of(lock_info, "lock_info"), ids,
                                                  priority_of(priority), options_of(options));
    result = add(std::make_unique<SetObject>(use->state(), std::move(slot)));
  });
}

int32_t fl_set_set_stack(fl_set set, const char* stack) {
  return capi::run([&] { find<SetObject>(set)->slot().set_stack(stack_of(stack)); });
}

int32_t fl_set_acquire(fl_set set, int64_t timeout_ms) {
  return capi::acquire<SetObject>(set, timeout_ms, false);
}

int32_t fl_set_try(fl_set set) {
  return capi::acquire<SetObject>(set, FL_CONFIGURED, true);
}

int32_t fl_set_acquire_async(fl_set set, int64_t timeout_ms, uint64_t tag) {
  return capi::acquire_async<SetObject>(set, timeout_ms, false, tag);
}

int32_t fl_set_try_async(fl_set set, uint64_t tag) {
  return capi::acquire_async<SetObject>(set, FL_CONFIGURED, true, tag);
}

int32_t fl_set_acquire_within(fl_set set, int64_t timeout_ms, int64_t block_ms, uint64_t tag, int32_t* pending) {
  return capi::acquire_within<SetObject>(set, timeout_ms, false, block_ms, tag, pending);
}

int32_t fl_set_try_within(fl_set set, int64_t block_ms, uint64_t tag, int32_t* pending) {
  return capi::acquire_within<SetObject>(set, FL_CONFIGURED, true, block_ms, tag, pending);
}

int32_t fl_set_cancel(fl_set set, int32_t* was_waiting) {
  return capi::run([&] {
    const bool waited = find<SetObject>(set)->slot().cancel();
    if (was_waiting != nullptr) *was_waiting = waited ? 1 : 0;
  });
}

int32_t fl_set_cancel_async(fl_set set, uint64_t tag, int32_t* was_waiting) {
  return capi::cancel_async<SetObject>(set, tag, was_waiting);
}

int32_t fl_set_set_priority(fl_set set, int32_t priority, int32_t* changed) {
  return capi::run([&] {
    const bool done = find<SetObject>(set)->slot().set_priority(priority_of(priority));
    if (changed != nullptr) *changed = done ? 1 : 0;
  });
}

int32_t fl_lock_inside_set(fl_lock lock, fl_set outer) {
  return capi::run([&] {
    const auto inner = find<LockObject>(lock);
    client::put_inside(inner->slot(), inner->slot().monitor(), find<SetObject>(outer)->slot());
  });
}

int32_t fl_set_inside(fl_set set, fl_lock outer) {
  return capi::run([&] {
    const auto inner = find<SetObject>(set);
    client::put_inside(inner->slot(), inner->slot().monitors().front(), find<LockObject>(outer)->slot());
  });
}

int32_t fl_set_inside_set(fl_set set, fl_set outer) {
  return capi::run([&] {
    const auto inner = find<SetObject>(set);
    client::put_inside(inner->slot(), inner->slot().monitors().front(), find<SetObject>(outer)->slot());
  });
}

int32_t fl_set_release(fl_set set) {
  return capi::run([&] { find<SetObject>(set)->slot().release_and_wait(); });
}

int32_t fl_set_release_async(fl_set set, uint64_t tag) {
  return capi::run([&] {
    const auto use = find<SetObject>(set);
    const auto& events = use->client()->events;
    EventQueue::Reservation room(*events);
    use->slot().release([events, set, tag, slot = &use->slot()](const std::exception_ptr& error) {
      events->complete(event_of(FL_EVENT_RELEASED, set, tag, error, slot->monitors().front()));
    });
    room.keep();
  });
}

int32_t fl_set_release_detached(fl_set set) {
  return capi::run([&] { find<SetObject>(set)->slot().release_detached(); });
}

int32_t fl_set_step_aside(fl_set set, int64_t timeout_ms) {
  return capi::run([&] {
    const auto use = find<SetObject>(set);
    const lock::TimePoint deadline = deadline_of(use->slot().core(), use->slot().priority(), timeout_ms);
    const auto acquisition = use->slot().acquisition();
    if (!use->slot().step_aside(deadline)) {
      use->slot().check_health();
      throw LockUnhealthyException(ErrorCode::lock_unhealthy, use->slot().monitors().front(), "the set is not held");
    }
    finish(*use, acquisition, deadline);
    use->slot().check_health();  // a member may have been removed since
  });
}

int32_t fl_set_free(fl_set set) {
  return capi::run([&] { remove<SetObject>(set)->close(); });
}

int32_t fl_set_watch(fl_set set, uint32_t events, uint64_t tag) {
  return capi::run([&] {
    constexpr std::uint32_t known = FL_ON_LOST | FL_ON_CONTENDED;
    require((events & ~known) == 0, "unknown events, or such as a set does not have");
    const auto use = find<SetObject>(set);
    const auto tell = [queue = use->client()->events, set, tag](std::int32_t kind, std::int64_t value,
                                                                const std::string& monitor, const std::string& text) {
      Event event{.kind = kind, .source = set, .tag = tag, .value = value};
      event.failure.monitor = monitor;
      event.failure.message = text;
      queue->notify(std::move(event));
    };
    if ((events & FL_ON_LOST) != 0) {
      use->slot().on_lost([tell](LossReason reason, const std::string& monitor) {
        tell(FL_EVENT_LOST, loss_of(reason), monitor, std::string(name_of(reason)));
      });
    }
    if ((events & FL_ON_CONTENDED) != 0) {
      use->slot().on_contended([tell](Priority waiting, const std::string& monitor) {
        tell(FL_EVENT_CONTENDED, to_c(waiting), monitor, {});
      });
    }
  });
}

int32_t fl_set_watch_danger(fl_set set, int64_t danger_margin_ms, uint64_t tag) {
  return capi::run([&] {
    const auto use = find<SetObject>(set);
    const auto tell = [queue = use->client()->events, set, tag, monitor = use->slot().monitors().front()] {
      Event event{.kind = FL_EVENT_DANGER, .source = set, .tag = tag};
      event.failure.monitor = monitor;
      queue->notify(std::move(event));
    };
    use->slot().on_danger(std::chrono::milliseconds(danger_margin_ms), tell);
  });
}

int32_t fl_set_is_healthy(fl_set set) {
  return read_set(set, 0, [](const client::SetSlot& slot) { return slot.healthy() ? 1 : 0; });
}

int32_t fl_set_check_health(fl_set set) {
  return capi::run([&] { find<SetObject>(set)->slot().check_health(); });
}

int64_t fl_set_expires_at_ns(fl_set set) {
  return read_set(set, int64_t{0}, [](const client::SetSlot& slot) { return count_ns(slot.expires_at()); });
}

int32_t fl_set_get_state(fl_set set, int32_t* state) {
  return capi::run([&] { target(state) = state_of(find<SetObject>(set)->slot().state()); });
}

size_t fl_set_size(fl_set set) {
  return read_set(set, size_t{0}, [](const client::SetSlot& slot) { return slot.monitors().size(); });
}

int32_t fl_set_member(fl_set set, size_t index, const char** monitor, int64_t* token) {
  thread_local std::string name;  // the set may be freed as soon as its use here ends
  return capi::run([&] {
    const auto use = find<SetObject>(set);
    require(index < use->slot().monitors().size(), "the set has no such member");
    if (monitor != nullptr) *monitor = (name = use->slot().monitors()[index]).c_str();
    if (token != nullptr) *token = use->slot().token(index);
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

int32_t fl_set_alive(fl_set set, int64_t expected_ms) {
  return capi::run([&] {
    const auto use = find<SetObject>(set);
    use->slot().alive(duration_of(expected_ms, "the expected time is negative"));
  });
}

int32_t fl_set_write_guarded(fl_set set, const fl_write* writes, size_t count, int32_t* versions) {
  return capi::run([&] {
    const auto use = find<SetObject>(set);
    tell_versions(use->slot().write_guarded(writes_of(writes, count)), versions);
  });
}
}
