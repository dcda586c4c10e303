// Locks that stay with the process: what the client does with the linger machine, under virtual time.
#include <string>

#include "link.h"
#include "process.h"
#include "world.h"

namespace forelock::simulation {

// As the client sees it: with less than a third of the time-out left the connection must be silent.
bool Link::certain() const {
  return connected_ && now() < engine_->valid_until() - Span(world_.plan().session_timeout) / 3;
}

void Link::acquire(std::uint64_t id, const PlannedCall& call, Instant deadline, bool background_set) {
  lists_at_call_[id] = lists_;
  if (tracing()) {
    trace("acquire " + std::to_string(id) + " " + monitor_names[call.monitor] +
          (call.priority == Priority::foreground ? " foreground" : " background") + (call.try_once ? " once" : "") +
          (deadline == lock::never ? "" : " patience " + std::to_string(call.patience / microseconds(1)) + " us"));
  }
  lock::AcquireSpec spec;
  spec.monitor = std::string(1, monitor_names[call.monitor]);
  spec.priority = call.priority;
  spec.guid = guid_of(id);
  spec.record = [id](lock::RecordUse use, const std::string&) {
    return record_of(use == lock::RecordUse::holding ? 'h' : 'n', id);
  };
  spec.deadline = deadline;
  spec.try_once = call.try_once;
  spec.wants_position = call.wants_position;
  if (linger_->ask(id, {spec.monitor, call.priority}, spec.guid, now()) || call.wants_contention) {
    spec.contention = lock::ContentionScope::all;
  } else if (background_set) {
    spec.contention = lock::ContentionScope::this_process;
  }
  world_.checker().before_call(*this);
  engine_->acquire(id, std::move(spec), now());
}

std::uint64_t Link::take_lingering(const PlannedCall& call) {
  const std::string monitor(1, monitor_names[call.monitor]);
  const linger::Lock* const lock = linger_->take({monitor, call.priority}, certain(), now());
  if (lock == nullptr) {
    release_given_up();
    return 0;
  }
  const std::uint64_t id = lock->contender;
  if (tracing()) trace("takes " + std::to_string(id) + " again");
  world_.checker().taken_again(id, call.priority);
  return id;
}

bool Link::end_section(std::uint64_t id, bool& begun) {
  world_.checker().before_call(*this);
  begun = linger_->end_section(id, certain(), !engine_->others_known(id), now());
  if (begun) {
    if (tracing()) trace("keeps " + std::to_string(id));
    world_.checker().lingers(id);
    return true;
  }
  begun = engine_->release(id, now());
  if (tracing()) trace("release " + std::to_string(id) + (begun ? "" : ": not held any more"));
  world_.checker().release_called(id, begun);
  return false;
}

void Link::release_given_up() {
  for (const std::uint64_t id : linger_->take_given_up()) {
    const bool begun = engine_->release(id, now());
    if (tracing()) trace("gives up " + std::to_string(id) + (begun ? "" : ": not held any more"));
    world_.checker().given_up(id, begun);
  }
}

}  // namespace forelock::simulation
