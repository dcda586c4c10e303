#include "cli/run/lock_guardian.h"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <stop_token>
#include <utility>

namespace forelock::cli {
namespace {

// Of a family whose command has ended. Not each of them is our child, whose end would be told.
constexpr std::chrono::milliseconds between_looks{20};

}  // namespace

LockGuardian::LockGuardian(const GuardedLock& lock, SignalSource& signals, const Console& console, GuardOptions options)
    : lock_(lock), signals_(signals), console_(console), options_(options) {}

LockGuardian::Result LockGuardian::guard(ChildProcess& child) {
  const std::stop_callback on_lost(lock_.stop_token(), [this] { lost_.notify(); });
  Family family(child.id(), options_.adopt_orphans);
  for (;;) {
    const bool resumed = child.update();
    const bool ended = child.exit_code().has_value();
    if (ended && !awaits(family)) break;
    reap_orphans(child);
    Clock::time_point look_again = look_at_lock(family);
    kill_if_due(family);
    if (resumed) tell("the command cannot be suspended: its lock would run out meanwhile");
    if (ended) look_again = std::min(look_again, Clock::now() + between_looks);
    const std::optional<int> signal = signals_.wait(lost_, std::min(look_again, kill_at_));
    if (!signal || *signal == SIGCHLD) continue;
    if (terminated_) {  // the command may have ended in this moment, and others are told by nobody else
      family.signal({*signal});
    } else {
      child.signal_group(*signal);
    }
  }
  // What of the family still works does so without a lock.
  if (terminated_) kill(family);
  return {*child.exit_code(), child.signal(), child.interrupted(), terminated_ || !lock_.healthy()};
}

LockGuardian::Clock::time_point LockGuardian::look_at_lock(Family& family) {
  const auto now = Clock::now();
  // While the connection lives, this instant moves on. Read before the state: of a lost lock it says nothing.
  const Clock::time_point danger = lock_.expires_at() - options_.margin;
  if (lock_.state() == LockState::lost) {
    // With a warning before, the time to end in good order is over.
    if (!std::exchange(warned_of_loss_, true))
      end_family(family, loss(), terminated_ ? now : now + options_.kill_after);
    return Clock::time_point::max();
  }
  if (warned_of_danger_) return danger + options_.margin;
  if (now < danger) return danger;
  warned_of_danger_ = true;
  // Until the session's certain end no other client can hold the lock: by then the family must be gone.
  end_family(family, "the lock is about to be lost: no server answers",
             std::min(now + options_.kill_after, lock_.expires_at()));
  return danger + options_.margin;
}

void LockGuardian::end_family(Family& family, const std::string& why, Clock::time_point kill_at) {
  if (options_.on_lost == OnLost::warn) {
    tell(lock_.name() + ": " + why + "; the command continues (--on-lost=warn)");
    return;
  }
  // First the deed, then the word about it.
  const bool first = !std::exchange(terminated_, true);
  const pid_t refused = first ? family.signal({SIGTERM, SIGCONT}) : 0;  // a stopped process takes no other signal
  kill_at_ = std::min(kill_at_, kill_at);
  const bool refuses_itself = refused != 0 && refused == family.command();
  tell(lock_.name() + ": " + why + (first && !refuses_itself ? "; the command gets SIGTERM" : "") +
       refusal(family, refused));
}

std::string LockGuardian::refusal(const Family& family, pid_t process) {
  if (process == 0 || std::exchange(told_of_refusal_, true)) return {};
  const std::string who = process == family.command() ? "the command" : "its process " + std::to_string(process);
  return "; " + who + " cannot be ended: it runs as another user";
}

void LockGuardian::kill(Family& family) {
  const std::string refused = refusal(family, family.kill());
  if (!refused.empty()) tell(lock_.name() + ": the lock is lost" + refused);
}

void LockGuardian::kill_if_due(Family& family) {
  if (Clock::now() < kill_at_) return;
  kill(family);
  kill_at_ = Clock::time_point::max();
}

bool LockGuardian::awaits(Family& family) const {
  return terminated_ && kill_at_ != Clock::time_point::max() && Clock::now() < kill_at_ && family.is_left();
}

std::string LockGuardian::loss() const {
  const LockLoss loss = loss_of(lock_);
  const std::string which = loss.monitor == lock_.name() ? "the lock" : "the lock on " + loss.monitor;
  return which + (loss.removed ? " was taken away by force" : " is lost");
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
