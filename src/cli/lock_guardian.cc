#include "cli/lock_guardian.h"

#include <algorithm>
#include <string>
#include <utility>

namespace forelock::cli {

LockGuardian::LockGuardian(WriteLock& lock, std::shared_ptr<LockNews> news, SignalQueue& signals,
                           const Console& console, OnLost on_lost, std::chrono::milliseconds kill_after)
    : lock_(lock),
      news_(std::move(news)),
      signals_(signals),
      console_(console),
      on_lost_(on_lost),
      kill_after_(kill_after) {}

LockGuardian::Result LockGuardian::guard(ChildProcess& child) {
  for (;;) {
    if (child.update()) console_.warn("the command cannot be suspended: its lock would run out meanwhile");
    if (child.exit_code()) break;
    look_at_lock(child);
    kill_if_due(child);
    const std::optional<int> signal = signals_.wait(news_->wake_up, kill_at_);
    if (signal && *signal != SIGCHLD) child.signal_group(*signal);
  }
  // Whoever of the group still works does so without a lock.
  if (terminated_) child.signal_group(SIGKILL);
  return {*child.exit_code(), terminated_ || news_->lost || !lock_.healthy()};
}

void LockGuardian::look_at_lock(const ChildProcess& child) {
  const auto now = Clock::now();
  if (news_->lost && !std::exchange(warned_of_loss_, true)) {
    // With a warning before, the time to end in good order is over.
    end_group(child, "the lock is lost", terminated_ ? now : now + kill_after_);
  } else if (news_->in_danger && !news_->lost && !std::exchange(warned_of_danger_, true)) {
    // Until the session's certain end nobody else can hold the lock: by then the group must be gone.
    end_group(child, "the lock is about to be lost: no server answers",
              std::min(now + kill_after_, lock_.expires_at()));
  }
}

void LockGuardian::end_group(const ChildProcess& child, const std::string& why, Clock::time_point kill_at) {
  if (on_lost_ == OnLost::warn) {
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
