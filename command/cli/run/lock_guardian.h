// A LockGuardian watches a child while a lock is held, and ends it when the lock ends first.
#pragma once

#include <chrono>
#include <string>

#include "cli/output/console.h"
#include "cli/process/child_process.h"
#include "cli/process/family.h"
#include "cli/process/signal_queue.h"
#include "cli/run/guarded_lock.h"

namespace forelock::cli {

enum class OnLost { terminate, warn };

struct GuardOptions {
  OnLost on_lost = OnLost::terminate;
  std::chrono::milliseconds kill_after{1000};  // from TERM to KILL
  std::chrono::milliseconds margin{1000};      // begin so long before the lock ends for want of answers; more than 0
  // This process has no other children: all its descendants belong to the child, and those whose parent has ended are
  // found and reaped too.
  bool adopt_orphans = false;
};

class LockGuardian {
 public:
  // How the child ended, and whether the lock was ours all the time.
  struct Result {
    int exit_code = 0;
    int signal = 0;            // that ended it; 0: none did
    bool interrupted = false;  // at its terminal
    bool lock_lost = false;
  };

  LockGuardian(const GuardedLock& lock, SignalSource& signals, const Console& console, GuardOptions options);

  // Waits for the child's end; forwards signals to its group. The lock must be held. When it is lost, the child and all
  // its descendants get TERM, the same time to end, and those that are left then KILL; it returns when all of them are
  // gone. Nothing in here waits for a reader of stderr for long.
  Result guard(ChildProcess& child);

 private:
  using Clock = std::chrono::steady_clock;

  // \returns when to look again at the latest.
  Clock::time_point look_at_lock(Family& family);
  void end_family(Family& family, const std::string& why, Clock::time_point kill_at);
  void kill(Family& family);
  void kill_if_due(Family& family);
  // Whether some of those who were told to end still have the time for it.
  bool awaits(Family& family) const;
  void reap_orphans(const ChildProcess& child) const;
  // What is said of a process to which no signal may be sent; empty if there is none.
  std::string refusal(const Family& family, pid_t process);
  // "the lock is lost", and why, as far as it is known.
  std::string loss() const;
  // With -o json, stderr is for the one JSON object.
  void tell(const std::string& message) const;

  const GuardedLock& lock_;
  SignalSource& signals_;
  const Console& console_;
  GuardOptions options_;
  WakeUp lost_;
  bool warned_of_danger_ = false;
  bool warned_of_loss_ = false;
  bool terminated_ = false;  // the family was told to end because of the lock
  bool told_of_refusal_ = false;
  Clock::time_point kill_at_ = Clock::time_point::max();
};

}  // namespace forelock::cli
