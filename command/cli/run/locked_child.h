// A command under a lock that is held already: what it is told, and how it is watched.
#pragma once

#include <chrono>

#include "cli/process/inherited_descriptors.h"
#include "cli/run/guarded_lock.h"
#include "cli/run/lock_guardian.h"
#include "forelock/client.h"

namespace forelock::cli {

// How a child is guarded whose lock belongs to this client. A healthy connection is silent for up to a third of the
// session's time-out, or a little longer: that much warning there can be.
GuardOptions guard_options(const Client& client, OnLost on_lost, std::chrono::milliseconds kill_after);

// Runs the command to its end and forwards signals to it; the environment of the lock is added to that of `child`.
// \throws FailureException with exit code 126 or 127 if it cannot be executed; LockUnhealthyException if it was not
// begun because the lock is lost.
LockGuardian::Result run_under_lock(const GuardedLock& lock, const Client& client, ChildOptions child,
                                    const GuardOptions& guard, const InheritedDescriptors& inherited,
                                    SignalSource& signals, const Console& console);

}  // namespace forelock::cli
