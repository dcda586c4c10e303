// Public lock objects that have been moved from: they have no slot.
#pragma once

#include <memory>
#include <string>

#include "forelock/error.h"

namespace forelock::client {

// \throws RequestRejectedException(invalid_argument) if there is none.
template <class Slot>
Slot& slot_in(const std::shared_ptr<Slot>& slot) {
  if (slot) return *slot;
  throw RequestRejectedException(ErrorCode::invalid_argument, {}, "this lock object has been moved from",
                                 "use the object that it was moved to");
}

inline const std::string& no_name() noexcept {
  static const std::string none;
  return none;
}

}  // namespace forelock::client
