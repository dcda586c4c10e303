/// \file
/// A view of a namespace: the holders, the waiting contenders, and their records.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "forelock/client.h"
#include "forelock/owner_record.h"

namespace forelock {

/// The holder of a monitor.
struct HolderView {
  std::optional<OwnerRecord> owner;   ///< nothing if it left no record that can be read
  std::optional<Priority> priority;   ///< from the record, or from its node's prefix; nothing if unknown
  std::optional<std::string> node;    ///< its contender node, e.g. "A-0000000003"; nothing if it has none
  std::int64_t session = 0;           ///< the session that owns `privateLock`
  std::int64_t token = 0;             ///< the holder's fencing token
  std::int32_t version = 0;           ///< data version of `privateLock`
  std::chrono::milliseconds held{0};  ///< how long, by the wall clocks of server and caller
};

/// A contender in the queue.
struct WaiterView {
  std::size_t position = 0;  ///< 1 is next
  std::string node;          ///< e.g. "B-0000000008"
  /// What it is; `owner->rank` where it has moved to another class's queue. Empty if the node has neither configured
  /// prefix.
  std::optional<Priority> priority;
  std::optional<OwnerRecord> owner;     ///< nothing if it left no record that can be read
  std::int64_t session = 0;             ///< the session that its node belongs to
  std::chrono::milliseconds waited{0};  ///< how long, by the wall clocks of server and caller
  std::string behind;                   ///< the node it waits for: the one before it, or "privateLock"
};

/// One monitor object as it was at one moment (reads are not one transaction: a queue that moves may be seen half-way).
struct MonitorView {
  std::string monitor;               ///< the id, decoded
  std::string path;                  ///< its znode, e.g. "/P1"
  std::optional<HolderView> holder;  ///< nothing while the lock is free
  std::vector<WaiterView> queue;     ///< in the order in which they will be served
  std::int64_t next_sequence = 0;    ///< the number that the next contender gets
};

/// Short form, for lists.
struct MonitorSummary {
  std::string monitor;                                   ///< the id, decoded
  std::optional<HolderView> holder;                      ///< nothing while the lock is free
  std::size_t waiting_foreground = 0;                    ///< how many of that class wait
  std::size_t waiting_background = 0;                    ///< how many of that class wait
  std::optional<std::chrono::milliseconds> oldest_wait;  ///< of all that wait; nothing if none does
};

/// A lock set, as far as its nodes tell. Its records name the first members alone.
struct LockSetView {
  std::string id;                        ///< of that acquisition of the set
  std::uint64_t size = 0;                ///< how many members it has
  std::vector<std::string> members;      ///< those that its records name, in the order in which they are taken
  std::vector<std::string> held;         ///< those of them that it holds
  std::uint64_t held_count = 0;          ///< how many it holds, of those that are not named too
  std::optional<std::string> waits_for;  ///< the member in whose queue it waits; nothing if it waits in none
  std::optional<HolderView> behind;      ///< the holder of that one
};

/// The result of force_release().
enum class ForceReleaseResult {
  released,        ///< the holder's nodes are gone
  holder_changed,  ///< another contender holds it now, or none: nothing was done
  no_such_monitor  ///< there is no such monitor
};

/// Reads through a client's session; blocks for the round trips it needs, at most `timeout` for each call. Thread-safe.
/// Every method throws ConnectionLossException (no answer in time), SessionExpiredException or RequestRejectedException
/// (not_authorized and the like).
class FORELOCK_EXPORT Inspector {
 public:
  /// \param client must outlive it. \param timeout for each call, not for each round trip.
  explicit Inspector(Client& client, std::chrono::milliseconds timeout = std::chrono::seconds(5));

  /// Monitors that are held or waited for, with `all` also the idle ones; sorted by id. Nodes of other applications in
  /// the same namespace are left out: with `all`, a node counts as a monitor if it has no child that is not ours. So
  /// are nodes that the client may not list: monitors of clients with other credentials, or others' nodes.
  /// \param all whether the idle ones, too. \param not_permitted gets the number of these nodes; may be null.
  std::vector<MonitorSummary> list(bool all = false, std::size_t* not_permitted = nullptr);

  /// One monitor in full, or nothing if it does not exist.
  std::optional<MonitorView> show(const std::string& monitor);

  /// The holder alone, by one read, however many wait; without its node. Nothing if the monitor is not held.
  std::optional<HolderView> holder(const std::string& monitor);

  /// A text by which two processes find out whether they share one namespace: the same for all clients of it, whichever
  /// of its servers they name, and for no other one in the world. It is a random UUID in the node `%forelock-identity`,
  /// made by the first who asks; with the servers' data it is lost, and then made anew.
  std::string identity();

  /// The set to which a contender with this record belongs: the members that it holds and the one that it waits for.
  /// Nothing if the record belongs to no set. If the record does not name all members, all monitors are read, as by
  /// list().
  std::optional<LockSetView> lock_set(const OwnerRecord& record);

  /// Removes a holder: its contender node and `privateLock` in one transaction, own node first, only if `holder` still
  /// is the holder. That is its node, or for a holder without one its session as "0x…", followed by "@" and its fencing
  /// token, as in `A-0000000003@4294967301`. The token may be left out; then a later holder may be hit, since a monitor
  /// that is made anew gives the same names again. The holder learns it through its watch. Writes; meant for people and
  /// unlockers, who keep an audit record.
  /// *Not* promised: if the holder steps aside in the very round trip of the transaction, its node stays, and what is
  /// removed is the lock of the next holder, which learns it in the same way.
  ForceReleaseResult force_release(const std::string& monitor, const std::string& holder);

  /// The same, if `only_if` is true of the holder too; if not: holder_changed. It is asked on this thread, more than
  /// once, and what it has seen is what is removed: a holder whose record has changed since (by WriteLock::alive, say)
  /// stays. For unlockers, which free a holder whose `auto_unlock_at` is over.
  ForceReleaseResult force_release(const std::string& monitor, const std::string& holder,
                                   const std::function<bool(const HolderView&)>& only_if);

 private:
  Client& client_;
  std::chrono::milliseconds timeout_;
};

}  // namespace forelock
