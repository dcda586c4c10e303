/// \file
/// `synchronized (monitor) { … }` for several machines.
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include "forelock/blocking_write_lock.h"
#include "forelock/client.h"

namespace forelock {

/// Runs `fn` while the monitor is locked, with the time-out configured for the class, and releases the lock on
/// every path. `fn` may take the lock (`BlockingWriteLock&`) for check_health, the token and the like, or nothing.
/// \returns what `fn` returns. \throws as BlockingWriteLock::lock_with_timeout (then `fn` was not called); what `fn`
/// throws; and when `fn` returned but the lock was lost meanwhile, LockUnhealthyException: its work may have overlapped
/// with another holder's.
template <class Fn>
decltype(auto) synchronized(Client& client, std::string lock_info, std::string monitor, Fn&& fn,
                            Priority priority = Priority::foreground, LockOptions options = {}) {
  BlockingWriteLock lock(client, std::move(lock_info), std::move(monitor), priority, std::move(options));
  lock.lock_with_timeout();
  // Checks the lock after the work but before the release; the destructor of `lock` releases on every path.
  struct Finish {
    BlockingWriteLock& lock;
    void operator()() const {
      lock.check_health();
      lock.unlock_async();
    }
  } finish{lock};
  auto call = [&]() -> decltype(auto) {
    if constexpr (std::is_invocable_v<Fn, BlockingWriteLock&>) {
      return std::forward<Fn>(fn)(lock);
    } else {
      return std::forward<Fn>(fn)();
    }
  };
  if constexpr (std::is_void_v<decltype(call())>) {
    call();
    finish();
  } else {
    decltype(auto) result = call();
    finish();
    if constexpr (std::is_reference_v<decltype(result)>) {
      return static_cast<decltype(result)>(result);
    } else {
      return result;
    }
  }
}

}  // namespace forelock
