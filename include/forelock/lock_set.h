/// \file
/// Several monitors as one lock: a bulk request that writes many documents takes one LockSet instead of many locks.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "forelock/client.h"
#include "forelock/export.h"
#include "forelock/priority.h"
#include "forelock/write_lock.h"
#include "forelock/write_operation.h"

namespace forelock {

namespace client {
class SetSlot;
}

/// A member of a set and its fencing token.
struct MemberToken {
  std::string monitor;     ///< the monitor object's id
  std::int64_t token = 0;  ///< of the current or last grant; 0 if it was never granted

  /// Both fields.
  bool operator==(const MemberToken&) const = default;
};

/// A lock on several monitors at once: all of them or none, with one deadline, and free of deadlock whatever sets
/// overlap. Other clients see ordinary locks, one for each member.
///
/// Free members cost the round trips of a single lock, however many they are: all are asked for at once. A member that
/// another client holds is waited for in its queue, while the set keeps only members that come before it in one order
/// that all sets share (bytewise by encoded id). So a set waits at most once for each member, and never in a circle. A
/// background set that waits gives those members back, too, at which a foreground contender waits: at once to one of
/// this process, after 100 ms of waiting to one of another process; it takes them again afterwards.
/// *Not* covered: a program that takes a set while it holds another set or a single lock of the same monitors' order;
/// it must keep an order of its own.
///
/// Use a single lock where one monitor is meant. Use several sets rather than one of thousands: a set holds its first
/// members while it waits for its last.
///
/// Ownership belongs to the object, not to a thread: every method may be called from any thread, concurrently, unless
/// it says otherwise. One acquisition at a time; not re-entrant. Must not outlive its Client. The destructor cancels
/// a waiting acquisition and releases a held set without waiting; a callback of acquire() or release() that has not
/// been called yet is called there with InstanceLockException(cancelled), as for AsyncWriteLock.
class FORELOCK_EXPORT LockSet {
 public:
  /// The limit on members.
  static constexpr std::size_t max_members = 1000;

  /// \param client must outlive the set. \param lock_info short description, for people, of why the lock is taken.
  /// \param monitors the ids of its members, in any order, 1 to max_members; the same id twice counts once. \param
  /// priority the class in which all of them contend. \param options as for a single lock; they count for each member.
  /// \throws RequestRejectedException(invalid_argument) for an invalid id, no member or too many.
  LockSet(Client& client, std::string lock_info, const std::vector<std::string>& monitors,
          Priority priority = Priority::foreground, LockOptions options = {});
  ~LockSet();
  /// As the single locks move (WriteLock); one that has been moved from has no members.
  LockSet(LockSet&& other) noexcept;
  /// Releases its own members first, as the destructor would.
  LockSet& operator=(LockSet&& other) noexcept;

  /// The members' ids, each once, in the order in which they are taken.
  const std::vector<std::string>& monitors() const noexcept;
  /// Short description of why the lock is taken.
  const std::string& lock_info() const noexcept;
  /// The class it contends in.
  Priority priority() const noexcept;
  /// As WriteLock::set_priority: the member that the set waits for moves, and those that it takes afterwards contend in
  /// the new class. \returns whether it was changed: not once all members are held.
  bool set_priority(Priority priority);

  /// As WriteLock::inside(), for the member that the set waits for.
  void inside(const WriteLock& outer);
  void inside(const LockSet& outer);

  // --- blocking ---

  /// Waits without a time-out. \throws as lock_with_timeout, except for the time-out.
  void lock();
  /// Obtains the set if every member is free now; does not queue. Without a connection it waits for one for at
  /// most the class's configured time-out. \returns whether it is held now; if not, nothing of it is.
  /// \throws ConnectionLossException, SessionExpiredException, RequestRejectedException.
  bool try_lock();
  /// Waits at most this long; zero or less: as try_lock(). \returns whether it is held now; if not, nothing of it is.
  /// \throws as try_lock.
  template <class Rep, class Period>
  bool try_lock_for(const std::chrono::duration<Rep, Period>& timeout) {
    return timeout > timeout.zero() ? try_lock_until_steady(end_of(timeout)) : try_lock();
  }
  /// As BlockingWriteLock::try_lock_until.
  template <class Clock, class Duration>
  bool try_lock_until(const std::chrono::time_point<Clock, Duration>& deadline) {
    return try_lock_for(deadline - Clock::now());
  }
  /// Waits at most for the time configured for the class.
  /// \throws InstanceLockException not obtained in time: the message names the unavailable member and its holder.
  /// ConnectionLossException, SessionExpiredException, RequestRejectedException; monitor() of each is the member
  /// concerned. Members already taken are released before any failure is reported: confirmed by the servers, or, if
  /// they do not answer within a second or there is no connection, in the background until it is certain.
  void lock_with_timeout();

  /// Releases every member. Waits for the confirmation, at most about the session time-out; without one the release
  /// continues in the background until it is certain or the session has ended. Not held any more afterwards. Never
  /// throws: that a member was lost before, or that there is no confirmation, is written to the client's log.
  /// With `zookeeper.lock.linger` members may stay with this process instead, as single locks do, and the next set or
  /// lock that asks for one gets it without a request. Members given back for another reason (a failure, step_aside())
  /// are always released.
  void unlock() noexcept;
  /// As unlock(), but throws: NoNodeException if a member did not exist any more (no_node), or if the set is not held
  /// (not_held); SessionExpiredException; ConnectionLossException if there is no confirmation. Not held afterwards.
  void unlock_or_throw();
  /// Releases without waiting for the confirmation. Never throws; does nothing if the set is not held.
  void unlock_async() noexcept;

