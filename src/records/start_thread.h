// Starts threads; a failed start is an exception for the caller.
#pragma once

#include <thread>
#include <utility>

#include "base/thread_start.h"
#include "forelock/error.h"

namespace forelock::records {

// As base::start_thread(). Throws RequestRejectedException(overloaded).
template <class Fn>
std::thread start_thread(const char* name, Fn fn) {
  try {
    return base::start_thread(name, std::move(fn));
  } catch (const base::NoThread& problem) {
    throw RequestRejectedException(ErrorCode::overloaded, {}, problem.what(),
                                   "raise the limit, or have fewer threads; the same call may be repeated");
  }
}

}  // namespace forelock::records
