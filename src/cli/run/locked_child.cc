#include "cli/run/locked_child.h"

#include <signal.h>

#include <algorithm>

namespace forelock::cli {

using std::chrono::milliseconds;

GuardOptions guard_options(const Client& client, OnLost on_lost, milliseconds kill_after) {
  // What the server has granted, which may be less than what was asked for.
  const milliseconds margin = std::min(kill_after, client.session_timeout() / 3);
  return {on_lost, kill_after, std::max(margin, milliseconds(1))};
}

LockGuardian::Result run_under_lock(const GuardedLock& lock, const Client& client, ChildOptions child,
                                    const GuardOptions& guard, const InheritedDescriptors& inherited,
                                    SignalSource& signals, const Console& console) {
  const auto environment = lock.environment(client);
  child.environment.insert(child.environment.end(), environment.begin(), environment.end());
  // If this process is killed, the lock is not renewed.
  child.death_signal = guard.on_lost == OnLost::warn ? 0 : SIGTERM;
  inherited.close_others_on_exec();
  ChildProcess process(child);
  return LockGuardian(lock, signals, console, guard).guard(process);
}

}  // namespace forelock::cli
