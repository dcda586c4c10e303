#include "cli/lock_wait.h"

#include <thread>

#include "cli/hints.h"
#include "cli/task.h"
#include "forelock/error.h"

namespace forelock::cli {
namespace {

bool take(BlockingWriteLock& lock, bool once) {
  if (once) return lock.try_lock();
  lock.lock_with_timeout();
  return true;
}

// Cancels until that has had an effect: a signal may come before the waiting has begun.
void cancel(BlockingWriteLock& lock, const Task<bool>& taking) {
  while (!taking.done() && !lock.cancel()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace

std::optional<int> take_lock(BlockingWriteLock& lock, bool once, SignalQueue& signals) {
  Task<bool> taking([&lock, once] { return take(lock, once); });
  std::optional<int> ended_by;
  while (!taking.done()) {
    const std::optional<int> signal = signals.wait(taking.wake_up(), std::chrono::steady_clock::time_point::max());
    if (!signal || !ends_waiting(*signal)) continue;
    ended_by = signal;
    cancel(lock, taking);
    break;
  }
  try {
    const bool taken = taking.result();
    if (!ended_by && !taken) {
      throw InstanceLockException(ErrorCode::lock_unavailable, lock.monitor(),
                                  lock.monitor() + " is held, or waited for", show_hint(lock.monitor()));
    }
  } catch (const Error&) {
    if (!ended_by) throw;
    return ended_by;  // what the waiting says to being cancelled
  }
  if (ended_by && lock.owns_lock()) lock.unlock_async();  // the grant was faster
  return ended_by;
}

}  // namespace forelock::cli
