// A Hold is the common implementation of a lock object and of a lock set object: its state, its waiting threads, the
// result owed to its caller, its callbacks. A LockSlot is a Hold with one contender, a SetSlot one with the course of
// many.
//
// Events of the core arrive under the core's mutex; user callbacks go to the dispatcher.
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
#include <utility>
#include <vector>

#include "client/acquisition_error.h"
#include "client/callback_gate.h"
#include "client/client_core.h"
#include "client/lock_trace.h"
#include "client/outer_locks.h"
#include "forelock/write_lock.h"
#include "sets/set_machine.h"

namespace forelock::client {

class Hold : public OuterLock, public std::enable_shared_from_this<Hold> {
 public:
  using Done = CallbackGate::Done;
  // Of a single lock, the member is 0.
  using Failure = sets::SetMachine::Failure;
  using Loss = sets::SetMachine::Loss;
  // Tells an acquisition from a later one of the same object, which another thread may have begun meanwhile.
  using Acquisition = std::uint64_t;

  // For messages: the monitor; of a set, the first one and how many more.
  const std::string& name() const { return name_; }
  const std::string& lock_info() const { return lock_info_; }
  Priority priority() const { return priority_.load(std::memory_order_relaxed); }
  ClientCore& core() const { return *core_; }

  // --- acquiring ---

  // Where the next acquisition is called, innermost first, in place of this thread's frames: of callers in languages
  // whose frames are not found there.
  void set_stack(std::vector<std::string> stack);
  // When an acquisition from now on times out, by the settings.
  lock::TimePoint configured_deadline() const;
  // For one that waits for the servers' answer alone, which takes a moment even where no time is configured.
  lock::TimePoint deadline_of_try() const;
  // Begins to contend. With `done`, that is called on the dispatcher, exactly once; else the caller calls wait().
  // \throws RequestRejectedException(already_held, closed, forked).
  virtual Acquisition acquire(lock::TimePoint deadline, bool try_once, Done done = {}) = 0;
  // Blocks until the acquisition has ended. Nothing: held. Else why not: cancelled, too, if a later one has begun.
  std::optional<Failure> wait(Acquisition acquisition, lock::TimePoint deadline);
  // The same; throws why not, after a look at who holds.
  void wait_or_throw(Acquisition acquisition, lock::TimePoint deadline);
  // The same; false for what is no failure: it has timed out, was cancelled or not admitted.
  bool wait_and_see(Acquisition acquisition, lock::TimePoint deadline);
  // Blocks until then at most. Whether the acquisition has ended.
  bool wait_until(Acquisition acquisition, lock::TimePoint instant);
  // `done` is called as if acquire() had been given it; false, and it is not, if the acquisition has ended.
  bool tell_end(Acquisition acquisition, Done done);
  // The last one. The acquisition of a holder that steps aside continues.
  Acquisition acquisition() const;
  bool cancel();
  // As WriteLock::set_priority().
  bool set_priority(Priority priority);
  // As BlockingWriteLock::step_aside().
  bool step_aside(std::chrono::milliseconds timeout);
  // Its beginning: the held lock waits again. \returns the acquisition that continues. \throws LockUnhealthyException
  // if it is not held.
  Acquisition begin_step_aside(lock::TimePoint deadline);
  // As WriteLock::inside(). \throws RequestRejectedException(invalid_argument) if they are not of one client.
  void put_inside(const Hold& outer);
  // What a failure is thrown as. `look_at_holder`: asks the server who holds the lock, for a short time.
  std::exception_ptr error_of(const Failure& failure, bool look_at_holder) const;

  // --- releasing ---

  // \throws as BlockingWriteLock::unlock_or_throw.
  void release_and_wait();
  // The same; what it would throw goes to the log.
  void release_quietly() noexcept;
  void release(Done done);
  // Releases what is held, else does nothing. Never throws; calls no callback.
  virtual void release_detached() noexcept = 0;
  // The object is being destroyed: what it holds or waits for is given up, answers that are still owed are given on
  // this thread, and no callback runs after this (or it is the one that runs now).
  void retire() noexcept;

