#include "client/set_slot.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "client/acquisition_error.h"
#include "client/clock.h"
#include "lock/monitor_name.h"
#include "sets/canonical_order.h"

namespace forelock::client {

namespace {

// How long the caller of a failed acquisition is kept waiting for the servers to confirm what it gives back.
constexpr std::chrono::seconds give_back_patience{1};

std::shared_ptr<const SetMembers> members_or_throw(const std::vector<std::string>& monitors) {
  const auto refuse = [](const std::string& monitor, const std::string& why, const std::string& hint) {
    throw RequestRejectedException(ErrorCode::invalid_argument, monitor, why, hint);
  };
  if (monitors.empty()) refuse({}, "a lock set without a member", "name at least one monitor");
  std::vector<std::string> names;
  names.reserve(monitors.size());
  for (const std::string& monitor : monitors) {
    lock::EncodedName name = lock::encode_monitor_name(monitor);
    if (!name) refuse(monitor, "the monitor id " + name.problem, "ids are UTF-8 text of 1 to 255 bytes after encoding");
    names.push_back(*std::move(name.name));
  }
  auto members = std::make_shared<SetMembers>();
  for (const std::size_t i : sets::canonical_order(names)) {
    members->monitors.push_back(monitors[i]);
    members->node_names.push_back(names[i]);
  }
  if (members->monitors.size() > LockSet::max_members) {
    refuse({},
           "a lock set of " + std::to_string(members->monitors.size()) + " members; at most " +
               std::to_string(LockSet::max_members) + " are possible",
           "split the bulk into several sets");
  }
  return members;
}

std::string name_of_set(const std::vector<std::string>& monitors) {
  if (monitors.size() == 1) return monitors.front();
  return monitors.front() + " and " + std::to_string(monitors.size() - 1) + " more";
}

}  // namespace

SetSlot::SetSlot(std::shared_ptr<ClientCore> core, std::string lock_info, const std::vector<std::string>& monitors,
                 Priority priority, LockOptions options)
    : core_(std::move(core)),
      lock_info_(std::move(lock_info)),
      members_(members_or_throw(monitors)),
      ensemble_(core_->ensemble()),
      priority_(priority),
      options_(std::move(options)),
      name_(name_of_set(members_->monitors)),
      tokens_(members_->monitors.size()),
      gate_(*core_, name_) {}

// --- releasing ---

bool SetSlot::begin_release(Done done, bool is_waited_for) {
  bool begun = false;
  core_->in_step([&](agent::Agent&) {
    const lock::TimePoint confirmed_by = now() + ensemble_.session_timeout();
    {
      const std::lock_guard guard(mutex_);
      const Phase phase = phase_.load();
      if ((phase != Phase::held && phase != Phase::lost) || !run_) return;
      begun = true;
      phase_ = Phase::releasing;
      patience_ends_ = confirmed_by;
      release_.reset();
      release_is_waited_for_ = is_waited_for;
      released_ = std::move(done);
    }
    const auto run = run_;  // its end resets run_
    ensemble_.agent().call_at(confirmed_by, run);
    run->release();
  });
  return begun;
}

void SetSlot::release_and_wait() {
  if (core_->in_forked_child()) core_->check_usable();
  const bool begun = begin_release({}, true);
  std::unique_lock guard(mutex_);
  if (!begun) throw_not_held();
  // Beyond the deadline of the locks, which moves on while the connection lives, there is nothing to be confirmed.
  const lock::TimePoint bound = now() + ensemble_.session_timeout();
  const auto answer_by = [this, bound] {
    return std::min(bound, lock::TimePoint(std::chrono::nanoseconds(ensemble_.valid_until())));
  };
  while (!release_ && now() < answer_by()) changed_.wait_until(guard, to_steady(answer_by()));
  if (!release_) {
    guard.unlock();
    core_->in_step([&](agent::Agent&) {
      if (const auto run = run_) time_is_up(run);  // which resets run_
    });
    guard.lock();
  }
  const Release release = release_.value_or(Release{.confirmed = false});
  phase_ = Phase::free;
  release_is_waited_for_ = false;
  guard.unlock();
  if (const auto error = error_of(release)) std::rethrow_exception(error);
}

void SetSlot::release(Done done) {
  if (core_->in_forked_child()) core_->check_usable();
  if (begin_release(done, false) || !done) return;
  gate_.owe({.done = std::move(done), .kind = release_callback, .error = [this]() -> std::exception_ptr {
               try {
                 throw_not_held();
               } catch (...) {
                 return std::current_exception();
               }
             }});
  core_->post(gate_.next_answer(release_callback, shared_from_this()));
}

void SetSlot::release_detached() noexcept {
  if (core_->in_forked_child()) return;
  core_->in_step([&](agent::Agent&) {
    std::shared_ptr<SetRun> run;
    {
      const std::lock_guard guard(mutex_);
      if (phase_.load() != Phase::held && phase_.load() != Phase::lost) return;
      phase_ = Phase::free;
      run = std::exchange(run_, nullptr);
    }
    if (run) run->release();
  });
}

void SetSlot::retire() noexcept {
  if (core_->in_forked_child()) return;
  core_->in_step([&](agent::Agent&) {
    std::shared_ptr<SetRun> run;
    {
      const std::lock_guard guard(mutex_);
      phase_ = Phase::free;
      run = std::exchange(run_, nullptr);
    }
    if (run && !run->release()) run->cancel();
  });
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

// --- from the run ---

SetSlot::Release SetSlot::release_of(const sets::SetMachine::Loss& loss) {
  const bool expired = loss.reason == LossReason::session_expired;
  return {loss.member, expired ? lock::ReleaseOutcome::session_expired : lock::ReleaseOutcome::gone};
}

void SetSlot::advanced(const std::shared_ptr<SetRun>& run) {
  using sets::SetStage;
  const std::lock_guard guard(mutex_);
  if (!is_current(*run)) return;
  const sets::SetMachine& machine = run->machine();
  waits_for_ = machine.waits_for();
  const Phase before = phase_.load();
  switch (machine.stage()) {
    case SetStage::taking:
      return;
    case SetStage::held:
      if (before == Phase::waiting) {
        told_held(machine);
        if (on_danger_) run->watch_danger(danger_margin_);
      }
      break;
    case SetStage::lost:
      if (before == Phase::waiting) told_held(machine);  // both in one step
      if (phase_.load() == Phase::held) told_lost(machine);
      break;
    case SetStage::failing:
      if (before != Phase::waiting || patience_begun_) return;
      patience_begun_ = true;
      if (ensemble_.connected()) {
        patience_ends_ = now() + give_back_patience;
        return ensemble_.agent().call_at(patience_ends_, run);
      }
      told_failed(*machine.failure());
      break;
    case SetStage::releasing:
      return;
    case SetStage::free:
      if (before == Phase::waiting) {
        told_failed(*machine.failure());
      } else if (before == Phase::releasing) {
        Release release;
        if (const auto& loss = machine.loss()) {
          release = release_of(*loss);
        } else if (const auto& bad = machine.bad_release()) {
          release = {bad->member, bad->outcome};
        }
        told_released(release);
      }
      break;
  }
  run->wake_owner();
}

void SetSlot::time_has_come(const std::shared_ptr<SetRun>& run, lock::TimePoint time) {
  {
    const std::lock_guard guard(mutex_);
    if (time < patience_ends_) return;  // it was another one of the run's times
  }
  time_is_up(run);
}

void SetSlot::time_is_up(const std::shared_ptr<SetRun>& run) {
  const std::lock_guard guard(mutex_);
  if (!is_current(*run)) return;
  const sets::SetStage stage = run->machine().stage();
  if (phase_.load() == Phase::waiting && stage == sets::SetStage::failing) {
    told_failed(*run->machine().failure());
  } else if (phase_.load() == Phase::releasing && stage == sets::SetStage::releasing) {
    // Of a set that is lost the loss is told, although other members are still being released.
    const auto& loss = run->machine().loss();
    told_released(loss ? release_of(*loss) : Release{.confirmed = false});
  } else {
    return;
  }
  run->wake_owner();
}

void SetSlot::wake(const SetRun&) {
  changed_.notify_all();
}

void SetSlot::told_held(const sets::SetMachine& machine) {
  for (std::size_t i = 0; i < tokens_.size(); ++i) tokens_[i] = machine.token(i);
  granted_once_ = true;
  phase_ = Phase::held;
  if (!acquired_) return;
  gate_.owe({.done = std::exchange(acquired_, {}), .kind = acquire_callback, .held = true});
  core_->post_from_step(gate_.next_answer(acquire_callback, shared_from_this()));
}

void SetSlot::told_lost(const sets::SetMachine& machine) {
  loss_ = machine.loss();
  phase_ = Phase::lost;
  if (loss_->reason != LossReason::closed) {
    core_->log("warning", "the lock set of " + name_ + " is lost with " + monitors()[loss_->member] + " (" +
                              std::string(name_of(loss_->reason)) + ")");
  }
  if (stop_) {
    auto request = [slot = shared_from_this(), stop = *stop_]() mutable { stop.request_stop(); };
    core_->post_stop({.run = std::move(request), .kind = "a stop callback", .monitor = &name_});
  }
  const auto tell = [this, reason = loss_->reason, member = loss_->member] {
    if (const auto callback = copy_of(on_lost_)) callback(reason, monitors()[member]);
  };
  core_->post_from_step(gate_.call("on_lost", shared_from_this(), tell));
}

void SetSlot::told_failed(const Failure& failure) {
  failure_ = failure;
  phase_ = Phase::free;
  run_.reset();
  if (!acquired_) return;
  gate_.owe({.done = std::exchange(acquired_, {}), .kind = acquire_callback, .error = [this, failure] {
               return error_of(failure, false);
             }});
  core_->post_from_step(gate_.next_answer(acquire_callback, shared_from_this()));
}

void SetSlot::told_released(const Release& release) {
  release_ = release;
  // Until the thread that waits has read it, the next acquisition would take it away.
  if (!release_is_waited_for_) phase_ = Phase::free;
  run_.reset();
  if (!released_) return;
  gate_.owe({.done = std::exchange(released_, {}), .kind = release_callback, .error = [this, release] {
               return error_of(release);
             }});
  core_->post_from_step(gate_.next_answer(release_callback, shared_from_this()));
}

void SetSlot::queued(const SetRun& run, std::size_t member, const QueuePosition& position) {
  {
    const std::lock_guard guard(mutex_);
    if (!is_current(run)) return;
  }
  const auto tell = [this, member, where = position] {
    if (const auto callback = copy_of(on_queued_)) callback(where, monitors()[member]);
  };
  core_->post_from_step(gate_.call("on_queued", shared_from_this(), tell));
}

void SetSlot::contended(const SetRun& run, std::size_t member, Priority waiting) {
  {
    const std::lock_guard guard(mutex_);
    if (!is_current(run)) return;
  }
  const auto tell = [this, member, waiting] {
    if (const auto callback = copy_of(on_contended_)) callback(waiting, monitors()[member]);
  };
  core_->post_from_step(gate_.call("on_contended", shared_from_this(), tell));
}

}  // namespace forelock::client
