#include "cli/run/lock_wait.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "cli/connection.h"
#include "cli/hints.h"
#include "cli/output/quantity_text.h"
#include "cli/process/task.h"
#include "forelock/error.h"

namespace forelock::cli {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

void connect(Client& client, const std::string& monitor, milliseconds within, const std::atomic<bool>& stopped) {
  constexpr milliseconds look_at_stop_after{20};
  const Clock::time_point end = Clock::now() + within;
  while (!stopped && Clock::now() < end) {
    if (client.wait_connected(look_at_stop_after)) return;
  }
  const std::string problem = client.last_problem();
  throw ConnectionLossException(ErrorCode::connection_loss, monitor,
                                "no connection to ZooKeeper within " + duration_text(within) + ", so no lock on " +
                                    monitor + (problem.empty() ? "" : ": " + problem),
                                "forelock doctor");
}

// A session that ends takes the place in the queue with it, and a person's time for the lock goes on.
void lock_within(CommandLock& lock, milliseconds limit, const std::atomic<bool>& stopped) {
  const Clock::time_point end = Clock::now() + limit;
  try {
    return lock.lock_with_timeout();
  } catch (const SessionExpiredException&) {
    if (stopped) throw;
  }
  while (Clock::now() < end) {
    try {
      if (lock.try_lock_until(end)) return;
      break;
    } catch (const SessionExpiredException&) {
      if (stopped) throw;
    }
  }
  throw InstanceLockException(ErrorCode::lock_timeout, lock.waited_for(),
                              "the lock on " + lock.waited_for() + " was not obtained within " + duration_text(limit) +
                                  "; our session ended meanwhile, and we queued again",
                              show_hint(lock.waited_for()));
}

// Of a set nobody has said which member it was.
InstanceLockException unavailable(const CommandLock& lock) {
  const bool single = lock.name() == lock.waited_for();
  return {ErrorCode::lock_unavailable, single ? lock.name() : "",
          (single ? "" : "of ") + lock.name() + (single ? " is" : " at least one is") + " held, or waited for",
          single ? show_hint(lock.name()) : "forelock ls"};
}

// Cancels until that has had an effect: a signal may come before the waiting has begun.
void cancel(CommandLock& lock, const Task<bool>& taking) {
  while (!taking.done() && !lock.cancel()) std::this_thread::sleep_for(milliseconds(1));
}

}  // namespace

std::optional<int> take_lock(CommandLock& lock, Client& client, const LockWait& wait, SignalQueue& signals,
                             WaitNotice& notice) {
  std::atomic<bool> stopped = false;
  Task<bool> taking([&] {
    if (wait.connect_within) connect(client, lock.waited_for(), *wait.connect_within, stopped);
    if (wait.once) return lock.try_lock();
    lock_within(lock, wait.limit, stopped);
    return true;
  });
  std::optional<int> ended_by;
  while (!taking.done()) {
    const std::optional<int> signal = signals.wait(taking.wake_up(), notice.due());
    if (Clock::now() >= notice.due()) notice.give();
    if (!signal || !ends_waiting(*signal)) continue;
    ended_by = signal;
    stopped = true;
    cancel(lock, taking);
    break;
  }
  try {
    const bool taken = taking.result();
    if (!ended_by && !taken) {
      throw unavailable(lock);
    }
  } catch (const Error&) {
    if (!ended_by) throw;
    return ended_by;  // what the waiting says to being cancelled
  }
  if (ended_by && lock.owns_lock()) lock.unlock_async();  // the grant was faster
  return ended_by;
}

}  // namespace forelock::cli
