// The implementation of one lock object: its state, its waiting threads, its callbacks.
//
// The engine's answers arrive under the core's mutex; user callbacks go to the dispatcher.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "agent/contender_listener.h"
#include "client/acquisition_error.h"
#include "client/callback_gate.h"
#include "client/client_core.h"
#include "client/outer_locks.h"
#include "forelock/write_lock.h"

namespace forelock::client {

class LockSlot final : public agent::ContenderListener,
                       public OuterLock,
                       public std::enable_shared_from_this<LockSlot> {
 public:
  // \throws RequestRejectedException(invalid_argument) for an impossible monitor id.
  LockSlot(std::shared_ptr<ClientCore> core, std::string lock_info, std::string monitor, Priority priority,
           LockOptions options);

  const std::string& monitor() const { return monitor_; }
  const std::string& node_name() const { return node_name_; }
  // Whether its places in the queue are to be told.
  bool wants_place() const;
  const std::string& lock_info() const { return lock_info_; }
  Priority priority() const { return priority_.load(std::memory_order_relaxed); }
  ClientCore& core() { return *core_; }
  const ClientCore& core() const { return *core_; }

  // --- acquiring ---

  using Done = CallbackGate::Done;

  // Where the next acquisition is called, innermost first, in place of this thread's frames: of callers in languages
  // whose frames are not found there.
  void set_stack(std::vector<std::string> stack);

  // Tells an acquisition from a later one of the same object, which another thread may have begun meanwhile.
  using Acquisition = std::uint64_t;

  // Begins to contend. With `done`, that is called on the dispatcher, exactly once; else the caller calls wait().
  // \throws RequestRejectedException(already_held, closed, forked).
  Acquisition acquire(lock::TimePoint deadline, bool try_once, Done done = {});
  // Blocks until the acquisition has ended. Nothing: held. Else why not: cancelled, too, if a later one has begun.
  std::optional<lock::Refusal> wait(Acquisition acquisition, lock::TimePoint deadline);
  // Blocks until then at most. Whether the acquisition has ended.
  bool wait_until(Acquisition acquisition, lock::TimePoint instant);
  // `done` is called as if acquire() had been given it; false, and it is not, if the acquisition has ended.
  bool tell_end(Acquisition acquisition, Done done);
  // The last one. That of a holder that steps aside goes on.
  Acquisition acquisition() const;
  bool cancel();
  // As WriteLock::set_priority().
  bool set_priority(Priority priority);
  bool step_aside(lock::TimePoint deadline);
  // As WriteLock::inside().
  OuterLocks& outer_locks() { return outer_locks_; }
  void add_held(std::vector<lock::ContenderId>& found) const override;

  // --- releasing ---

  // \throws as BlockingWriteLock::unlock_or_throw.
  void release_and_wait();
  void release(Done done);
  // Releases a held lock, else does nothing. Never throws; calls no callback.
  void release_detached() noexcept;
  // The lock object is being destroyed: what it holds or waits for is given up, answers that are still owed are given
  // on this thread, and no callback runs after this (or it is the one that runs now).
  void retire() noexcept;

  // --- what is known ---

  LockState state() const;
  bool healthy() const noexcept;
  bool holds() const noexcept { return phase_.load(std::memory_order_acquire) == Phase::held; }
  void check_health() const;
  std::int64_t token() const noexcept { return token_.load(std::memory_order_acquire); }
  std::chrono::steady_clock::time_point expires_at() const noexcept;
  std::stop_token stop_token();
  OwnerRecord owner() const;
  void alive(std::chrono::milliseconds expected);
  std::vector<WriteResult> write_guarded(const std::vector<WriteOperation>& operations);

  void on_lost(std::function<void(LossReason)> callback);
  void on_danger(std::chrono::milliseconds margin, std::function<void()> callback);
  void on_queued(std::function<void(const QueuePosition&)> callback);
  void on_contended(std::function<void(Priority)> callback);

  // What a refusal is thrown as; `waited` is the time-out that was given, if there was one.
  std::exception_ptr error_of(const lock::Refusal& refusal, bool look_at_holder) const;

  // --- ContenderListener; `contender` may be an earlier acquisition: of a slot that did not wait for the end, these
  // are no news ---

  bool begin(lock::ContenderId contender) override;
  lock::Duration granted(lock::ContenderId contender, const lock::Grant& grant) override;
  std::optional<lock::Duration> taken(const linger::Lock& lock) override;
  void refused(lock::ContenderId contender, const lock::Refusal& refusal) override;
  void lost(lock::ContenderId contender, LossReason reason) override;
  void released(lock::ContenderId contender, lock::ReleaseOutcome outcome) override;
  void release_unanswered(lock::ContenderId contender) override;
  void record_changed(lock::ContenderId contender, const std::string& record) override;
  void queued(lock::ContenderId contender, const QueuePosition& position) override;
  void contended(lock::ContenderId contender, Priority waiting) override;
  void in_danger(lock::ContenderId contender) override;
  void wake() override { changed_.notify_all(); }

 private:
  enum class Phase { free, waiting, held, releasing, lost };

  // The record of an acquisition that begins now, without what only the servers' readers need.
  OwnerRecord new_record() const;
  lock::RecordText text_of(const OwnerRecord& record) const;
  lock::AcquireSpec make_spec(lock::TimePoint deadline, bool try_once, std::vector<std::string> stack);
  // False: it is granted, or about to be, or over. `by_wish`: of an operator.
  bool move(agent::Agent& agent, Priority priority, bool by_wish = false);
  // Without a request, if the lock lingers here.
  bool acquire_lingering();
  // Requires mutex_.
  bool has_ended(Acquisition acquisition) const;
  // Requires mutex_.
  void told_held(lock::Token token);
  // From a step of the core.
  template <class Callback>
  void post(const char* kind, Callback callback) {
    core_->post_from_step(gate_.call(kind, shared_from_this(), std::move(callback)));
  }
  Dispatcher::Call next_answer(const char* kind) { return gate_.next_answer(kind, shared_from_this()); }
  std::function<std::exception_ptr()> release_error(lock::ReleaseOutcome outcome) const {
    return [this, outcome] { return client::error_of(monitor_, outcome); };
  }
  // A callback as it is set now: another one may be set while it runs.
  template <class Callback>
  Callback copy_of(const Callback& callback) const {
    const std::lock_guard guard(mutex_);
    return callback;
  }
  lock::ReleaseOutcome outcome_of_loss() const;
  NoNodeException not_held() const;

  const std::shared_ptr<ClientCore> core_;
  const std::string lock_info_;
  const std::string monitor_;
  const std::string node_name_;
  EnsembleLink& ensemble_;  // the core's
  std::atomic<Priority> priority_;
  const LockOptions options_;
  OuterLocks outer_locks_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<Phase> phase_{Phase::free};
  std::atomic<std::int64_t> token_{0};
  lock::ContenderId contender_ = 0;
  lock::TimePoint waiting_since_{};
  lock::TimePoint deadline_ = lock::never;
  std::optional<lock::Refusal> refusal_;
  std::optional<lock::ReleaseOutcome> outcome_;
  LossReason loss_ = LossReason::closed;
  std::optional<std::stop_source> stop_;
  OwnerRecord record_;
  std::vector<std::string> stack_;  // of the next acquisition
  Done acquired_;
  Done released_;
  bool cancelled_ = false;  // before the core knew of the acquisition
  Acquisition acquisition_ = 0;
  bool release_is_waited_for_ = false;

  std::function<void(LossReason)> on_lost_;
  std::function<void(const QueuePosition&)> on_queued_;
  std::function<void(Priority)> on_contended_;
  std::function<void()> on_danger_;
  std::chrono::milliseconds danger_margin_{0};
  CallbackGate gate_;
};

}  // namespace forelock::client
