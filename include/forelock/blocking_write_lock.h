/// \file
/// A lock for threads that may block.
#pragma once

#include <chrono>
#include <string>

#include "forelock/write_lock.h"

namespace forelock {

/// A named, priority-aware lock that excludes all other clients of the same ZooKeeper namespace.
///
/// Meets the standard's *TimedLockable* (std::unique_lock, std::scoped_lock work with it). Not re-entrant. May be
/// locked and unlocked any number of times, from different threads, one acquisition at a time. The destructor releases
/// a held lock without waiting and never throws.
///
/// *Not* promised: that work done under the lock is finished when the lock is lost; see WriteLock::healthy.
class FORELOCK_EXPORT BlockingWriteLock : public WriteLock {
 public:
  /// \param client must outlive the lock. \param lock_info short description, for people, of why the lock is taken.
  /// \param monitor the id of the monitor object: any UTF-8, 1 to 255 bytes after encoding. \param priority the class
  /// it contends in. \param options optional parameters. \throws RequestRejectedException(invalid_argument).
  BlockingWriteLock(Client& client, std::string lock_info, std::string monitor,
                    Priority priority = Priority::foreground, LockOptions options = {});
  ~BlockingWriteLock();
  /// See WriteLock.
  BlockingWriteLock(BlockingWriteLock&& other) noexcept;
  /// Releases its own lock first, as the destructor would.
  BlockingWriteLock& operator=(BlockingWriteLock&& other) noexcept;

  /// Waits without a time-out. \throws as lock_with_timeout, except for the time-out.
  void lock();

  /// Obtains the lock if it is free and no contender that ranks before this one waits; does not queue. Takes one or two
  /// round trips; without a connection it waits for one for at most the class's configured time-out. \returns whether
  /// it is held now. \throws ConnectionLossException, SessionExpiredException, RequestRejectedException.
  /// One that lingers with another process (`zookeeper.lock.linger`) is not free: only a lock that queues makes it go.
  bool try_lock();

  /// Waits at most this long; zero or less: as try_lock(). \returns whether it is held now. \throws as try_lock.
  template <class Rep, class Period>
  bool try_lock_for(const std::chrono::duration<Rep, Period>& timeout) {
    return timeout > timeout.zero() ? try_lock_until_steady(end_of(timeout)) : try_lock();
  }

  /// Waits until `deadline`, measured on the steady clock from the moment of the call: setting a clock meanwhile has no
  /// effect. \returns whether it is held now. \throws as try_lock.
  template <class Clock, class Duration>
  bool try_lock_until(const std::chrono::time_point<Clock, Duration>& deadline) {
    return try_lock_for(deadline - Clock::now());
  }

  /// Waits at most for the time configured for the lock's class (`zookeeper.foregound.task.timeout`,
  /// `zookeeper.backgound.task.timeout`).
  /// \throws InstanceLockException not obtained in time: the message names the holder, its description and since when
  /// it holds the lock, and our place in the queue. ConnectionLossException, SessionExpiredException,
  /// RequestRejectedException. After an exception we no longer occupy a place in the queue: our node is removed, in the
  /// background if need be.
  void lock_with_timeout();

  /// Cancels a waiting lock() of another thread, which then throws InstanceLockException(cancelled) or returns false.
  /// \returns whether there was one to cancel.
  bool cancel();

  /// Releases the lock: one round trip. Waits for the confirmation, at most about the session time-out; without one the
  /// release continues in the background until it is certain or the session has ended. Not held any more afterwards.
  /// With `zookeeper.lock.linger` the lock may stay with this process instead: no round trip, nothing to wait for.
  ///
  /// Never throws, as the standard asks of a mutex: its guards call this in their destructors, where an exception would
  /// end the process. That the lock was lost before, or that there is no confirmation, is written to the client's log;
  /// a loss was reported by on_lost, stop_token and check_health. So is an unlock() of a lock that is not held, which
  /// is an error of the caller. To have these cases thrown, call unlock_or_throw() before the guard's end.
  void unlock() noexcept;

  /// As unlock(), for callers whose work is in doubt if the lock was not held up to here: it throws
  /// instead of logging. \throws NoNodeException if the lock did not exist any more (no_node), or is not held
  /// (not_held); SessionExpiredException if the session ended before; ConnectionLossException if there is no
  /// confirmation. After each of them the lock is not held any more. A lock that lingers afterwards
  /// (`zookeeper.lock.linger`) was certain to be held by its session; a removal by force of which the news is still on
  /// its way is not noticed.
  void unlock_or_throw();

  /// Releases without waiting for the confirmation; the client makes sure in the background. Never throws; does nothing
  /// if the lock is not held.
  void unlock_async() noexcept;

  /// For long work of low urgency: lets all contenders that rank before this lock go first and takes the lock again,
  /// without losing its place among its class. Blocks until it is held again, at most `timeout`. \returns whether it is
  /// held again, with a new fencing_token(); if not, the place in the queue is given up. \throws LockUnhealthyException
  /// if it was not held (any more); otherwise as try_lock.
  bool step_aside(std::chrono::milliseconds timeout);

 private:
  bool try_lock_until_steady(std::chrono::steady_clock::time_point deadline);
};

}  // namespace forelock
