// How a lock slot contends: from the record that it writes to the end of the wait.
#include <algorithm>
#include <utility>

#include "client/lock_slot.h"
#include "client/record_text.h"
#include "records/guid.h"
#include "records/stack.h"

namespace forelock::client {

lock::AcquireSpec LockSlot::make_spec(lock::TimePoint deadline, bool try_once, std::vector<std::string> stack) {
  OwnerRecord record = new_record();
  record.guid = records::make_guid();
  record.stack = std::move(stack);
  if (record.stack.empty() && options().capture_stack) record.stack = records::symbolise(records::capture_stack(2));

  lock::AcquireSpec spec;
  spec.monitor = node_name_;
  spec.priority = record.priority;
  spec.guid = record.guid;
  spec.record = text_of(record);
  spec.deadline = deadline;
  spec.try_once = try_once;
  spec.queue_max = options().queue_max.value_or(core().settings().queue_max());
  spec.refuse_in_vain = options().admission.value_or(core().settings().admission()) == Admission::refuse;
  spec.keep_monitor = options().keep_monitor;
  const std::lock_guard guard(mutex());
  spec.wants_position = wants_place();
  if (wants_contention()) spec.contention = lock::ContentionScope::all;
  record_ = std::move(record);
  return spec;
}

lock::RecordText LockSlot::text_of(const OwnerRecord& record) const {
  return client::text_of(
      std::make_shared<records::ContenderRecord>(record, options().expected_runtime, options().auto_unlock_after));
}

Hold::Acquisition LockSlot::acquire(lock::TimePoint deadline, bool try_once, Done done) {
  core().check_usable();
  const std::optional<TraceContext> caller = trace_parent();
  Acquisition acquisition = 0;
  std::vector<std::string> stack;
  {
    const std::lock_guard guard(mutex());
    stack = take_stack();  // of this call, also if it is refused
    acquisition = begin_acquisition(deadline, caller, done);
    contender_ = 0;
    cancelled_ = false;
  }
  try {
    if (acquire_lingering()) return acquisition;
    lock::AcquireSpec spec = make_spec(deadline, try_once, std::move(stack));
    const Priority before = spec.priority;
    core().in_step([&](agent::Agent& agent) {
      const lock::ContenderId contender =
          agent.acquire(shared(), std::move(spec), core().linger_of(options()).has_value());
      agent.inside(contender, outer().held(core()));
      if (priority() != before) move(agent, priority());  // it was changed on the way here
    });
  } catch (...) {
    const std::lock_guard guard(mutex());
    done = take_back_acquisition();
    throw;
  }
  return acquisition;
}

bool LockSlot::acquire_lingering() {
  if (!core().linger_of(options())) return false;
  bool with_place = false;
  {
    const std::lock_guard guard(mutex());
    record_ = new_record();
    with_place = wants_place();
  }
  const linger::Wish wish{node_name_, priority(), true, with_place};
  return core().in_step([&](agent::Agent& agent) { return agent.acquire_lingering(shared(), wish) != 0; });
}

client::Acquisition LockSlot::acquisition_of(std::size_t) const {
  return {.monitor = name(), .node_name = node_name_, .guid = record_.guid};
}

bool LockSlot::cancel_waiting(agent::Agent& agent) {
  lock::ContenderId contender = 0;
  {
    const std::lock_guard guard(mutex());
    if (phase() != Phase::waiting) return false;
    contender = contender_;
    if (contender == 0) {
      cancelled_ = true;  // acquire() is on its way to the core
      return true;
    }
  }
  return agent.cancel(contender);
}

bool LockSlot::move_waiting(agent::Agent& agent, Priority priority) {
  {
    const std::lock_guard guard(mutex());
    if (contender_ == 0) return true;  // acquire() is on its way to the core
  }
  return move(agent, priority);
}

// An operator's wish: nobody else can move it.
void LockSlot::record_changed(lock::ContenderId contender, const std::string& record) {
  const std::optional<OwnerRecord> changed = OwnerRecord::from_json(record);
  if (!changed || !changed->wish || *changed->wish == priority()) return;
  {
    const std::lock_guard guard(mutex());
    if (contender != contender_ || phase() != Phase::waiting) return;
  }
  if (move(ensemble().agent(), *changed->wish, true)) set_current_priority(*changed->wish);
}

bool LockSlot::move(agent::Agent& agent, Priority priority, bool by_wish) {
  lock::ContenderId contender = 0;
  OwnerRecord record;
  {
    const std::lock_guard guard(mutex());
    contender = contender_;
    record = record_;
  }
  record.priority = priority;
  record.by_wish = by_wish;
  record.max_wait = core().max_wait_of(priority);
  // What a holder that has stepped aside has left there.
  record.acquired_at.reset();
  record.alert_at.reset();
  record.auto_unlock_at.reset();
  record.fencing_token.reset();
  if (contender == 0 || !agent.is_of(*this, contender)) return false;
  if (!agent.set_priority(contender, priority, text_of(record))) return false;
  const std::lock_guard guard(mutex());
  if (contender_ == contender) record_ = std::move(record);
  return true;
}

void LockSlot::add_held(std::vector<lock::ContenderId>& found) const {
  {
    const std::lock_guard guard(mutex());
    if (!holds()) return;
    if (std::find(found.begin(), found.end(), contender_) != found.end()) return;  // it was met on another way
    found.push_back(contender_);
  }
  outer().add_held(core(), found);
}

bool LockSlot::step_aside_held(agent::Agent& agent, lock::TimePoint deadline) {
  lock::ContenderId contender = 0;
  {
    const std::lock_guard guard(mutex());
    if (!holds() || !agent.holds(contender_)) return false;
    contender = contender_;
    told_step_aside(deadline);
  }
  const bool begun = agent.step_aside(contender, deadline);
  if (begun) agent.inside(contender, outer().held(core()));
  return begun;
}

}  // namespace forelock::client