  // --- what is known ---

  LockState state() const noexcept;
  bool holds() const noexcept { return phase() == Phase::held; }
  bool healthy() const noexcept;
  void check_health() const;
  std::chrono::steady_clock::time_point expires_at() const noexcept;
  std::stop_token stop_token();
  // As messages begin, such as "the lock on P1".
  const std::string& subject() const { return subject_; }
  // The monitor that a message about all of it names: of a set, the first one.
  const std::string& first_monitor() const { return monitor_of(0); }
  // The fencing token; of a set, which has one for each member, 0.
  virtual std::int64_t token() const noexcept = 0;
  // As LockSet::held_header().
  virtual std::string held_header() const = 0;
  virtual OwnerRecord owner() const = 0;
  // As WriteLock::traceparent().
  std::string traceparent() const;
  // As WriteLock::alive().
  virtual void alive(std::chrono::milliseconds expected) = 0;
  // As WriteLock::write_guarded().
  virtual std::vector<WriteResult> write_guarded(const std::vector<WriteOperation>& operations) = 0;

  void on_lost(std::function<void(LossReason, const std::string& monitor)> callback);
  void on_danger(std::chrono::milliseconds margin, std::function<void()> callback);
  void on_queued(std::function<void(const QueuePosition&, const std::string& monitor)> callback);
  void on_contended(std::function<void(Priority, const std::string& monitor)> callback);

 protected:
  enum class Phase { free, waiting, held, releasing, lost };
  // How a release ended.
  struct Release {
    std::optional<std::size_t> lost_member = {};  // that one, or the session
    lock::ReleaseOutcome outcome = lock::ReleaseOutcome::released;
    bool confirmed = true;
  };

  // `name` and `subject` as those functions give them.
  Hold(std::shared_ptr<ClientCore> core, std::string lock_info, std::string name, std::string subject,
       Priority priority, LockOptions options);
  ~Hold() = default;

  // --- what the two do in their own ways ---

  virtual const std::string& monitor_of(std::size_t member) const = 0;
  // As its messages need to know it; without the times. Requires mutex().
  virtual client::Acquisition acquisition_of(std::size_t member) const = 0;
  // The following are steps of the core, without mutex(), and find the phase that they are named for; or one that has
  // just been left, and then they do nothing.
  virtual bool cancel_waiting(agent::Agent& agent) = 0;
  virtual bool move_waiting(agent::Agent& agent, Priority priority) = 0;
  virtual bool step_aside_held(agent::Agent& agent, lock::TimePoint deadline) = 0;
  virtual void watch_danger_of_held(agent::Agent& agent, std::chrono::milliseconds margin) = 0;
  // Held or lost: releases it, as begin_release() and told_released() say. False if there is nothing to release; only
  // then `done` stays, which is not copied: what it owns is the host's, and may call the client.
  virtual bool release_held(agent::Agent& agent, Done& done, bool is_waited_for) = 0;
  // The caller of a release has waited long enough: the answer, if it comes, is no news any more.
  virtual void forget_release() = 0;
  // The object ends.
  virtual void abandon() noexcept = 0;

  // --- what they say; requires mutex(), and but for begin_acquisition() a step of the core ---

  // \throws RequestRejectedException(already_held).
  // `caller`: trace_parent(), asked without mutex(). `done` stays with its caller if it throws, to die without mutex().
  Acquisition begin_acquisition(lock::TimePoint deadline, const std::optional<TraceContext>& caller, Done& done);
  // What has begun cannot go on: its caller gets an exception. \returns what begin_acquisition() was given.
  Done take_back_acquisition();
  // From held to waiting, with no place in between at which anybody could begin.
  void told_step_aside(lock::TimePoint deadline);
  void begin_release(Done done, bool is_waited_for);
  void told_held(lock::Token token, GrantCourse course);
  void told_failed(const Failure& failure);
  void told_lost(const Loss& loss);
  void told_released(const Release& release);
  // It is given up by its caller, who waits for nothing more.
  void told_abandoned();
  void told_place(std::size_t place);

