/// \file
/// The owner record that every contender leaves on the server: its identity and the purpose of its lock.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "forelock/export.h"
#include "forelock/priority.h"

namespace forelock {

/// Wall-clock instants, for people only: no decision of the lock depends on them.
using WallTime = std::chrono::time_point<std::chrono::system_clock, std::chrono::milliseconds>;

/// A plain value; as JSON it is the data of the contender's node and, for the holder, of `privateLock`.
struct FORELOCK_EXPORT OwnerRecord {
  std::string lock_info;                                      ///< why it takes the lock, e.g. "Save Content"
  std::string instance;                                       ///< the process and thread: `host/pid/thread`
  Priority priority = Priority::foreground;                   ///< the class it contends in
  std::optional<Priority> rank;                               ///< in whose queue it stands, where it has moved
  bool by_wish = false;                                       ///< of that class because an operator has wished it
  std::optional<Priority> wish;                               ///< waiter: the class that an operator wishes it to have
  std::string guid;                                           ///< identifies this acquisition
  WallTime enqueued_at{};                                     ///< when it began to wait
  std::optional<WallTime> acquired_at;                        ///< holder: when the claim was sent
  std::optional<std::chrono::milliseconds> expected_runtime;  ///< how long the holder expects to need
  std::optional<WallTime> alert_at;                           ///< when an operator should look at it
  std::optional<WallTime> auto_unlock_at;                     ///< when an unlocker may free it; only if asked for
  std::optional<std::int64_t> fencing_token;                  ///< holder: of its grant, once alive() has said so
  /// How long the lock may stay with its process after a section (`zookeeper.lock.linger`). Then the rest of the record
  /// is that of the first section of the grant: a later one may be under way, or none.
  std::optional<std::chrono::milliseconds> linger;
  /// After how long without anybody of its class before it this contender moves to the end of the foreground's queue
  /// (`zookeeper.background.max.wait`).
  std::optional<std::chrono::milliseconds> max_wait;
  std::string set;                       ///< of a member of a lock set: that acquisition of the set; else empty
  std::uint64_t set_size = 0;            ///< how many members that set has; 0: no set
  std::vector<std::string> set_members;  ///< the first of them, in the order in which they are taken
  std::vector<std::string> stack;        ///< where lock() was called, innermost first

  /// One line of JSON with sorted, stable keys (lockInfo, instance, priority, guid, enqueuedAt, acquiredAt,
  /// expectedRuntimeMs, alertAt, autoUnlockAt, byWish, fencingToken, lingerMs, maxWaitMs, rank, set, setMembers,
  /// setSize, stack, wish; times in ISO 8601 UTC with milliseconds). Invalid UTF-8 is replaced. At most
  /// max_record_bytes: the stack is shortened first, then the set's members, then the lock info.
  std::string to_json() const;

  /// Nothing if the bytes are not an owner record: third-party clients may leave any data, or none. Unknown keys
  /// are ignored. Never throws for bad input.
  static std::optional<OwnerRecord> from_json(std::string_view json);

  /// The limit on to_json(), in bytes.
  static constexpr std::size_t max_record_bytes = 8192;

  /// Every field.
  bool operator==(const OwnerRecord&) const = default;
};

}  // namespace forelock
