// How a lock slot contends: from the record that it writes to the end of the wait.
#include <algorithm>
#include <chrono>
#include <utility>

#include "client/clock.h"
#include "client/lock_slot.h"
#include "client/record_text.h"
#include "records/guid.h"
#include "records/instance.h"
#include "records/stack.h"
#include "records/wall_time.h"

namespace forelock::client {

OwnerRecord LockSlot::new_record() const {
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
  spec.priority = record.priority;
  spec.guid = record.guid;
  spec.record = text_of(record);
  spec.deadline = deadline;
  spec.try_once = try_once;
  spec.wants_position = wants_place();
  spec.queue_max = options_.queue_max.value_or(core_->settings().queue_max());
  spec.refuse_in_vain = options_.admission.value_or(core_->settings().admission()) == Admission::refuse;
  const std::lock_guard guard(mutex_);
  if (on_contended_) spec.contention = lock::ContentionScope::all;
  record_ = std::move(record);
  return spec;
}

lock::RecordText LockSlot::text_of(const OwnerRecord& record) const {
  return client::text_of(
      std::make_shared<records::ContenderRecord>(record, options_.expected_runtime, options_.auto_unlock_after));
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
    const Priority before = spec.priority;
    core_->in_step([&](agent::Agent& agent) {
      const lock::ContenderId contender =
          agent.acquire(shared_from_this(), std::move(spec), core_->linger_of(options_).has_value());
      agent.inside(contender, outer_locks_.held(*core_));
      if (priority() != before) move(agent, priority());  // it was changed on the way here
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
  const linger::Wish wish{node_name_, priority(), true, wants_place()};
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

bool LockSlot::set_priority(Priority priority) {
  if (core_->in_forked_child()) core_->check_usable();
  return core_->in_step([&](agent::Agent& agent) {
    bool waits = false;
    {
      const std::lock_guard guard(mutex_);
      const Phase phase = phase_.load();
      if (phase == Phase::held || phase == Phase::releasing) return false;
      waits = phase == Phase::waiting && contender_ != 0;  // else acquire() is on its way to the core, or to come
    }
    if (waits && !move(agent, priority)) return false;
    priority_.store(priority, std::memory_order_relaxed);
    return true;
  });
}

// An operator's wish: nobody else can move it.
void LockSlot::record_changed(lock::ContenderId contender, const std::string& record) {
  const std::optional<OwnerRecord> changed = OwnerRecord::from_json(record);
  if (!changed || !changed->wish || *changed->wish == priority()) return;
  {
    const std::lock_guard guard(mutex_);
    if (contender != contender_ || phase_.load() != Phase::waiting) return;
  }
  if (move(ensemble_.agent(), *changed->wish, true)) priority_.store(*changed->wish, std::memory_order_relaxed);
}

bool LockSlot::move(agent::Agent& agent, Priority priority, bool by_wish) {
  lock::ContenderId contender = 0;
  OwnerRecord record;
  {
    const std::lock_guard guard(mutex_);
    contender = contender_;
    record = record_;
  }
  record.priority = priority;
  record.by_wish = by_wish;
  record.max_wait = core_->max_wait_of(priority);
  // What a holder that has stepped aside has left there.
  record.acquired_at.reset();
  record.alert_at.reset();
  record.auto_unlock_at.reset();
  record.fencing_token.reset();
  if (contender == 0 || !agent.is_of(*this, contender)) return false;
  if (!agent.set_priority(contender, priority, text_of(record))) return false;
  const std::lock_guard guard(mutex_);
  if (contender_ == contender) record_ = std::move(record);
  return true;
}

void LockSlot::add_held(std::vector<lock::ContenderId>& found) const {
  {
    const std::lock_guard guard(mutex_);
    if (phase_.load() != Phase::held) return;
    if (std::find(found.begin(), found.end(), contender_) != found.end()) return;  // it was met on another way
    found.push_back(contender_);
  }
  outer_locks_.add_held(*core_, found);
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
    if (begun) agent.inside(contender, outer_locks_.held(*core_));
  });
  return begun;
}

}  // namespace forelock::client
