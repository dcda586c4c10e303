// A SetSlot is one lock set object behind its public face: where it stands, who waits for it, and its callbacks.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "client/callback_gate.h"
#include "client/client_core.h"
#include "client/ensemble_link.h"
#include "client/outer_locks.h"
#include "client/set_run.h"
#include "forelock/lock_set.h"
#include "sets/set_machine.h"

namespace forelock::client {

class SetSlot final : public OuterLock, public std::enable_shared_from_this<SetSlot> {
 public:
  // \throws RequestRejectedException(invalid_argument) for an invalid monitor id, for none and for too many.
  SetSlot(std::shared_ptr<ClientCore> core, std::string lock_info, const std::vector<std::string>& monitors,
          Priority priority, LockOptions options);

  const std::vector<std::string>& monitors() const { return members_->monitors; }
  const std::string& lock_info() const { return lock_info_; }
  Priority priority() const { return priority_.load(std::memory_order_relaxed); }
  ClientCore& core() { return *core_; }

  // --- acquiring ---

  using Done = CallbackGate::Done;
  using Failure = sets::SetMachine::Failure;

  // As LockSlot::Acquisition.
  using Acquisition = std::uint64_t;

  // Begins to contend. With `done`, that is called on the dispatcher, exactly once; else the caller calls wait().
  // \throws RequestRejectedException(already_held, closed, forked).
  Acquisition acquire(lock::TimePoint deadline, bool try_only, Done done = {});
  // As LockSlot::set_stack().
  void set_stack(std::vector<std::string> stack);
  // Blocks until the acquisition has ended. Nothing: held. Else why not: cancelled, too, if a later one has begun.
  std::optional<Failure> wait(Acquisition acquisition, lock::TimePoint deadline);
  // As those of LockSlot.
  bool wait_until(Acquisition acquisition, lock::TimePoint instant);
  bool tell_end(Acquisition acquisition, Done done);
  // The last one. That of a holder that steps aside goes on.
  Acquisition acquisition() const;
  bool cancel();
  // As LockSet::set_priority().
  bool set_priority(Priority priority);
  bool step_aside(lock::TimePoint deadline);
  // As LockSet::inside().
  OuterLocks& outer_locks() { return outer_locks_; }
  void add_held(std::vector<lock::ContenderId>& found) const override;
  // What a failure is thrown as.
  std::exception_ptr error_of(const Failure& failure, bool look_at_holder) const;

  // --- releasing; as those of LockSlot ---

  void release_and_wait();
  void release(Done done);
  void release_detached() noexcept;
  void retire() noexcept;

  // --- what is known ---

  LockState state() const noexcept;
  bool holds() const noexcept { return phase_.load(std::memory_order_acquire) == Phase::held; }
  bool healthy() const noexcept;
  void check_health() const;
  std::chrono::steady_clock::time_point expires_at() const noexcept;
  std::vector<MemberToken> tokens() const;
  std::int64_t token(std::size_t member) const;
  std::optional<std::string> waits_for() const;
  OwnerRecord owner() const;
  std::stop_token stop_token();
  void alive(std::chrono::milliseconds expected);
  std::vector<WriteResult> write_guarded(const std::vector<WriteOperation>& operations);
  void on_danger(std::chrono::milliseconds margin, std::function<void()> callback);
  void on_lost(std::function<void(LossReason, const std::string&)> callback);
  void on_contended(std::function<void(Priority, const std::string&)> callback);
  void on_queued(std::function<void(const QueuePosition&, const std::string&)> callback);

  // --- from the run, under the core's mutex ---

  void advanced(const std::shared_ptr<SetRun>& run);
  void contended(const SetRun& run, std::size_t member, Priority waiting);
  void queued(const SetRun& run, std::size_t member, const QueuePosition& position);
  void in_danger(const SetRun& run);
  // It is of this class now.
  void wished(const SetRun& run, Priority priority);
  // Perhaps it has waited long enough for the servers to confirm what it has given back.
  void time_has_come(const std::shared_ptr<SetRun>& run, lock::TimePoint time);
  // Without the mutex.
  void wake(const SetRun& run);

 private:
  enum class Phase { free, waiting, held, releasing, lost };
  // How a release ended.
  struct Release {
    std::optional<std::size_t> lost_member = {};  // that one, or the session
    lock::ReleaseOutcome outcome = lock::ReleaseOutcome::released;
    bool confirmed = true;
  };

  static Release release_of(const sets::SetMachine::Loss& loss);
  // Without a guid and the stack.
  OwnerRecord new_record() const;
  OwnerRecord make_record();
  // Those that follow require mutex_.
  void told_held(const sets::SetMachine& machine);
  void told_lost(const sets::SetMachine& machine);
  void told_failed(const Failure& failure);
  void told_released(const Release& release);
  bool begin_release(Done done, bool is_waited_for);
  // It has waited long enough. From a step of the core, without mutex_.
  void time_is_up(const std::shared_ptr<SetRun>& run);
  bool is_current(const SetRun& run) const { return run_.get() == &run; }
  bool has_ended(Acquisition acquisition) const;

  std::exception_ptr error_of(const Release& release) const;
  [[noreturn]] void throw_not_held() const;
  template <class Callback>
  Callback copy_of(const Callback& callback) const {
    const std::lock_guard guard(mutex_);
    return callback;
  }

  const std::shared_ptr<ClientCore> core_;
  const std::string lock_info_;
  const std::shared_ptr<const SetMembers> members_;
  EnsembleLink& ensemble_;  // the core's
  std::atomic<Priority> priority_;
  const LockOptions options_;
  OuterLocks outer_locks_;
  const std::string name_;  // for messages: the first member, and how many more

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<Phase> phase_{Phase::free};
  std::shared_ptr<SetRun> run_;  // that is not over; set and reset under the core's mutex, too
  lock::TimePoint waiting_since_{};
  lock::TimePoint deadline_ = lock::never;
  Acquisition acquisition_ = 0;
  bool patience_begun_ = false;                  // for the members of a failed acquisition to be given back
  lock::TimePoint patience_ends_ = lock::never;  // for what is being given back to be confirmed
  std::vector<std::int64_t> tokens_;
  std::optional<std::size_t> waits_for_;
  std::optional<Failure> failure_;
  std::optional<Release> release_;
  std::optional<sets::SetMachine::Loss> loss_;
  std::optional<std::stop_source> stop_;
  bool granted_once_ = false;
  bool release_is_waited_for_ = false;
  Done acquired_;
  std::vector<std::string> stack_;  // of the next acquisition
  Done released_;
  std::function<void(LossReason, const std::string&)> on_lost_;
  std::function<void(Priority, const std::string&)> on_contended_;
  std::function<void(const QueuePosition&, const std::string&)> on_queued_;
  std::function<void()> on_danger_;
  std::chrono::milliseconds danger_margin_{0};
  CallbackGate gate_;
};

}  // namespace forelock::client
