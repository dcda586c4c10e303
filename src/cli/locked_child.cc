#include "cli/locked_child.h"

#include <signal.h>

#include <algorithm>

#include "records/session_text.h"

namespace forelock::cli {

using std::chrono::milliseconds;

std::vector<std::pair<std::string, std::string>> lock_environment(const WriteLock& lock, const Client& client) {
  const auto left = std::chrono::duration_cast<milliseconds>(lock.expires_at() - std::chrono::steady_clock::now());
  return {{"FORELOCK_MONITOR", lock.monitor()},
          {"FORELOCK_TOKEN", std::to_string(lock.fencing_token())},
          {"FORELOCK_SESSION", records::session_text(client.session_id())},
          {"FORELOCK_PRIORITY", std::string(name_of(lock.priority()))},
          {"FORELOCK_OWNER", lock.owner().instance},
          {"FORELOCK_EXPIRES_IN_MS", std::to_string(std::max<std::int64_t>(0, left.count()))}};
}

GuardOptions guard_options(const Client& client, OnLost on_lost, milliseconds kill_after) {
  // What the server has granted, which may be less than what was asked for.
  const milliseconds margin = std::min(kill_after, client.session_timeout() / 3);
  return {on_lost, kill_after, std::max(margin, milliseconds(1))};
}

LockGuardian::Result run_under_lock(const WriteLock& lock, const Client& client, ChildOptions child,
                                    const GuardOptions& guard, const InheritedDescriptors& inherited,
                                    SignalSource& signals, const Console& console) {
  const auto environment = lock_environment(lock, client);
  child.environment.insert(child.environment.end(), environment.begin(), environment.end());
  // If this process is killed, nobody renews the lock.
  child.death_signal = guard.on_lost == OnLost::warn ? 0 : SIGTERM;
  inherited.close_others_on_exec();
  ChildProcess process(child);
  return LockGuardian(lock, signals, console, guard).guard(process);
}

}  // namespace forelock::cli
