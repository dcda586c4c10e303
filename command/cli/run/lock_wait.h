// Takes a lock while signals can still stop the waiting.
#pragma once

#include <chrono>
#include <optional>

#include "cli/process/signal_queue.h"
#include "cli/run/command_lock.h"
#include "cli/run/wait_notice.h"
#include "forelock/client.h"

namespace forelock::cli {

struct LockWait {
  bool once = false;  // not at all, if it is held
  // The time configured for the lock's class. Who loses its session meanwhile queues again.
  std::chrono::milliseconds limit{0};
  // Wait so long for a connection first, outside the time for the lock; nothing: inside it.
  std::optional<std::chrono::milliseconds> connect_within = {};
};

// Waits for the lock for the time configured for its class. \returns the signal that ended the waiting: then the lock
// is not held and its node is being removed. Nothing: it is held. \throws as BlockingWriteLock::lock_with_timeout.
std::optional<int> take_lock(CommandLock& lock, Client& client, const LockWait& wait, SignalQueue& signals,
                             WaitNotice& notice);

}  // namespace forelock::cli
