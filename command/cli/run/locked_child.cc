#include "cli/run/locked_child.h"

#include <signal.h>

#include <algorithm>
#include <string>

#include "client/client_core.h"
#include "forelock/error.h"

namespace forelock::cli {

using std::chrono::milliseconds;

namespace {

void check_before_begin(const GuardedLock& lock) {
  try {
    lock.check_health();
  } catch (const LockUnhealthyException& error) {
    throw LockUnhealthyException(error.code(), error.monitor(),
                                 std::string(error.what()) + "; the command was not begun",
                                 "another client may hold the lock");
  }
}

}  // namespace

GuardOptions guard_options(const Client& client, OnLost on_lost, milliseconds kill_after) {
  // What the server has granted, which may be less than what was asked for.
  const milliseconds margin = std::min(kill_after, client.session_timeout() / 3);
  return {on_lost, kill_after, std::max(margin, milliseconds(1))};
}

LockGuardian::Result run_under_lock(const GuardedLock& lock, const Client& client, ChildOptions child,
                                    const GuardOptions& guard, const InheritedDescriptors& inherited,
                                    SignalSource& signals, const Console& console) {
  const auto environment = lock.environment(client);
  // Those of a lock around this one, of one monitor or several, are not of this lock.
  child.hidden = {"FORELOCK_MONITOR", "FORELOCK_TOKEN", "FORELOCK_MONITORS", "FORELOCK_TOKENS", "FORELOCK_HELD"};
  child.environment.insert(child.environment.end(), environment.begin(), environment.end());
  // If this process is killed, the lock is not renewed.
  child.death_signal = guard.on_lost == OnLost::warn ? 0 : SIGTERM;
  inherited.close_others_on_exec();
  // If this process is killed, its successor frees the lock early only when nothing of the command is left.
  child.kept_open = client.core()->ensemble().share_session_file();
  // Between the grant and this moment the process may have been stopped for longer than its session.
  child.may_begin = [&lock] { check_before_begin(lock); };
  ChildProcess process(child);
  return LockGuardian(lock, signals, console, guard).guard(process);
}

}  // namespace forelock::cli
