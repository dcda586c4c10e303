// Looking up the lock behind the handle of a lock or of an attempt.
#pragma once

#include <utility>

#include "capi/handles.h"
#include "capi/lock_object.h"

namespace forelock::capi {

inline bool has_lock(Handle handle) {
  return is_kind(handle, Kind::lock) || is_kind(handle, Kind::attempt);
}

// \throws InvalidHandle.
inline Use<HeldObject> find_lock(Handle handle) {
  if (has_lock(handle)) {
    if (auto use = HandleTable::instance().find(handle)) return Use<HeldObject>(std::move(use));
  }
  throw InvalidHandle();
}

// What `read` says of the lock; `absent` for an invalid handle. For what is asked often, or has no code to return.
template <class Result, class Read>
Result read_lock(Handle handle, Result absent, Read&& read) noexcept {
  if (!has_lock(handle)) return absent;
  const auto use = HandleTable::instance().find(handle);
  if (!use) return absent;
  return read(static_cast<const HeldObject&>(use.object()).lock());
}

}  // namespace forelock::capi
