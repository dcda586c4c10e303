// Looking up what the handles of the C interface stand for, in the process's one table.
#pragma once

#include <memory>
#include <utility>

#include "capi/handle_table.h"
#include "capi/result.h"

namespace forelock::capi {

// A use of an object of a known kind.
template <class T>
class Use {
 public:
  explicit Use(HandleTable::AnyUse use) : use_(std::move(use)) {}
  T* operator->() const { return &static_cast<T&>(use_.object()); }
  T& operator*() const { return static_cast<T&>(use_.object()); }

 private:
  HandleTable::AnyUse use_;
};

inline bool is_kind(Handle handle, Kind kind) {
  return static_cast<Kind>(handle >> 56) == kind;
}

// \throws InvalidHandle.
template <class T>
Use<T> find(Handle handle) {
  if (is_kind(handle, T::object_kind)) {
    if (auto use = HandleTable::instance().find(handle)) return Use<T>(std::move(use));
  }
  throw InvalidHandle();
}

// The same, and the handle is invalid from then on.
template <class T>
Use<T> remove(Handle handle) {
  if (is_kind(handle, T::object_kind)) {
    if (auto use = HandleTable::instance().remove(handle)) return Use<T>(std::move(use));
  }
  throw InvalidHandle();
}

// \throws std::bad_alloc if there is no room.
template <class T>
Handle add(std::unique_ptr<T> object) {
  const Handle handle = HandleTable::instance().add(std::move(object));
  if (handle == 0) throw std::bad_alloc();
  return handle;
}

}  // namespace forelock::capi
