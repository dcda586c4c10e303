// The locks and lock sets behind handles.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <utility>

#include "capi/client_object.h"
#include "capi/handles.h"
#include "capi/last_acquisition.h"
#include "capi/lock_arguments.h"
#include "capi/object.h"
#include "client/hold.h"
#include "client/lock_slot.h"
#include "client/set_slot.h"
#include "forelock/write_lock.h"

namespace forelock::capi {

// What may hold something: a lock object, a lock set object, or an attempt at an operation with its lock.
class HeldObject : public Object {
 public:
  client::Hold& hold() const { return hold_; }
  EventQueue& events() const { return *client_->events; }
  const std::shared_ptr<ClientState>& client() const { return client_; }

 protected:
  // `hold` belongs to the derived class.
  HeldObject(Kind kind, std::shared_ptr<ClientState> client, client::Hold& hold)
      : Object(kind), client_(std::move(client)), hold_(hold) {}

 private:
  const std::shared_ptr<ClientState> client_;
  client::Hold& hold_;
};

// A lock or a lock set: what its caller acquires and releases himself.
class HoldObject : public HeldObject {
 public:
  ~HoldObject() override { hold().retire(); }

  LastAcquisition& last() { return last_; }

  // Ends what other threads wait for; what they obtain from now on they give back.
  void close() {
    closed_ = true;
    hold().cancel();
    hold().release_detached();
  }
  bool closed() const { return closed_; }
  [[noreturn]] void throw_freed() const {
    throw InstanceLockException(ErrorCode::cancelled, hold().first_monitor(),
                                hold().subject() + " was freed by another thread");
  }

 protected:
  HoldObject(Kind kind, std::shared_ptr<ClientState> client, std::shared_ptr<client::Hold> hold)
      : HeldObject(kind, std::move(client), *hold), owned_(std::move(hold)) {}

 private:
  const std::shared_ptr<client::Hold> owned_;
  LastAcquisition last_;
  std::atomic<bool> closed_{false};
};

class LockObject final : public HoldObject {
 public:
  static constexpr Kind object_kind = Kind::lock;

  LockObject(std::shared_ptr<ClientState> client, std::shared_ptr<client::LockSlot> slot)
      : HoldObject(object_kind, std::move(client), std::move(slot)) {}
};

class SetObject final : public HoldObject {
 public:
  static constexpr Kind object_kind = Kind::set;

  SetObject(std::shared_ptr<ClientState> client, const std::shared_ptr<client::SetSlot>& slot)
      : HoldObject(object_kind, std::move(client), slot), slot_(*slot) {}

  client::SetSlot& slot() const { return slot_; }

 private:
  client::SetSlot& slot_;
};

// The implementation of a lock whose public face is all that is at hand: an attempt's.
class FacedLock final : public WriteLock {
 public:
  static client::LockSlot& slot_of(const WriteLock& lock) { return *(lock.*(&FacedLock::slot_)); }
};

inline bool is_hold(Handle handle) {
  return is_kind(handle, Kind::lock) || is_kind(handle, Kind::set);
}
inline bool is_held(Handle handle) {
  return is_hold(handle) || is_kind(handle, Kind::attempt);
}

// The lock or the set. \throws InvalidHandle.
inline Use<HoldObject> find_hold(Handle handle) {
  if (is_hold(handle)) {
    if (auto use = HandleTable::instance().find(handle)) return Use<HoldObject>(std::move(use));
  }
  throw InvalidHandle();
}

// The same, and the handle is invalid from then on.
inline Use<HoldObject> remove_hold(Handle handle) {
  if (is_hold(handle)) {
    if (auto use = HandleTable::instance().remove(handle)) return Use<HoldObject>(std::move(use));
  }
  throw InvalidHandle();
}

// The lock, the set or the attempt. \throws InvalidHandle.
inline Use<HeldObject> find_held(Handle handle) {
  if (is_held(handle)) {
    if (auto use = HandleTable::instance().find(handle)) return Use<HeldObject>(std::move(use));
  }
  throw InvalidHandle();
}

// What `read` says of it; `absent` for an invalid handle. For what is asked often, or has no code to return.
template <class Result, class Read>
Result read_held(Handle handle, Result absent, Read&& read) noexcept {
  if (!is_held(handle)) return absent;
  const auto use = HandleTable::instance().find(handle);
  return use ? read(static_cast<const HeldObject&>(use.object()).hold()) : absent;
}

}  // namespace forelock::capi
