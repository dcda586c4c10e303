// The exceptions of failed acquisitions and releases, and their messages.
#pragma once

#include <exception>
#include <string>

#include "client/client_core.h"
#include "forelock/error.h"
#include "forelock/write_lock.h"
#include "lock/engine_types.h"

namespace forelock::client {

// An acquisition as its messages need to know it.
struct Acquisition {
  std::string monitor = {};
  std::string node_name = {};
  std::string guid = {};
  lock::TimePoint since{};
  lock::TimePoint deadline = lock::never;
};

// `look_at_holder`: asks the server who holds the lock, for a short time.
std::exception_ptr error_of(EnsembleLink& ensemble, const Acquisition& acquisition, const lock::Refusal& refusal,
                            bool look_at_holder);
// Nothing for a release that was confirmed.
std::exception_ptr error_of(const std::string& monitor, lock::ReleaseOutcome outcome);
ConnectionLossException unconfirmed_release(const std::string& monitor);
LockUnhealthyException unhealthy(const std::string& monitor, const std::string& message);
// Of a lock object that was destroyed while its caller waited for an answer.
std::exception_ptr destroyed_lock(const std::string& monitor);

}  // namespace forelock::client
