// A CommandLock is the lock that `forelock run` takes: on one monitor, or a set of several.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "cli/run/guarded_lock.h"
#include "forelock/blocking_write_lock.h"
#include "forelock/client.h"
#include "forelock/lock_set.h"

namespace forelock::cli {

// The methods are those of BlockingWriteLock and LockSet.
class CommandLock : public GuardedLock {
 public:
  virtual void lock_with_timeout() = 0;
  virtual bool try_lock() = 0;
  virtual bool try_lock_until(std::chrono::steady_clock::time_point end) = 0;
  virtual bool cancel() = 0;
  virtual bool owns_lock() const = 0;
  virtual void unlock_or_throw() = 0;
  virtual void unlock_async() = 0;
  // Of the present or last grant.
  virtual std::vector<MemberToken> tokens() const = 0;
  // The monitor to look at: the one that is waited for, or else the first.
  virtual std::string waited_for() const = 0;
};

// \param monitors not empty. \throws RequestRejectedException(invalid_argument).
std::unique_ptr<CommandLock> make_command_lock(Client& client, const std::string& info,
                                               const std::vector<std::string>& monitors, Priority priority,
                                               const LockOptions& options);

// The monitors as name() says them.
std::string name_of_monitors(const std::vector<std::string>& monitors);

}  // namespace forelock::cli
