#include "client/lock_slot.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "client/acquisition_error.h"
#include "client/clock.h"
#include "client/record_text.h"
#include "lock/monitor_name.h"
#include "records/guid.h"
#include "records/instance.h"
#include "records/stack.h"
#include "records/wall_time.h"

namespace forelock::client {

namespace {

std::string encode_or_throw(const std::string& monitor) {
  lock::EncodedName name = lock::encode_monitor_name(monitor);
  if (name) return *std::move(name.name);
  throw RequestRejectedException(ErrorCode::invalid_argument, monitor, "the monitor id " + name.problem,
                                 "ids are UTF-8 text of 1 to 255 bytes after encoding");
}

}  // namespace

LockSlot::LockSlot(std::shared_ptr<ClientCore> core, std::string lock_info, std::string monitor, Priority priority,
                   LockOptions options)
    : core_(std::move(core)),
      lock_info_(std::move(lock_info)),
      monitor_(std::move(monitor)),
      node_name_(encode_or_throw(monitor_)),
      ensemble_(core_->ensemble()),
      priority_(priority),
      options_(std::move(options)),
      gate_(*core_, monitor_) {}

// --- acquiring ---

OwnerRecord LockSlot::new_record() const {
  OwnerRecord record;
  record.lock_info = lock_info_;
  const std::string& thread = options_.thread_name.empty() ? records::thread_identity() : options_.thread_name;
  record.instance = records::instance_identity(core_->instance(), thread);
  record.priority = priority_;
  record.enqueued_at = records::wall_time_now();
  record.expected_runtime = options_.expected_runtime;
  record.linger = core_->linger_of(options_);
  record.max_wait = core_->max_wait_of(priority_);
  return record;
}

void LockSlot::set_stack(std::vector<std::string> stack) {
  const std::lock_guard guard(mutex_);
  stack_ = std::move(stack);
}

lock::AcquireSpec LockSlot::make_spec(lock::TimePoint deadline, bool try_once, std::vector<std::string> stack) {
  OwnerRecord record = new_record();
  record.guid = records::make_guid();
  record.stack = std::move(stack);
  if (record.stack.empty() && options_.capture_stack) {
    record.stack = records::symbolise(records::capture_stack(2));
  }

  lock::AcquireSpec spec;
  spec.monitor = node_name_;
  spec.priority = priority_;
  spec.guid = record.guid;
  spec.record = text_of(
      std::make_shared<records::ContenderRecord>(record, options_.expected_runtime, options_.auto_unlock_after));
  spec.deadline = deadline;
  spec.try_once = try_once;
  spec.wants_position = wants_place();
  const std::lock_guard guard(mutex_);
  if (on_contended_) spec.contention = lock::ContentionScope::all;
  record_ = std::move(record);
  return spec;
}

LockSlot::Acquisition LockSlot::acquire(lock::TimePoint deadline, bool try_once, Done done) {
  core_->check_usable();
  Acquisition acquisition = 0;
  std::vector<std::string> stack;
  {
    const std::lock_guard guard(mutex_);
    stack.swap(stack_);
    const Phase phase = phase_.load();
    if (phase != Phase::free && phase != Phase::lost) {
      throw RequestRejectedException(
          ErrorCode::already_held, monitor_,
          "this lock object already holds or waits for " + monitor_ + "; locks are not re-entrant",
          "use one lock object for each acquisition that may overlap");
    }
    phase_ = Phase::waiting;
    waiting_since_ = now();
    deadline_ = deadline;
    contender_ = 0;
    cancelled_ = false;
    acquired_ = std::move(done);
    acquisition = ++acquisition_;
  }
  try {
    if (acquire_lingering()) return acquisition;
    lock::AcquireSpec spec = make_spec(deadline, try_once, std::move(stack));
    core_->in_step([&](agent::Agent& agent) {
      agent.acquire(shared_from_this(), std::move(spec), core_->linger_of(options_).has_value());
    });
  } catch (...) {
    const std::lock_guard guard(mutex_);
    phase_ = Phase::free;
    acquired_ = {};
    throw;
  }
  return acquisition;
}

bool LockSlot::wants_place() const {
  const std::lock_guard guard(mutex_);
  return static_cast<bool>(on_queued_);
}

bool LockSlot::acquire_lingering() {
  if (!core_->linger_of(options_)) return false;
  {
    const std::lock_guard guard(mutex_);
    record_ = new_record();
  }
  const linger::Wish wish{node_name_, priority_, true, wants_place()};
  return core_->in_step([&](agent::Agent& agent) { return agent.acquire_lingering(shared_from_this(), wish) != 0; });
}

std::optional<lock::Refusal> LockSlot::wait(Acquisition acquisition, lock::TimePoint deadline) {
  std::unique_lock guard(mutex_);
  const auto ended = [&] { return has_ended(acquisition); };
  while (!ended()) {
    if (deadline == lock::never) {
      changed_.wait(guard, ended);
    } else if (!changed_.wait_until(guard, to_steady(deadline), ended)) {
      // The engine ends the wait at the deadline; the first thread to notice steps it.
      guard.unlock();
      ensemble_.tick();
      guard.lock();
    }
  }
  if (acquisition_ != acquisition) return lock::Refusal{.reason = lock::RefusalReason::cancelled};
  return refusal_;
}

bool LockSlot::wait_until(Acquisition acquisition, lock::TimePoint instant) {
  std::unique_lock guard(mutex_);
  if (instant <= now()) return has_ended(acquisition);
  return changed_.wait_until(guard, to_steady(instant), [&] { return has_ended(acquisition); });
}

bool LockSlot::tell_end(Acquisition acquisition, Done done) {
  const std::lock_guard guard(mutex_);
  if (has_ended(acquisition)) return false;
  acquired_ = std::move(done);
  return true;
}

bool LockSlot::has_ended(Acquisition acquisition) const {
  return acquisition_ != acquisition || phase_.load() != Phase::waiting;
}

LockSlot::Acquisition LockSlot::acquisition() const {
  const std::lock_guard guard(mutex_);
  return acquisition_;
}

bool LockSlot::cancel() {
  if (core_->in_forked_child()) core_->check_usable();
  lock::ContenderId contender = 0;
  {
    const std::lock_guard guard(mutex_);
    if (phase_.load() != Phase::waiting) return false;
    contender = contender_;
    if (contender == 0) {
      cancelled_ = true;  // acquire() is on its way to the core
      return true;
    }
  }
  return core_->in_step([&](agent::Agent& agent) { return agent.is_of(*this, contender) && agent.cancel(contender); });
}

bool LockSlot::step_aside(lock::TimePoint deadline) {
  if (core_->in_forked_child()) core_->check_usable();
  bool begun = false;
  core_->in_step([&](agent::Agent& agent) {
    lock::ContenderId contender = 0;
    {
      const std::lock_guard guard(mutex_);
      if (phase_.load() != Phase::held || !agent.holds(contender_)) return;
      contender = contender_;
      phase_ = Phase::waiting;
      waiting_since_ = now();
      deadline_ = deadline;
      refusal_.reset();
    }
    begun = agent.step_aside(contender, deadline);
  });
  return begun;
}

// --- releasing ---

void LockSlot::release_and_wait() {
  if (core_->in_forked_child()) core_->check_usable();
  std::unique_lock guard(mutex_);
  if (phase_.load() != Phase::held) {
    if (phase_.load() == Phase::waiting || phase_.load() == Phase::releasing) throw not_held();
    const bool was_lost = phase_.exchange(Phase::free) == Phase::lost;
    if (!was_lost) throw not_held();
    std::rethrow_exception(client::error_of(monitor_, outcome_of_loss()));
  }
  phase_ = Phase::releasing;
  release_is_waited_for_ = true;
  outcome_.reset();
  const lock::ContenderId contender = contender_;
  guard.unlock();
  const bool begun = core_->in_step([&](agent::Agent& agent) { return agent.release(contender); });
  guard.lock();
  if (!begun && !outcome_) outcome_ = outcome_of_loss();  // lost in this very moment
  // Beyond the lock's own deadline, which moves on while the connection lives, there is nothing to be confirmed.
  const lock::TimePoint bound = now() + ensemble_.session_timeout();
  const auto answer_by = [this, bound] {
    return std::min(bound, lock::TimePoint(std::chrono::nanoseconds(ensemble_.valid_until())));
  };
  while (!outcome_ && now() < answer_by()) changed_.wait_until(guard, to_steady(answer_by()));
  phase_ = Phase::free;
  release_is_waited_for_ = false;
  contender_ = 0;
  if (!outcome_) throw unconfirmed_release(monitor_);
  if (const auto error = client::error_of(monitor_, *outcome_)) std::rethrow_exception(error);
}

void LockSlot::release(Done done) {
  if (core_->in_forked_child()) core_->check_usable();
  lock::ContenderId contender = 0;
  const bool answer_wanted = static_cast<bool>(done);
  {
    const std::lock_guard guard(mutex_);
    if (phase_.load() == Phase::held) {
      phase_ = Phase::releasing;
      contender = contender_;
      released_ = std::move(done);
    }
  }
  if (contender != 0) {
    // released() follows, or has come; or release_unanswered().
    const lock::TimePoint answer_by = now() + ensemble_.session_timeout();
    const bool begun = core_->in_step([&](agent::Agent& agent) {
      return answer_wanted ? agent.release(contender, answer_by) : agent.release(contender);
    });
    if (begun) return;
  }
  lock::ReleaseOutcome outcome = lock::ReleaseOutcome::gone;
  {
    const std::lock_guard guard(mutex_);
    if (contender != 0) done = std::exchange(released_, {});
    const Phase phase = phase_.load();
    if (phase == Phase::lost) outcome = outcome_of_loss();
    if (contender != 0 && outcome_) outcome = *outcome_;
    if (phase == Phase::lost || (contender != 0 && phase == Phase::releasing)) phase_ = Phase::free;
    if (!done) return;
    const bool held_before = contender != 0 || phase == Phase::lost;
    const auto not_ours = [this] { return std::make_exception_ptr(not_held()); };
    gate_.owe(
        {.done = std::move(done), .kind = release_callback, .error = held_before ? release_error(outcome) : not_ours});
  }
  core_->post(next_answer(release_callback));
}

void LockSlot::release_detached() noexcept {
  if (core_->in_forked_child()) return;
  lock::ContenderId contender = 0;
  {
    const std::lock_guard guard(mutex_);
    if (phase_.load() == Phase::lost) phase_ = Phase::free;
    if (phase_.load() != Phase::held) return;
    phase_ = Phase::free;
    contender = std::exchange(contender_, 0);
  }
  core_->in_step([&](agent::Agent& agent) { agent.release_detached(contender); });
}

void LockSlot::retire() noexcept {
  if (core_->in_forked_child()) return;
  lock::ContenderId contender = 0;
  {
    // One section for both: a grant that came between two would find no thread to give the lock back.
    const std::lock_guard guard(mutex_);
    const Phase phase = phase_.load();
    const lock::ContenderId ours = std::exchange(contender_, 0);
    if (phase == Phase::waiting || phase == Phase::held) {
      contender = ours;
      phase_ = Phase::free;
    }
  }
  if (contender != 0) core_->in_step([&](agent::Agent& agent) { agent.release_detached(contender); });
  gate_.close();
  std::vector<CallbackGate::Answer> owed;
  {
    const std::lock_guard guard(mutex_);
    owed = gate_.take_answers();
    const auto destroyed = [this] { return destroyed_lock(monitor_); };
    for (CallbackGate::Answer& answer : owed) {
      if (answer.held) answer.error = destroyed;
    }
    if (acquired_) owed.push_back({.done = std::exchange(acquired_, {}), .kind = acquire_callback, .error = destroyed});
    if (released_) owed.push_back({.done = std::exchange(released_, {}), .kind = release_callback, .error = destroyed});
  }
  gate_.give(owed);
}

// --- from the core ---

bool LockSlot::begin(lock::ContenderId contender) {
  const std::lock_guard guard(mutex_);
  contender_ = contender;
  refusal_.reset();
  outcome_.reset();
  stop_.reset();
  return !cancelled_;
}

lock::Duration LockSlot::granted(lock::ContenderId contender, const lock::Grant& grant) {
  lock::Duration margin{0};
  {
    const std::lock_guard guard(mutex_);
    if (contender != contender_) return margin;
    if (on_danger_) margin = danger_margin_;
    told_held(grant.token);
    if (!acquired_) return margin;
    gate_.owe({.done = std::exchange(acquired_, {}), .kind = acquire_callback, .held = true});
  }
  core_->post_from_step(next_answer(acquire_callback));
  return margin;
}

void LockSlot::told_held(lock::Token token) {
  token_ = token;
  record_.acquired_at = records::wall_time_now();
  // What alive() has said of an earlier grant.
  record_.fencing_token.reset();
  record_.alert_at.reset();
  record_.expected_runtime = options_.expected_runtime;
  record_.linger = core_->linger_of(options_);
  if (options_.expected_runtime) record_.alert_at = records::later(*record_.acquired_at, *options_.expected_runtime);
  if (options_.auto_unlock_after) {
    record_.auto_unlock_at = records::later(*record_.acquired_at, *options_.auto_unlock_after);
  }
  phase_ = Phase::held;
}

std::optional<lock::Duration> LockSlot::taken(const linger::Lock& lock) {
  if (begin(lock.contender)) {
    const std::lock_guard guard(mutex_);
    record_.guid = lock.guid;  // by which the servers' answers are recognised
  } else {
    refused(lock.contender, {.reason = lock::RefusalReason::cancelled});
    return std::nullopt;
  }
  return granted(lock.contender, {lock.token, {}});
}

void LockSlot::refused(lock::ContenderId contender, const lock::Refusal& refusal) {
  {
    const std::lock_guard guard(mutex_);
    if (contender != contender_) return;
    refusal_ = refusal;
    contender_ = 0;
    phase_ = Phase::free;
    if (!acquired_) return;
    gate_.owe({.done = std::exchange(acquired_, {}), .kind = acquire_callback, .error = [this, refusal] {
                 return error_of(refusal, false);
               }});
  }
  core_->post_from_step(next_answer(acquire_callback));
}

void LockSlot::lost(lock::ContenderId contender, LossReason reason) {
  std::optional<std::stop_source> stop;
  bool answers = false;
  {
    const std::lock_guard guard(mutex_);
    if (contender != contender_) return;
    contender_ = 0;
    loss_ = reason;
    if (reason != LossReason::closed) core_->log("warning", lost_lock(monitor_, reason).what());
    stop = stop_;
    if (phase_.load() == Phase::releasing) {
      outcome_ = outcome_of_loss();  // the thread that releases it ends that: until then no other one may begin
    } else {
      phase_ = Phase::lost;
    }
    answers = static_cast<bool>(acquired_);  // of one who steps aside
    if (answers) {
      gate_.owe({.done = std::exchange(acquired_, {}), .kind = acquire_callback, .error = [this, reason] {
                   return std::make_exception_ptr(lost_lock(monitor_, reason));
                 }});
    }
  }
  if (answers) core_->post_from_step(next_answer(acquire_callback));
  // The token belongs to this grant, whatever becomes of the lock object until its turn comes.
  if (stop) {
    auto request = [slot = shared_from_this(), stop = *stop]() mutable { stop.request_stop(); };
    core_->post_stop({.run = std::move(request), .kind = "a stop callback", .monitor = &monitor_});
  }
  post("on_lost", [this, reason] {
    if (const auto callback = copy_of(on_lost_)) callback(reason);
  });
}

lock::ReleaseOutcome LockSlot::outcome_of_loss() const {
  return loss_ == LossReason::session_expired ? lock::ReleaseOutcome::session_expired : lock::ReleaseOutcome::gone;
}

void LockSlot::released(lock::ContenderId contender, lock::ReleaseOutcome outcome) {
  {
    const std::lock_guard guard(mutex_);
    if (contender != contender_) return;
    contender_ = 0;
    outcome_ = outcome;
    if (!release_is_waited_for_) phase_ = Phase::free;
    if (!released_) return;
    gate_.owe({.done = std::exchange(released_, {}), .kind = release_callback, .error = release_error(outcome)});
  }
  core_->post_from_step(next_answer(release_callback));
}

void LockSlot::release_unanswered(lock::ContenderId contender) {
  {
    const std::lock_guard guard(mutex_);
    if (contender != contender_ || !released_) return;
    contender_ = 0;
    phase_ = Phase::free;
    gate_.owe({.done = std::exchange(released_, {}), .kind = release_callback, .error = [this] {
                 return std::make_exception_ptr(unconfirmed_release(monitor_));
               }});
  }
  core_->post_from_step(next_answer(release_callback));
}

void LockSlot::queued(lock::ContenderId, const QueuePosition& position) {
  post("on_queued", [this, where = position] {
    if (const auto callback = copy_of(on_queued_)) callback(where);
  });
}

void LockSlot::contended(lock::ContenderId, Priority waiting) {
  post("on_contended", [this, waiting] {
    if (const auto callback = copy_of(on_contended_)) callback(waiting);
  });
}

void LockSlot::in_danger(lock::ContenderId) {
  if (!holds()) return;
  post("on_danger", [this] {
    if (const auto callback = copy_of(on_danger_)) callback();
  });
}

}  // namespace forelock::client
