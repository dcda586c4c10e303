// How a set slot contends: from the record that its members write to the end of the wait.
#include <algorithm>
#include <chrono>
#include <utility>

#include "client/clock.h"
#include "client/set_slot.h"
#include "records/guid.h"
#include "records/instance.h"
#include "records/stack.h"
#include "records/wall_time.h"

namespace forelock::client {

namespace {

// What of a set's members a record names: enough for people, and a small part of a request that carries hundreds.
constexpr std::size_t named_members = 4;
constexpr std::size_t named_bytes = 128;

}  // namespace

void SetSlot::set_stack(std::vector<std::string> stack) {
  const std::lock_guard guard(mutex_);
  stack_ = std::move(stack);
}

OwnerRecord SetSlot::new_record() const {
  OwnerRecord record;
  record.lock_info = lock_info_;
  const std::string& thread = options_.thread_name.empty() ? records::thread_identity() : options_.thread_name;
  record.instance = records::instance_identity(core_->instance(), thread);
  record.priority = priority();
  record.enqueued_at = records::wall_time_now();
  record.expected_runtime = options_.expected_runtime;
  record.linger = core_->linger_of(options_);
  record.max_wait = core_->max_wait_of(record.priority);
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
    record.priority = priority();  // it may have been changed on the way here
    record.max_wait = core_->max_wait_of(record.priority);
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
    run->inside(outer_locks_.held(*core_));
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

bool SetSlot::set_priority(Priority priority) {
  if (core_->in_forked_child()) core_->check_usable();
  return core_->in_step([&](agent::Agent&) {
    const auto run = run_;
    const Phase phase = phase_.load();
    if (phase == Phase::held || phase == Phase::releasing) return false;
    if (phase == Phase::waiting && run && !run->set_priority(priority)) return false;
    priority_.store(priority, std::memory_order_relaxed);
    return true;
  });
}

void SetSlot::add_held(std::vector<lock::ContenderId>& found) const {
  const auto run = run_;
  if (!run || phase_.load() != Phase::held) return;
  std::vector<lock::ContenderId> held;
  run->add_held(held);
  if (held.empty() || std::find(found.begin(), found.end(), held.front()) != found.end()) return;
  found.insert(found.end(), held.begin(), held.end());
  outer_locks_.add_held(*core_, found);
}

void SetSlot::wished(const SetRun& run, Priority priority) {
  if (is_current(run)) priority_.store(priority, std::memory_order_relaxed);
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

}  // namespace forelock::client