  /// For long work of low urgency: lets all contenders that wait at a member and rank before this set go first, and
  /// takes all members again. The place in the queue is kept at the first member; the others are released and taken
  /// anew. Blocks until all are held again, at most `timeout`. \returns whether they are, with new tokens; if not, none
  /// is. \throws LockUnhealthyException if the set was not held (any more); otherwise as try_lock.
  bool step_aside(std::chrono::milliseconds timeout);

  // --- asynchronous; see AsyncWriteLock for where and when callbacks run ---

  /// Called exactly once for each acquire() that has not thrown: with nullptr when the set is held, else with what
  /// lock_with_timeout() would have thrown.
  using AcquireCallback = std::function<void(std::exception_ptr error)>;
  /// Called exactly once for each release(): with nullptr when it is confirmed, else as unlock_or_throw().
  using ReleaseCallback = std::function<void(std::exception_ptr error)>;

  /// Begins to contend; returns at once. Uses the time-out configured for the class.
  /// \throws RequestRejectedException(already_held) if it is held or waiting.
  void acquire(AcquireCallback callback);
  /// The same with the given time-out.
  void acquire(std::chrono::milliseconds timeout, AcquireCallback callback);
  /// Releases every member; returns at once. The callback may be empty. Without a held set it gets NoNodeException.
  void release(ReleaseCallback callback = {});

  /// Cancels a waiting acquisition of another thread or of acquire(), which ends with
  /// InstanceLockException(cancelled), or false. \returns whether there was one to cancel: not if it has been
  /// decided.
  bool cancel();

  // --- state ---

  /// The state of the set as a whole; reads the clock. `lost` as soon as one member is lost: the others stay held
  /// until it is released, so that the work can be stopped first.
  LockState state() const noexcept;
  /// Whether all members were granted and neither released nor reported lost. Does not read the clock.
  bool owns_lock() const noexcept;
  /// Whether every member is certain to be held now. As WriteLock::healthy, and as cheap, whatever the set's size.
  bool healthy() const noexcept;
  /// Returns if healthy(). \throws LockUnhealthyException otherwise; it names the member that was lost.
  void check_health() const;
  /// As WriteLock::expires_at.
  std::chrono::steady_clock::time_point expires_at() const noexcept;
  /// The tokens of all members, in the order of monitors(). As WriteLock::fencing_token for each.
  std::vector<MemberToken> fencing_tokens() const;
  /// The token of one member. \throws RequestRejectedException(invalid_argument) if there is no such member.
  std::int64_t fencing_token(const std::string& monitor) const;
  /// As WriteLock::held_header, of all members: `monitor=token, monitor=token`.
  std::string held_header() const;
  /// The record of the current acquisition, as each member's nodes have it but for the guid and the times of its grant;
  /// or as it would be written.
  OwnerRecord owner() const;
  /// As WriteLock::traceparent: a set has one span for its acquisition and one for its hold.
  std::string traceparent() const;
  /// The member in whose queue the set waits at this moment; nothing if it does not wait in one.
  std::optional<std::string> waits_for() const;
  /// As WriteLock::stop_token: stopped when one member is lost.
  std::stop_token stop_token() const;

  /// The work continues as planned and needs this long from now on: writes every member's record anew, each with a
  /// request of its own. As WriteLock::alive. \throws LockUnhealthyException if a member is not healthy.
  void alive(std::chrono::milliseconds expected);

  /// Commits the operations in one transaction together with checks that every member is still ours: all happens while
  /// we hold all of them, or nothing. Blocks for a round trip; each member adds two checks to the transaction.
  /// \returns and \throws as WriteLock::write_guarded; monitor() of a LockUnhealthyException is the member
  /// that is not ours any more.
  std::vector<WriteResult> write_guarded(const std::vector<WriteOperation>& operations);

  /// Called when less than `margin` is left while the connection is silent; on the dispatcher thread. As
  /// WriteLock::on_danger; may be set at any time.
  void on_danger(std::chrono::milliseconds margin, std::function<void()> callback);
  /// Called once for each grant of which a member is lost, with the first one; on the client's dispatcher thread. Set
  /// it while the set is free. As WriteLock::on_lost.
  void on_lost(std::function<void(LossReason, const std::string& monitor)> callback);
  /// Called when a contender of a class waits behind a member, once for each class, member and grant; on the dispatcher
  /// thread. Costs a watch and a listing for each member and each change in its queue. Set it while the set is free.
  void on_contended(std::function<void(Priority waiting, const std::string& monitor)> callback);
  /// Called when the set's place in the queue of the member that it waits for is known or has changed; on the
  /// dispatcher thread. As WriteLock::on_queued. Set it while the set is free.
  void on_queued(std::function<void(const QueuePosition& position, const std::string& monitor)> callback);

 private:
  bool try_lock_until_steady(std::chrono::steady_clock::time_point deadline);
  client::SetSlot& slot() const;
  friend class WriteLock;

  std::shared_ptr<client::SetSlot> slot_;  // null: moved from
};

}  // namespace forelock
