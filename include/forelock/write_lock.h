/// \file
/// The common part of all locks: fencing token, health, the time until which the lock is certain, and callbacks.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "forelock/error.h"
#include "forelock/export.h"
#include "forelock/lock_types.h"
#include "forelock/owner_record.h"
#include "forelock/priority.h"
#include "forelock/write_operation.h"

namespace forelock {

class Client;
class LockSet;
namespace client {
class LockSlot;
}

/// The state of a lock object.
enum class LockState {
  free,     ///< not held, not waiting
  waiting,  ///< in the queue
  held,     ///< held, connected
  suspect,  ///< held, but the connection is lost or silent at the moment; still certain until expires_at()
  lost      ///< no longer held, without having been released
};

/// "free", "waiting", "held", "suspect" or "lost".
FORELOCK_EXPORT std::string_view name_of(LockState state) noexcept;

/// Optional parameters of an acquisition.
struct LockOptions {
  /// How long the work is expected to take: alert_at is this long after the grant. See WriteLock::alive.
  std::optional<std::chrono::milliseconds> expected_runtime = {};
  /// Writes into the record that an unlocker (`forelock serve --unlocker`, or a program of the application's own) may
  /// free the lock this long after the grant, or after the last alive(), by the wall clocks of both. Off by default.
  std::optional<std::chrono::milliseconds> auto_unlock_after = {};
  /// Record where lock() was called (about 1 µs; the addresses are symbolised only when the record is written).
  bool capture_stack = true;
  /// Overrides the thread's name in the instance identity `host/pid/thread`.
  std::string thread_name = {};
  /// Whether the acquisition may get a lock that lingers, and its lock may linger after it (`zookeeper.lock.linger`).
  /// False: it has a grant of its own, with a fencing token that no other section has.
  bool may_linger = true;
  /// In place of `zookeeper.admission`.
  std::optional<Admission> admission = {};
  /// In place of `zookeeper.queue.max`: how many contenders may wait before this one; it is refused otherwise. 0: any.
  std::optional<std::size_t> queue_max = {};
  /// The span in which its acquisitions are called, as W3C `traceparent`, for a client that traces; what is none counts
  /// as empty. Empty: that which the tracer says (Tracer::current).
  std::string traceparent = {};
};

/// Common part of BlockingWriteLock and AsyncWriteLock. Ownership belongs to the object, not to a thread: every method
/// may be called from any thread, concurrently, unless it says otherwise. Must not outlive its Client.
///
/// Both can be moved, held or waiting, with their callbacks; not while another thread, a guard (std::unique_lock) or a
/// callback uses one of the two objects. What was assigned to gives up what it had, as its destructor would. One that
/// has been moved from is free, healthy() never, and without a name; it can be destroyed and assigned to, unlock() and
/// unlock_async() do nothing, and all that may throw throws RequestRejectedException(invalid_argument).
class FORELOCK_EXPORT WriteLock {
 public:
  WriteLock(const WriteLock&) = delete;
  WriteLock& operator=(const WriteLock&) = delete;

  /// The monitor object's id.
  const std::string& monitor() const noexcept;
  /// Short description of why the lock is taken.
  const std::string& lock_info() const noexcept;
  /// The class it contends in. An operator may change it while it waits (`forelock prioritize`).
  Priority priority() const noexcept;

  /// Changes the class: of a lock that waits at once, and of one that is free from its next acquisition on. One that
  /// waits goes to the end of its new class's queue and keeps its deadline. What it gets then does not linger.
  /// Does not wait for the servers: until they have confirmed it, the lock may be granted in its old place.
  /// \returns whether it was changed: not while the lock is held, about to be, or being released.
  bool set_priority(Priority priority);

  /// Says that this lock is taken while `outer` is held, from the next acquisition on: a contender that waits for that
  /// one waits for this one as well. So where a foreground contender waits for `outer` while this lock waits in the
  /// background, it moves to the foreground's queue, 100 ms after it has begun to wait or later; its class stays. The
  /// same holds for what `outer` is inside of, and goes on from process to process: who holds what this lock waits for,
  /// and waits inside of that, moves as well. May be called for several outer locks; one that is not held, or has been
  /// destroyed, does not count. It does not prevent deadlocks: take nested locks in one order everywhere. \throws
  /// RequestRejectedException(invalid_argument) if `outer` is of another Client.
  void inside(const WriteLock& outer);
  void inside(const LockSet& outer);

  /// Whether the lock was granted and neither released nor reported lost. Does not read the clock: see healthy().
  bool owns_lock() const noexcept;

  /// The state; reads the clock.
  LockState state() const noexcept;

  /// Whether the lock is certain to be held now: granted, not lost, and expires_at() not reached. Costs a reading of
  /// the clock (20 to 30 ns), no network. Once false for a grant, it stays false for it. Time in which the machine is
  /// suspended counts: after it, the lock is healthy only if its time is not up.
  /// *Not* promised: that it is still true when the next instruction runs; nor anything about a virtual machine that is
  /// paused, moved or set back, whose clocks may stand still with it. Where that matters, give fencing_token() to the
  /// resource, or use write_guarded().
  bool healthy() const noexcept;