  static Release release_of(const Loss& loss);
  Phase phase() const noexcept { return phase_.load(std::memory_order_acquire); }
  void set_phase(Phase phase) { phase_.store(phase); }
  // From now on it is of this class, also where it waits already. Without mutex().
  void set_current_priority(Priority priority);
  const std::optional<Loss>& loss() const { return loss_; }
  // The margin of the danger callback, if there is one. Requires mutex().
  std::optional<std::chrono::milliseconds> danger_margin() const;
  // As set_stack() has given them. Requires mutex().
  std::vector<std::string> take_stack() { return std::exchange(stack_, {}); }
  // Whether there are callbacks for its places in the queue, and for contention. Requires mutex().
  bool wants_place() const { return static_cast<bool>(callbacks_.queued); }
  bool wants_contention() const { return static_cast<bool>(callbacks_.contended); }
  // Makes spans of its events, if the client traces; `monitor`: the first one.
  void begin_tracing(const std::string& monitor, std::size_t members);
  bool traces() const { return trace_ != nullptr; }
  // Calls the tracer, so without mutex().
  std::optional<TraceContext> trace_parent() const { return trace_ ? trace_->parent() : std::nullopt; }
  // The record of an acquisition that begins now, without guid and stack.
  OwnerRecord new_record() const;

  // Without mutex(), in a step of the core.
  void tell_queued(std::size_t member, const QueuePosition& position);
  void tell_contended(std::size_t member, Priority waiting);
  void tell_danger();
  // Outside.
  void wake_waiters() { changed_.notify_all(); }

  std::mutex& mutex() const { return mutex_; }
  EnsembleLink& ensemble() const { return ensemble_; }
  const LockOptions& options() const { return options_; }
  const OuterLocks& outer() const { return outer_locks_; }

 private:
  template <class Callback>
  void post(const char* kind, Callback callback) {
    core_->post_from_step(gate_.call(kind, shared_from_this(), std::move(callback)));
  }
  // A callback as it is set now: another one may be set while it runs.
  template <class Callback>
  Callback copy_of(const Callback& callback) const {
    const std::lock_guard guard(mutex_);
    return callback;
  }
  // Delivers the answer in its turn, if a caller waits for one. Requires mutex_.
  void answer(Done& done, CallbackGate::Answer answer);
  bool has_ended(Acquisition acquisition) const;
  NoNodeException not_held() const;
  LockUnhealthyException lost_error(const Loss& loss) const;
  std::exception_ptr error_of(const Release& release) const;

  const std::shared_ptr<ClientCore> core_;
  const std::string lock_info_;
  const std::string name_;
  const std::string subject_;
  EnsembleLink& ensemble_;  // the core's
  std::atomic<Priority> priority_;
  const LockOptions options_;
  OuterLocks outer_locks_;

  mutable std::mutex mutex_;
  std::unique_ptr<LockTrace> trace_;  // if the client traces
  std::condition_variable changed_;
  std::atomic<Phase> phase_{Phase::free};
  lock::TimePoint waiting_since_{};
  lock::TimePoint deadline_ = lock::never;
  Acquisition acquisition_ = 0;
  std::optional<Failure> failure_;
  std::optional<Release> release_;
  std::optional<Loss> loss_;
  std::optional<std::stop_source> stop_;
  bool granted_once_ = false;
  bool release_is_waited_for_ = false;
  std::vector<std::string> stack_;  // of the next acquisition
  Done acquired_;
  Done released_;

  struct {
    std::function<void(LossReason, const std::string&)> lost;
    std::function<void(const QueuePosition&, const std::string&)> queued;
    std::function<void(Priority, const std::string&)> contended;
    std::function<void()> danger;
    std::chrono::milliseconds danger_margin{0};
  } callbacks_;
  CallbackGate gate_;
};

}  // namespace forelock::client
