#include "client/hold.h"

#include <algorithm>
#include <string_view>

#include "client/clock.h"
#include "records/instance.h"
#include "records/wall_time.h"

namespace forelock::client {

using lock::RefusalReason;

Hold::Hold(std::shared_ptr<ClientCore> core, std::string lock_info, std::string name, std::string subject,
           Priority priority, LockOptions options)
    : core_(std::move(core)),
      lock_info_(std::move(lock_info)),
      name_(std::move(name)),
      subject_(std::move(subject)),
      ensemble_(core_->ensemble()),
      priority_(priority),
      options_(std::move(options)),
      gate_(*core_, name_) {}

// --- acquiring ---

void Hold::set_stack(std::vector<std::string> stack) {
  const std::lock_guard guard(mutex_);
  stack_ = std::move(stack);
}

lock::TimePoint Hold::configured_deadline() const {
  return deadline_after(core_->settings().timeout(priority()));
}

lock::TimePoint Hold::deadline_of_try() const {
  const auto configured = core_->settings().timeout(priority());
  return deadline_after(configured.count() > 0 ? configured : std::chrono::seconds(1));
}

OwnerRecord Hold::new_record() const {
  OwnerRecord record;
  record.lock_info = lock_info_;
  const std::string& thread = options_.thread_name.empty() ? records::thread_identity() : options_.thread_name;
  record.instance = records::instance_identity(core_->instance(), thread);
  record.priority = priority();
  record.enqueued_at = records::wall_time_now();
  record.expected_runtime = options_.expected_runtime;
  record.linger = core_->linger_of(options_);
  record.max_wait = core_->max_wait_of(record.priority);
  return record;
}

void Hold::begin_tracing(const std::string& monitor, std::size_t members) {
  SpanQueue* const spans = core_->spans();
  if (spans == nullptr) return;
  LockSpan common;
  common.monitor = monitor;
  common.lock_info = lock_info_;
  common.members = members;
  trace_ = std::make_unique<LockTrace>(*spans, std::move(common), options_.traceparent);
}

Hold::Acquisition Hold::begin_acquisition(lock::TimePoint deadline, const std::optional<TraceContext>& caller,
                                          Done& done) {
  const Phase before = phase();
  if (before != Phase::free && before != Phase::lost) {
    throw RequestRejectedException(
        ErrorCode::already_held, monitor_of(0),
        "this lock object already holds or waits for " + name_ + "; locks are not re-entrant",
        "use one lock object for each acquisition that may overlap");
  }
  if (trace_) trace_->begins(priority(), caller);  // which may throw: nothing has begun then
  phase_ = Phase::waiting;
  waiting_since_ = now();
  deadline_ = deadline;
  failure_.reset();
  release_.reset();
  loss_.reset();
  stop_.reset();
  acquired_ = std::move(done);
  return ++acquisition_;
}

Hold::Done Hold::take_back_acquisition() {
  phase_ = Phase::free;
  if (trace_) trace_->refused({.reason = RefusalReason::rejected});
  return std::exchange(acquired_, {});
}

std::optional<Hold::Failure> Hold::wait(Acquisition acquisition, lock::TimePoint deadline) {
  std::unique_lock guard(mutex_);
  const auto ended = [&] { return has_ended(acquisition); };
  while (!ended()) {
    if (deadline == lock::never) {
      changed_.wait(guard, ended);
    } else if (!changed_.wait_until(guard, to_steady(deadline), ended)) {
      // The engine ends the wait at the deadline; whichever thread notices first tells it the time.
      const bool is_over = now() >= deadline;  // else the timer may have been a moment early
      guard.unlock();
      ensemble_.tick();
      guard.lock();
      if (is_over) deadline = lock::never;  // what a set has taken is being given back
    }
  }
  if (acquisition_ != acquisition) return Failure{.refusal = {.reason = RefusalReason::cancelled}};
  return failure_;
}

void Hold::wait_or_throw(Acquisition acquisition, lock::TimePoint deadline) {
  if (const auto failure = wait(acquisition, deadline)) std::rethrow_exception(error_of(*failure, true));
}

bool Hold::wait_and_see(Acquisition acquisition, lock::TimePoint deadline) {
  const auto failure = wait(acquisition, deadline);
  if (!failure) return true;
  switch (failure->refusal.reason) {
    case RefusalReason::timed_out:
    case RefusalReason::unavailable:
    case RefusalReason::not_admitted:
    case RefusalReason::cancelled:
      return false;
    default:
      std::rethrow_exception(error_of(*failure, false));
  }
}

bool Hold::wait_until(Acquisition acquisition, lock::TimePoint instant) {
  std::unique_lock guard(mutex_);
  if (instant <= now()) return has_ended(acquisition);
  return changed_.wait_until(guard, to_steady(instant), [&] { return has_ended(acquisition); });
}

bool Hold::tell_end(Acquisition acquisition, Done done) {
  const std::lock_guard guard(mutex_);
  if (has_ended(acquisition)) return false;
  acquired_ = std::move(done);
  return true;
}

bool Hold::has_ended(Acquisition acquisition) const {
  return acquisition_ != acquisition || phase() != Phase::waiting;
}

Hold::Acquisition Hold::acquisition() const {
  const std::lock_guard guard(mutex_);
  return acquisition_;
}

bool Hold::cancel() {
  if (core_->in_forked_child()) core_->check_usable();
  return core_->in_step([this](agent::Agent& agent) { return cancel_waiting(agent); });
}

bool Hold::set_priority(Priority priority) {
  if (core_->in_forked_child()) core_->check_usable();
  return core_->in_step([&](agent::Agent& agent) {
    const Phase current = phase();
    if (current == Phase::held || current == Phase::releasing) return false;
    if (current == Phase::waiting && !move_waiting(agent, priority)) return false;
    set_current_priority(priority);
    return true;
  });
}

void Hold::put_inside(const Hold& outer) {
  if (core_ != outer.core_) {
    throw RequestRejectedException(ErrorCode::invalid_argument, monitor_of(0),
                                   "this lock cannot be inside of a lock of another Client",
                                   "make both with the same Client");
  }
  outer_locks_.add(outer.weak_from_this());
}

Hold::Acquisition Hold::begin_step_aside(lock::TimePoint deadline) {
  if (core_->in_forked_child()) core_->check_usable();
  const Acquisition current = acquisition();
  if (!core_->in_step([&](agent::Agent& agent) { return step_aside_held(agent, deadline); })) {
    check_health();
    throw LockUnhealthyException(ErrorCode::lock_unhealthy, monitor_of(0), subject_ + " is not held");
  }
  return current;
}

bool Hold::step_aside(std::chrono::milliseconds timeout) {
  const auto deadline = deadline_after(timeout);
  if (!wait_and_see(begin_step_aside(deadline), deadline)) return false;
  check_health();  // it may have been removed before it could be given back
  return true;
}

void Hold::told_step_aside(lock::TimePoint deadline) {
  phase_ = Phase::waiting;
  if (trace_) trace_->stepped_aside();
  waiting_since_ = now();
  deadline_ = deadline;
  failure_.reset();
}

// --- releasing ---

void Hold::begin_release(Done done, bool is_waited_for) {
  phase_ = Phase::releasing;
  if (trace_) trace_->ended();
  release_.reset();
  release_is_waited_for_ = is_waited_for;
  released_ = std::move(done);
}

void Hold::release_and_wait() {
  if (core_->in_forked_child()) core_->check_usable();
  Done nobody_to_tell;
  const bool begun = core_->in_step([&](agent::Agent& agent) { return release_held(agent, nobody_to_tell, true); });
  if (!begun) throw not_held();
  std::unique_lock guard(mutex_);
  // Beyond the deadline of what was held, which moves on while the connection lives, there is nothing to be confirmed.
  const lock::TimePoint bound = now() + ensemble_.session_timeout();
  const auto answer_by = [this, bound] {
    return std::min(bound, lock::TimePoint(std::chrono::nanoseconds(ensemble_.valid_until())));
  };
  while (!release_ && now() < answer_by()) changed_.wait_until(guard, to_steady(answer_by()));
  if (!release_) {
    guard.unlock();
    core_->in_step([this](agent::Agent&) { forget_release(); });
    guard.lock();
  }
  const Release release = release_.value_or(Release{.confirmed = false});
  phase_ = Phase::free;
  release_is_waited_for_ = false;
  guard.unlock();
  if (const auto error = error_of(release)) std::rethrow_exception(error);
}

void Hold::release_quietly() noexcept {
  if (core_->in_forked_child()) return;
  try {
    release_and_wait();
  } catch (const std::exception& problem) {
    core_->log("warning", problem.what());
  }
}

void Hold::release(Done done) {
  if (core_->in_forked_child()) core_->check_usable();
  if (core_->in_step([&](agent::Agent& agent) { return release_held(agent, done, false); })) return;
  if (!done) return;
  gate_.owe({.done = std::move(done), .kind = release_callback, .error = [this] {
               return std::make_exception_ptr(not_held());
             }});
  core_->post(gate_.next_answer(release_callback, shared_from_this()));
}

void Hold::retire() noexcept {
  if (core_->in_forked_child()) return;
  abandon();
  gate_.close();
  std::vector<CallbackGate::Answer> owed;
  {
    const std::lock_guard guard(mutex_);
    owed = gate_.take_answers();
    const auto destroyed = [this] { return destroyed_lock(name_); };
    for (CallbackGate::Answer& answer : owed) {
      if (answer.held) answer.error = destroyed;
    }
    if (acquired_) owed.push_back({.done = std::exchange(acquired_, {}), .kind = acquire_callback, .error = destroyed});
    if (released_) owed.push_back({.done = std::exchange(released_, {}), .kind = release_callback, .error = destroyed});
  }
  gate_.give(owed);
}

// --- what the core tells ---

void Hold::answer(Done& done, CallbackGate::Answer answer) {
  if (!done) return;
  answer.done = std::exchange(done, {});
  const char* const kind = answer.kind;
  gate_.owe(std::move(answer));
  core_->post_from_step(gate_.next_answer(kind, shared_from_this()));
}

void Hold::told_held(lock::Token token, GrantCourse course) {
  if (trace_) trace_->granted(token, std::move(course));
  granted_once_ = true;
  phase_ = Phase::held;
  answer(acquired_, {.kind = acquire_callback, .held = true});
}

void Hold::told_failed(const Failure& failure) {
  failure_ = failure;
  if (trace_) trace_->refused(failure.refusal);
  phase_ = Phase::free;
  answer(acquired_, {.kind = acquire_callback, .error = [this, failure] { return error_of(failure, false); }});
}

void Hold::told_lost(const Loss& loss) {
  loss_ = loss;
  if (trace_) trace_->lost(loss.reason);
  if (loss.reason != LossReason::closed) core_->log("warning", lost_error(loss).what());
  if (phase() == Phase::releasing) {
    told_released(release_of(loss));
  } else {
    phase_ = Phase::lost;
  }
  // Of one who steps aside.
  answer(acquired_,
         {.kind = acquire_callback, .error = [this, loss] { return std::make_exception_ptr(lost_error(loss)); }});
  // The token belongs to this grant, whatever becomes of the lock object until its turn comes.
  if (stop_) {
    auto request = [hold = shared_from_this(), stop = *stop_]() mutable { stop.request_stop(); };
    core_->post_stop({.run = std::move(request), .kind = "a stop callback", .monitor = &name_});
  }
  post("on_lost", [this, loss] {
    if (const auto callback = copy_of(callbacks_.lost)) callback(loss.reason, monitor_of(loss.member));
  });
}

void Hold::told_released(const Release& release) {
  release_ = release;
  // Until the thread that waits has read it, the next acquisition would take it away.
  if (!release_is_waited_for_) phase_ = Phase::free;
  answer(released_, {.kind = release_callback, .error = [this, release] { return error_of(release); }});
}

void Hold::told_abandoned() {
  phase_ = Phase::free;
  if (trace_) trace_->ended();
}

void Hold::told_place(std::size_t place) {
  if (trace_) trace_->queued(place);
}

void Hold::set_current_priority(Priority priority) {
  priority_.store(priority, std::memory_order_relaxed);
  if (!trace_) return;
  const std::lock_guard guard(mutex_);
  trace_->moved(priority);
}

Hold::Release Hold::release_of(const Loss& loss) {
  const bool expired = loss.reason == LossReason::session_expired;
  return {loss.member, expired ? lock::ReleaseOutcome::session_expired : lock::ReleaseOutcome::gone};
}

void Hold::tell_queued(std::size_t member, const QueuePosition& position) {
  post("on_queued", [this, member, where = position] {
    if (const auto callback = copy_of(callbacks_.queued)) callback(where, monitor_of(member));
  });
}

void Hold::tell_contended(std::size_t member, Priority waiting) {
  post("on_contended", [this, member, waiting] {
    if (const auto callback = copy_of(callbacks_.contended)) callback(waiting, monitor_of(member));
  });
}

void Hold::tell_danger() {
  if (!holds()) return;
  post("on_danger", [this] {
    if (const auto callback = copy_of(callbacks_.danger)) callback();
  });
}

}  // namespace forelock::client