  /// Returns if healthy(). \throws LockUnhealthyException otherwise. Cheap enough for a hot loop.
  void check_health() const;

  /// The fencing token of the current or last grant: rises strictly from grant to grant of one monitor, over all
  /// clients and restarts. 0 if never granted. A resource that refuses tokens lower than the highest it has seen is
  /// safe even from holders that were paused. With `zookeeper.lock.linger` several sections of one process, one after
  /// the other, may share a grant and its token: a resource must not refuse one that it has seen before.
  /// *Not* promised: that it rises when ZooKeeper's data are restored from a backup, or monitors move to another
  /// ensemble: transactions are numbered anew there, and tokens can fall. Before clients are let in again, raise the
  /// servers' epoch above the old one, or reset what the resources remember (docs/operating.md).
  std::int64_t fencing_token() const noexcept;

  /// Until when the session, and with it the lock, is certain to live on the servers, judged from the *send* times of
  /// answered requests. Moves on by itself while the connection lives, and is then always more than a third of the
  /// negotiated time-out ahead. The clock's epoch if not held. Of a machine that has been suspended meanwhile the
  /// steady clock stands still: ask again, or ask healthy().
  std::chrono::steady_clock::time_point expires_at() const noexcept;

  /// A token that is stopped when the lock is lost (not when it is released). Belongs to the current grant: ask again
  /// after each lock(). Before the first grant, a token that can never be stopped. Stop callbacks run on a thread of
  /// the client that has no other purpose: one that blocks delays the tokens of other locks, and nothing else.
  std::stop_token stop_token() const;

  /// Called once for each grant that is lost, on the client's dispatcher thread. Set it while the lock is free. The
  /// callback may call anything of this library except Client::close; it should be short, since the callbacks of all
  /// locks share one thread. An exception that it throws is swallowed and logged.
  void on_lost(std::function<void(LossReason)> callback);

  /// Called when less than `margin` is left before expires_at() while the connection is silent, once until it recovers;
  /// on the dispatcher thread. A chance to stop in good order before the lock is lost. Set it while the lock is free.
  /// \param margin more than zero and at most a third of `zookeeper.session.timeout`, else
  /// RequestRejectedException(invalid_argument); where the server has granted less, at most a third of that counts.
  /// \param callback as for on_lost().
  void on_danger(std::chrono::milliseconds margin, std::function<void()> callback);

  /// Called when this lock's place in the queue becomes known, and when it changes; on the dispatcher thread. Costs the
  /// server a listing for each change. Set it while the lock is free.
  void on_queued(std::function<void(const QueuePosition&)> callback);

  /// Called when a contender of a class waits behind this holder, once for each class and grant; on the dispatcher
  /// thread. Costs a watch and a listing for each change in the queue. Long background work may then finish early or
  /// step aside (BlockingWriteLock::step_aside). Set it while the lock is free.
  void on_contended(std::function<void(Priority waiting)> callback);

  /// Reports that the work continues as planned and is expected to take `expected` from now on: moves alert_at (and
  /// auto_unlock_at, if asked for) in the holder's record. One request, not waited for.
  /// \throws LockUnhealthyException if not healthy().
  void alive(std::chrono::milliseconds expected);

  /// The record of the current acquisition as last written, or as it would be written: that of a lock that has
  /// lingered is not written, and has no stack.
  OwnerRecord owner() const;

  /// The span of the current hold as W3C `traceparent`, for what is done under the lock; of a trace that is not sampled
  /// the caller's own span. Empty if the client does not trace, or the lock is not held.
  std::string traceparent() const;

  /// Commits the caller's own ZooKeeper operations in one transaction with a check that the lock is still ours: all of
  /// it happens while we hold the lock, or none. Paths are absolute inside the configured chroot. Blocks for one round
  /// trip, at most about the session time-out; twice that if it is refused and the server then falls silent.
  /// \returns one result for each operation, in order.
  /// \throws LockUnhealthyException if the lock is not ours any more (nothing was written); RequestRejectedException if
  /// an operation itself was refused (write_conflict; nothing was written); ConnectionLossException if the outcome is
  /// unknown.
  /// *Not* covered: deletion of `privateLock` by hand that leaves the contender's node in place.
  std::vector<WriteResult> write_guarded(const std::vector<WriteOperation>& operations);

 protected:
  /// \cond internal
  explicit WriteLock(std::shared_ptr<client::LockSlot> slot);
  WriteLock(WriteLock&& other) noexcept;
  WriteLock& operator=(WriteLock&& other) noexcept;
  ~WriteLock();
  // \throws RequestRejectedException(invalid_argument) if it has been moved from.
  client::LockSlot& slot() const;
  friend class LockSet;

  std::shared_ptr<client::LockSlot> slot_;  // null: moved from
  /// \endcond
};

}  // namespace forelock
