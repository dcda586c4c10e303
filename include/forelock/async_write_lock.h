/// \file
/// A lock for callers that must not block: transport threads of search engines, event loops.
#pragma once

#include <exception>
#include <functional>
#include <string>

#include "forelock/write_lock.h"

namespace forelock {

/// One acquisition at a time, as BlockingWriteLock, with callbacks instead of waiting. Callbacks run on the client's
/// one dispatcher thread; they should be short, because those of all locks share that thread. Waiting objects need no
/// threads of their own.
///
/// The destructor cancels a waiting acquisition and releases a held lock without waiting. A callback of acquire() or
/// release() that has not been called yet is called by the destructor, on its thread and before it returns, with
/// InstanceLockException(cancelled), so that each is called exactly once; the others are not called any more. Do not
/// hold a mutex there that such a callback takes. Destroy it from a callback of its own only as the last act of that
/// callback.
class FORELOCK_EXPORT AsyncWriteLock : public WriteLock {
 public:
  /// As BlockingWriteLock.
  AsyncWriteLock(Client& client, std::string lock_info, std::string monitor, Priority priority = Priority::foreground,
                 LockOptions options = {});
  ~AsyncWriteLock();
  /// See WriteLock.
  AsyncWriteLock(AsyncWriteLock&& other) noexcept;
  /// Releases its own lock first, as the destructor would.
  AsyncWriteLock& operator=(AsyncWriteLock&& other) noexcept;

  /// Called exactly once for each acquire() that has not thrown: with nullptr when the lock is held, else with what
  /// BlockingWriteLock would have thrown. On the dispatcher thread; on the calling one if the client is being closed,
  /// and see the destructor.
  using AcquireCallback = std::function<void(std::exception_ptr error)>;
  /// Called exactly once for each release: with nullptr when it is confirmed, else as unlock_or_throw, after
  /// about the session time-out at the latest. On the dispatcher thread; on the calling one if the client has been
  /// closed before, and see the destructor.
  using ReleaseCallback = std::function<void(std::exception_ptr error)>;

  /// Begins to contend; returns at once. Uses the time-out configured for the class.
  /// \throws RequestRejectedException(already_held) if it is held or waiting.
  void acquire(AcquireCallback callback);
  /// The same with the given time-out.
  void acquire(std::chrono::milliseconds timeout, AcquireCallback callback);

  /// Cancels a waiting acquisition: its callback gets InstanceLockException(cancelled). If the lock has been granted
  /// already, the result is false and the callback gets (or got) nullptr.
  bool cancel();

  /// Releases the lock; returns at once. The callback may be empty. Without a lock the callback gets NoNodeException.
  void release(ReleaseCallback callback = {});
};

}  // namespace forelock
