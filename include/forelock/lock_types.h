/// \file
/// The types that the classes for locks, the settings and the protocol have in common.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace forelock {

/// The node that a process watches while it waits for a monitor (`zookeeper.lock.watch`).
enum class WatchMode {
  parent,      ///< the monitor's node: one watch for a process and monitor
  predecessor  ///< the node before its own first one: for very many processes on one monitor
};

/// Whether a lock waits that would probably not be obtained in time (`zookeeper.admission`).
enum class Admission {
  off,    ///< it does
  refuse  ///< it is refused at once, with ErrorCode::lock_refused
};

/// Why a held lock was lost.
enum class LossReason {
  deadline_passed,  ///< the session could not be proved alive in time; another client may hold the lock now
  session_expired,  ///< the server has ended the session
  removed,          ///< the lock was deleted: by an administrator, by an unlocker
  closed            ///< the client was closed under it
};

/// "deadline_passed", "session_expired", "removed" or "closed".
constexpr std::string_view name_of(LossReason reason) noexcept {
  switch (reason) {
    case LossReason::deadline_passed:
      return "deadline_passed";
    case LossReason::session_expired:
      return "session_expired";
    case LossReason::removed:
      return "removed";
    case LossReason::closed:
      return "closed";
  }
  return "unknown";
}

/// The place of a waiting lock in the queue.
struct QueuePosition {
  std::size_t place = 0;  ///< 1 is next
  std::string behind;     ///< the node directly before ours, e.g. "A-0000000007", or "privateLock": only the holder
  /// How long it will probably still wait, by how this process's latest waits of its class for the monitor went;
  /// nothing as long as these were too few.
  std::optional<std::chrono::milliseconds> expected_wait = {};

  /// Same place, behind the same node.
  bool operator==(const QueuePosition& other) const { return place == other.place && behind == other.behind; }
};

/// When a time-out of any unit that begins now ends, on the steady clock; the clock's own end where it is beyond that.
template <class Rep, class Period>
std::chrono::steady_clock::time_point end_of(const std::chrono::duration<Rep, Period>& timeout) {
  using Clock = std::chrono::steady_clock;
  const auto now = Clock::now();
  // Compared as floating point: the largest durations of some units overflow in those of the clock.
  const std::chrono::duration<double> left = Clock::time_point::max() - now;
  if (std::chrono::duration<double>(timeout) >= left) return Clock::time_point::max();
  return now + std::chrono::ceil<Clock::duration>(timeout);
}

}  // namespace forelock
