// Takes a lock while signals can still stop the waiting.
#pragma once

#include <optional>

#include "cli/signal_queue.h"
#include "forelock/blocking_write_lock.h"

namespace forelock::cli {

// Waits for the lock for the time configured for its class, or with `once` not at all. \returns the signal that ended
// the waiting: then the lock is not held and its node is being removed. Nothing: it is held. \throws as
// BlockingWriteLock::lock_with_timeout.
std::optional<int> take_lock(BlockingWriteLock& lock, bool once, SignalQueue& signals);

}  // namespace forelock::cli
