// A GuardedLock is what a command that runs under a lock needs to know of it, whether it is on one monitor or several.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "forelock/client.h"
#include "forelock/write_lock.h"

namespace forelock::cli {

class GuardedLock {
 public:
  virtual ~GuardedLock() = default;

  // For messages: "P1", or "P1 and 2 more".
  virtual std::string name() const = 0;
  virtual LockState state() const = 0;
  virtual bool healthy() const = 0;
  // \throws LockUnhealthyException, which names the monitor that was lost.
  virtual void check_health() const = 0;
  virtual std::chrono::steady_clock::time_point expires_at() const = 0;
  virtual std::stop_token stop_token() const = 0;
  // What a command is told of it: FORELOCK_MONITOR and the like.
  virtual std::vector<std::pair<std::string, std::string>> environment(const Client& client) const = 0;
};

struct LockLoss {
  std::string monitor;
  bool removed = false;  // deleted, by an administrator say
};

// Of a lock that is lost.
LockLoss loss_of(const GuardedLock& lock);

// A lock on one monitor. It outlives this object.
class GuardedWriteLock final : public GuardedLock {
 public:
  explicit GuardedWriteLock(const WriteLock& lock) : lock_(lock) {}

  std::string name() const override { return lock_.monitor(); }
  LockState state() const override { return lock_.state(); }
  bool healthy() const override { return lock_.healthy(); }
  void check_health() const override { lock_.check_health(); }
  std::chrono::steady_clock::time_point expires_at() const override { return lock_.expires_at(); }
  std::stop_token stop_token() const override { return lock_.stop_token(); }
  std::vector<std::pair<std::string, std::string>> environment(const Client& client) const override;

 private:
  const WriteLock& lock_;
};

}  // namespace forelock::cli
