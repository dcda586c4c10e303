// Runs a child while a lock is held, and ends it when the lock ends first.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>

#include "cli/child_process.h"
#include "cli/console.h"
#include "cli/signal_queue.h"
#include "cli/wake_up.h"
#include "forelock/blocking_write_lock.h"

namespace forelock::cli {

enum class OnLost { terminate, warn };

// What the lock's callbacks say, from their thread, to the thread that waits for the child. Shared with the callbacks,
// which may outlive the guardian.
struct LockNews {
  WakeUp wake_up;
  std::atomic<bool> in_danger = false;
  std::atomic<bool> lost = false;
};

class LockGuardian {
 public:
  // How the child ended, and whether the lock was ours all the time.
  struct Result {
    int exit_code = 0;
    bool lock_lost = false;
  };

  // `news` must be told by the lock's on_lost and on_danger.
  LockGuardian(WriteLock& lock, std::shared_ptr<LockNews> news, SignalQueue& signals, const Console& console,
               OnLost on_lost, std::chrono::milliseconds kill_after);

  // Waits for the child's end; forwards signals to its group. The lock must be held.
  Result guard(ChildProcess& child);

 private:
  using Clock = std::chrono::steady_clock;

  void look_at_lock(const ChildProcess& child);
  void end_group(const ChildProcess& child, const std::string& why, Clock::time_point kill_at);
  void kill_if_due(const ChildProcess& child);

  WriteLock& lock_;
  std::shared_ptr<LockNews> news_;
  SignalQueue& signals_;
  const Console& console_;
  OnLost on_lost_;
  std::chrono::milliseconds kill_after_;
  bool warned_of_danger_ = false;
  bool warned_of_loss_ = false;
  bool terminated_ = false;  // the group was told to end because of the lock
  Clock::time_point kill_at_ = Clock::time_point::max();
};

}  // namespace forelock::cli
