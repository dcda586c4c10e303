// How a set slot contends: from the record that its members write to the end of the wait.
#include <algorithm>
#include <utility>

#include "client/set_slot.h"
#include "records/guid.h"
#include "records/stack.h"

namespace forelock::client {

namespace {

// What of a set's members a record names: enough for people, and a small part of a request that carries hundreds.
constexpr std::size_t named_members = 4;
constexpr std::size_t named_bytes = 128;

}  // namespace

OwnerRecord SetSlot::new_set_record() const {
  OwnerRecord record = new_record();
  record.set_size = monitors().size();
  std::size_t bytes = 0;
  for (const std::string& monitor : monitors()) {
    bytes += monitor.size();
    if (record.set_members.size() == named_members || bytes > named_bytes) break;
    record.set_members.push_back(monitor);
  }
  return record;
}

Hold::Acquisition SetSlot::acquire(lock::TimePoint deadline, bool try_only, Done done) {
  core().check_usable();
  const std::optional<TraceContext> caller = trace_parent();
  OwnerRecord record = new_set_record();
  record.set = record.guid = records::make_guid();
  {
    const std::lock_guard guard(mutex());
    record.stack = take_stack();
  }
  if (record.stack.empty() && options().capture_stack) record.stack = records::symbolise(records::capture_stack(1));
  Acquisition acquisition = 0;
  core().in_step([&](agent::Agent&) {
    record.priority = priority();  // it may have been changed on the way here
    record.max_wait = core().max_wait_of(record.priority);
    // What is left of a lost one goes; the requests keep their order.
    std::shared_ptr<SetRun> run;
    {
      const std::lock_guard guard(mutex());
      if (phase() == Phase::lost) run = std::exchange(run_, nullptr);
    }
    if (run) run->release();
    {
      const std::lock_guard guard(mutex());
      run = std::make_shared<SetRun>(core(), shared(), members_, std::move(record), options(), wants_contention(),
                                     wants_place());
      acquisition = begin_acquisition(deadline, caller, done);
      run_ = run;
      patience_begun_ = false;
    }
    try {
      run->inside(outer().held(core()));
      run->begin(deadline, try_only);
    } catch (...) {
      {
        const std::lock_guard guard(mutex());
        done = take_back_acquisition();
        run_.reset();
      }
      run->cancel();  // gives back what it has taken
      throw;
    }
  });
  return acquisition;
}

client::Acquisition SetSlot::acquisition_of(std::size_t member) const {
  return {.monitor = monitors()[member], .node_name = members_->node_names[member]};
}

bool SetSlot::cancel_waiting(agent::Agent&) {
  const auto run = run_;
  return run && phase() == Phase::waiting && run->cancel();
}

bool SetSlot::move_waiting(agent::Agent&, Priority priority) {
  const auto run = run_;
  return !run || run->set_priority(priority);
}

void SetSlot::add_held(std::vector<lock::ContenderId>& found) const {
  const auto run = run_;
  if (!run || !holds()) return;
  std::vector<lock::ContenderId> held;
  run->add_held(held);
  if (held.empty() || std::find(found.begin(), found.end(), held.front()) != found.end()) return;
  found.insert(found.end(), held.begin(), held.end());
  outer().add_held(core(), found);
}

void SetSlot::wished(const SetRun& run, Priority priority) {
  if (is_current(run)) set_current_priority(priority);
}

bool SetSlot::step_aside_held(agent::Agent&, lock::TimePoint deadline) {
  {
    const std::lock_guard guard(mutex());
    if (!holds()) return false;
    told_step_aside(deadline);
    patience_begun_ = false;
  }
  return run_->step_aside(deadline);
}

}  // namespace forelock::client
