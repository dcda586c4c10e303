#include "cli/lock_wait.h"

#include <atomic>
#include <exception>
#include <thread>

#include "cli/hints.h"
#include "forelock/error.h"

namespace forelock::cli {
namespace {

// Blocks in a thread of its own, because the main one reads signals.
class Taker {
 public:
  Taker(BlockingWriteLock& lock, bool once)
      : thread_([this, &lock, once] {
          try {
            taken_ = take(lock, once);
          } catch (...) {
            error_ = std::current_exception();
          }
          done_ = true;
          wake_up_.notify();
        }) {}

  // Whether the lock is held; throws what the waiting threw.
  bool result() {
    thread_.join();
    if (error_) std::rethrow_exception(error_);
    return taken_;
  }

  bool done() const { return done_; }
  const WakeUp& wake_up() const { return wake_up_; }

 private:
  static bool take(BlockingWriteLock& lock, bool once) {
    if (once) return lock.try_lock();
    lock.lock_with_timeout();
    return true;
  }

  WakeUp wake_up_;
  std::atomic<bool> done_ = false;
  bool taken_ = false;
  std::exception_ptr error_;
  std::thread thread_;  // last: it uses the others
};

// Cancels until that has had an effect: a signal may come before the waiting has begun.
void cancel(BlockingWriteLock& lock, const Taker& taker) {
  while (!taker.done() && !lock.cancel()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace

bool ends_waiting(int signal) {
  return signal != SIGCHLD && signal != SIGWINCH && signal != SIGCONT;
}

std::optional<int> take_lock(BlockingWriteLock& lock, bool once, SignalQueue& signals) {
  Taker taker(lock, once);
  std::optional<int> ended_by;
  while (!taker.done()) {
    const std::optional<int> signal = signals.wait(taker.wake_up(), std::chrono::steady_clock::time_point::max());
    if (!signal || !ends_waiting(*signal)) continue;
    ended_by = signal;
    cancel(lock, taker);
    break;
  }
  try {
    const bool taken = taker.result();
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
