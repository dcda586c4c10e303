// The locks behind handles.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "capi/client_object.h"
#include "capi/last_acquisition.h"
#include "capi/lock_arguments.h"
#include "capi/object.h"
#include "client/lock_slot.h"
#include "forelock/write_lock.h"

namespace forelock::capi {

// A lock that may be waited for or not, as each call says.
class HostLock final : public WriteLock {
 public:
  // \throws RequestRejectedException(invalid_argument).
  HostLock(Client& client, std::string lock_info, std::string monitor, Priority priority, LockOptions options)
      : WriteLock(std::make_shared<client::LockSlot>(client.core(), std::move(lock_info), std::move(monitor), priority,
                                                     std::move(options))) {}

  client::LockSlot& slot() { return *slot_; }
};

// What has a lock that may be held: a lock object, or an attempt at an operation.
class HeldObject : public Object {
 public:
  WriteLock& lock() const { return *lock_; }
  EventQueue& events() const { return *client_->events; }
  const std::shared_ptr<ClientState>& client() const { return client_; }

 protected:
  // `lock` belongs to the derived class.
  HeldObject(Kind kind, std::shared_ptr<ClientState> client, WriteLock* lock)
      : Object(kind), client_(std::move(client)), lock_(lock) {}

 private:
  const std::shared_ptr<ClientState> client_;
  WriteLock* const lock_;
};

class LockObject final : public HeldObject {
 public:
  using Slot = client::LockSlot;
  static constexpr Kind object_kind = Kind::lock;

  LockObject(std::shared_ptr<ClientState> client, std::unique_ptr<HostLock> lock)
      : HeldObject(object_kind, std::move(client), lock.get()), lock_(std::move(lock)) {}

  client::LockSlot& slot() const { return lock_->slot(); }
  LastAcquisition& last() { return last_; }

  // Ends what other threads wait for; what they obtain from now on they give back.
  void close() {
    closed_ = true;
    slot().cancel();
    slot().release_detached();
  }
  bool closed() const { return closed_; }
  [[noreturn]] void throw_freed() const {
    throw InstanceLockException(ErrorCode::cancelled, slot().monitor(),
                                "the lock on " + slot().monitor() + " was freed by another thread");
  }

  static Event acquired_event(fl_lock lock, std::uint64_t tag, const std::exception_ptr& error, const Slot& slot) {
    Event event = event_of(FL_EVENT_ACQUIRED, lock, tag, error, slot.monitor());
    if (!error) event.value = slot.token();
    return event;
  }

 private:
  const std::unique_ptr<HostLock> lock_;
  LastAcquisition last_;
  std::atomic<bool> closed_{false};
};

}  // namespace forelock::capi
