#include "client/lock_slot.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "client/acquisition_error.h"
#include "client/clock.h"
#include "lock/monitor_name.h"
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
