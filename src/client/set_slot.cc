#include "client/set_slot.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "client/acquisition_error.h"
#include "client/clock.h"
#include "lock/monitor_name.h"
#include "records/guid.h"
#include "records/instance.h"
#include "records/stack.h"
#include "records/wall_time.h"
#include "sets/canonical_order.h"

namespace forelock::client {

namespace {

// How long the caller of a failed acquisition is kept waiting for the servers to confirm what it gives back.
constexpr std::chrono::seconds give_back_patience{1};

// What of a set's members a record names: enough for people, and a small part of a request that carries hundreds.
constexpr std::size_t named_members = 4;
constexpr std::size_t named_bytes = 128;

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

// --- acquiring ---

void SetSlot::set_stack(std::vector<std::string> stack) {
  const std::lock_guard guard(mutex_);
  stack_ = std::move(stack);
}

OwnerRecord SetSlot::new_record() const {
  OwnerRecord record;
  record.lock_info = lock_info_;
  const std::string& thread = options_.thread_name.empty() ? records::thread_identity() : options_.thread_name;
  record.instance = records::instance_identity(core_->instance(), thread);
  record.priority = priority_;
  record.enqueued_at = records::wall_time_now();
  record.expected_runtime = options_.expected_runtime;
  record.linger = core_->linger_of(options_);
  record.max_wait = core_->max_wait_of(priority_);
  record.set_size = monitors().size();
  std::size_t bytes = 0;
  for (const std::string& monitor : monitors()) {
    bytes += monitor.size();
    if (record.set_members.size() == named_members || bytes > named_bytes) break;
    record.set_members.push_back(monitor);
  }
  return record;
}

OwnerRecord SetSlot::make_record() {
  OwnerRecord record = new_record();
  record.set = record.guid = records::make_guid();
  {
    const std::lock_guard guard(mutex_);
    record.stack.swap(stack_);
  }
  if (record.stack.empty() && options_.capture_stack) {
    record.stack = records::symbolise(records::capture_stack(2));
  }
  return record;
}

SetSlot::Acquisition SetSlot::acquire(lock::TimePoint deadline, bool try_only, Done done) {
  core_->check_usable();
  OwnerRecord record = make_record();
  Acquisition acquisition = 0;
  core_->in_step([&](agent::Agent&) {
    std::shared_ptr<SetRun> run;
    {
      const std::lock_guard guard(mutex_);
      const Phase phase = phase_.load();
      if (phase != Phase::free && phase != Phase::lost) {
        throw RequestRejectedException(ErrorCode::already_held, monitors().front(),
                                       "this lock set (" + name_ + ") is held or waiting already; it is not re-entrant",
                                       "use one lock set object for each acquisition that may overlap");
      }
      // What is left of a lost one goes; the requests keep their order.
      if (phase == Phase::lost && run_) run = std::exchange(run_, nullptr);
    }
    if (run) run->release();
    {
      const std::lock_guard guard(mutex_);
      run_ = run = std::make_shared<SetRun>(*core_, weak_from_this(), members_, std::move(record), options_,
                                            static_cast<bool>(on_contended_), static_cast<bool>(on_queued_));
      phase_ = Phase::waiting;
      waiting_since_ = now();
      deadline_ = deadline;
      patience_begun_ = false;
      failure_.reset();
      release_.reset();
      loss_.reset();
      stop_.reset();
      acquired_ = std::move(done);
      acquisition = ++acquisition_;
    }
    run->begin(deadline, try_only);
  });
  return acquisition;
}

std::optional<SetSlot::Failure> SetSlot::wait(Acquisition acquisition, lock::TimePoint deadline) {
  std::unique_lock guard(mutex_);
  const auto ended = [&] { return has_ended(acquisition); };
  while (!ended()) {
    if (deadline == lock::never) {
      changed_.wait(guard, ended);
    } else if (!changed_.wait_until(guard, to_steady(deadline), ended)) {
      // The engine ends the waiting at the deadline; whichever thread notices first tells it the time.
      guard.unlock();
      ensemble_.tick();
      guard.lock();
      if (now() >= deadline) deadline = lock::never;  // what was taken is being given back
    }
  }
  if (acquisition_ != acquisition) return Failure{.refusal = {.reason = lock::RefusalReason::cancelled}};
  return failure_;
}

bool SetSlot::wait_until(Acquisition acquisition, lock::TimePoint instant) {
  std::unique_lock guard(mutex_);
  if (instant <= now()) return has_ended(acquisition);
  return changed_.wait_until(guard, to_steady(instant), [&] { return has_ended(acquisition); });
}

bool SetSlot::tell_end(Acquisition acquisition, Done done) {
  const std::lock_guard guard(mutex_);
  if (has_ended(acquisition)) return false;
  acquired_ = std::move(done);
  return true;
}

bool SetSlot::has_ended(Acquisition acquisition) const {
  return acquisition_ != acquisition || phase_.load() != Phase::waiting;
}

SetSlot::Acquisition SetSlot::acquisition() const {
  const std::lock_guard guard(mutex_);
  return acquisition_;
}

bool SetSlot::cancel() {
  if (core_->in_forked_child()) core_->check_usable();
  bool cancelled = false;
  core_->in_step([&](agent::Agent&) {
    if (const auto run = run_; run && phase_.load() == Phase::waiting) cancelled = run->cancel();
  });
  return cancelled;
}

bool SetSlot::step_aside(lock::TimePoint deadline) {
  if (core_->in_forked_child()) core_->check_usable();
  bool begun = false;
  core_->in_step([&](agent::Agent&) {
    {
      const std::lock_guard guard(mutex_);
      if (phase_.load() != Phase::held) return;
      phase_ = Phase::waiting;
      waiting_since_ = now();
      deadline_ = deadline;
      patience_begun_ = false;
      failure_.reset();
    }
    begun = run_->step_aside(deadline);
  });
  return begun;
}

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
