// Locks that stay with the process: what the client does with the linger machine, under virtual time.
#include <string>

#include "process.h"
#include "world.h"

namespace forelock::simulation {

Instant Process::connected_since() const {
  return connected_ && !down_ ? connected_at_ : lock::never;
}

// As the client sees it: with less than a third of the time-out left the connection must be silent.
bool Process::certain() const {
  return connected_ && now() < engine_->valid_until() - Span(world_.plan().session_timeout) / 3;
}

std::uint64_t Process::take_lingering(std::size_t index, const PlannedCall& call) {
  const std::string monitor(1, monitor_names[call.monitor]);
  const linger::Lock* const lock = linger_->take({monitor, call.priority}, certain(), now());
  if (lock == nullptr) {
    release_given_up();
    return 0;
  }
  const std::uint64_t id = lock->contender;
  if (tracing()) trace("takes " + std::to_string(id) + " again");
  world_.checker().taken_again(id, call.priority);
  thread_by_contender_[id] = index;
  reactions_.push_back({Happening::granted, id, index});
  return id;
}

// Whether the lock lingers now; otherwise its release has been asked for, and `begun` says whether it was held.
bool Process::end_section(std::uint64_t id, bool& begun) {
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

bool Process::end_section_of(std::size_t index, std::uint64_t id) {
  bool begun = false;
  if (end_section(id, begun)) reactions_.push_back({Happening::released, id, index});
  return begun;
}

void Process::release_given_up() {
  for (const std::uint64_t id : linger_->take_given_up()) {
    const bool begun = engine_->release(id, now());
    if (tracing()) trace("gives up " + std::to_string(id) + (begun ? "" : ": not held any more"));
    world_.checker().given_up(id, begun);
  }
}

}  // namespace forelock::simulation
