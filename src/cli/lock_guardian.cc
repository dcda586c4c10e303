#include "cli/lock_guardian.h"

#include <signal.h>

#include <algorithm>
#include <stop_token>
#include <utility>

namespace forelock::cli {

LockGuardian::LockGuardian(const WriteLock& lock, SignalSource& signals, const Console& console, GuardOptions options)
    : lock_(lock), signals_(signals), console_(console), options_(options) {}

LockGuardian::Result LockGuardian::guard(ChildProcess& child) {
  const std::stop_callback on_lost(lock_.stop_token(), [this] { lost_.notify(); });
  for (;;) {
    if (child.update()) console_.warn("the command cannot be suspended: its lock would run out meanwhile");
    if (child.exit_code()) break;
    const Clock::time_point look_again = look_at_lock(child);
    kill_if_due(child);
    const std::optional<int> signal = signals_.wait(lost_, std::min(look_again, kill_at_));
    if (signal && *signal != SIGCHLD) child.signal_group(*signal);
  }
  // Whoever of the group still works does so without a lock.
  if (terminated_) child.signal_group(SIGKILL);
  return {*child.exit_code(), child.signal(), child.interrupted(), terminated_ || !lock_.healthy()};
}

LockGuardian::Clock::time_point LockGuardian::look_at_lock(const ChildProcess& child) {
  const auto now = Clock::now();
  // While the connection lives, this instant moves on. Read before the state: of a lost lock it says nothing.
  const Clock::time_point danger = lock_.expires_at() - options_.margin;
  if (lock_.state() == LockState::lost) {
    // With a warning before, the time to end in good order is over.
    if (!std::exchange(warned_of_loss_, true))
      end_group(child, "the lock is lost", terminated_ ? now : now + options_.kill_after);
    return Clock::time_point::max();
  }
  if (warned_of_danger_) return danger + options_.margin;
  if (now < danger) return danger;
  warned_of_danger_ = true;
  // Until the session's certain end nobody else can hold the lock: by then the group must be gone.
  end_group(child, "the lock is about to be lost: no server answers",
            std::min(now + options_.kill_after, lock_.expires_at()));
  return danger + options_.margin;
}

void LockGuardian::end_group(const ChildProcess& child, const std::string& why, Clock::time_point kill_at) {
  if (options_.on_lost == OnLost::warn) {
    console_.warn(lock_.monitor() + ": " + why + "; the command goes on (--on-lost=warn)");
    return;
  }
  console_.warn(lock_.monitor() + ": " + why + (terminated_ ? "" : "; the command is told to end"));
  if (!std::exchange(terminated_, true)) {
    child.signal_group(SIGTERM);
    child.signal_group(SIGCONT);  // a stopped process takes no other signal
  }
  kill_at_ = std::min(kill_at_, kill_at);
}

void LockGuardian::kill_if_due(const ChildProcess& child) {
  if (Clock::now() < kill_at_) return;
  child.signal_group(SIGKILL);
  kill_at_ = Clock::time_point::max();
}

}  // namespace forelock::cli
