#include "cli/lock_guardian.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <stop_token>
#include <string_view>
#include <utility>

#include "cli/descendants.h"
#include "forelock/error.h"

namespace forelock::cli {

LockGuardian::LockGuardian(const WriteLock& lock, SignalSource& signals, const Console& console, GuardOptions options)
    : lock_(lock), signals_(signals), console_(console), options_(options) {}

LockGuardian::Result LockGuardian::guard(ChildProcess& child) {
  const std::stop_callback on_lost(lock_.stop_token(), [this] { lost_.notify(); });
  for (;;) {
    const bool resumed = child.update();
    if (child.exit_code()) break;
    reap_orphans(child);
    const Clock::time_point look_again = look_at_lock(child);
    kill_if_due(child);
    if (resumed) tell("the command cannot be suspended: its lock would run out meanwhile");
    const std::optional<int> signal = signals_.wait(lost_, std::min(look_again, kill_at_));
    if (signal && *signal != SIGCHLD) child.signal_group(*signal);
  }
  // What of the family still works does so without a lock.
  if (terminated_) kill_family(child);
  return {*child.exit_code(), child.signal(), child.interrupted(), terminated_ || !lock_.healthy()};
}

LockGuardian::Clock::time_point LockGuardian::look_at_lock(const ChildProcess& child) {
  const auto now = Clock::now();
  // While the connection lives, this instant moves on. Read before the state: of a lost lock it says nothing.
  const Clock::time_point danger = lock_.expires_at() - options_.margin;
  if (lock_.state() == LockState::lost) {
    // With a warning before, the time to end in good order is over.
    if (!std::exchange(warned_of_loss_, true)) end_group(child, loss(), terminated_ ? now : now + options_.kill_after);
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
    tell(lock_.monitor() + ": " + why + "; the command goes on (--on-lost=warn)");
    return;
  }
  // First the deed, then the word about it.
  const bool first = !std::exchange(terminated_, true);
  if (first) terminate_family(child);
  kill_at_ = std::min(kill_at_, kill_at);
  tell(lock_.monitor() + ": " + why + (first ? "; the command is told to end" : ""));
}

void LockGuardian::kill_if_due(const ChildProcess& child) {
  if (Clock::now() < kill_at_) return;
  kill_family(child);
  kill_at_ = Clock::time_point::max();
}

pid_t LockGuardian::family_of(const ChildProcess& child) const {
  return options_.adopt_orphans ? getpid() : child.id();
}

std::string LockGuardian::loss() const {
  const std::string removed = '(' + std::string(name_of(LossReason::removed)) + ')';
  try {
    lock_.check_health();
  } catch (const Error& error) {
    if (std::string_view(error.what()).find(removed) != std::string_view::npos)
      return "the lock was taken away by force";
  }
  return "the lock is lost";
}

void LockGuardian::terminate_family(const ChildProcess& child) const {
  child.signal_group(SIGTERM);
  child.signal_group(SIGCONT);  // a stopped process takes no other signal
  for (const pid_t process : descendants_of(family_of(child))) {
    if (process == child.id() || getpgid(process) == child.id()) continue;  // has it
    kill(process, SIGTERM);
    kill(process, SIGCONT);
  }
}

void LockGuardian::kill_family(const ChildProcess& child) const {
  child.signal_group(SIGKILL);
  kill_descendants(family_of(child));
}

void LockGuardian::reap_orphans(const ChildProcess& child) const {
  siginfo_t ended{};
  while (options_.adopt_orphans && waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid > 0 &&
         ended.si_pid != child.id()) {
    waitpid(ended.si_pid, nullptr, 0);
    ended = {};
  }
}

void LockGuardian::tell(const std::string& message) const {
  if (console_.text()) console_.warn(message);
}

}  // namespace forelock::cli
