// A ContenderListener receives the events of its contenders from the agent.
#pragma once

#include <optional>
#include <string>

#include "forelock/priority.h"
#include "linger/linger_machine.h"
#include "lock/engine_types.h"

namespace forelock::agent {

// All calls but wake() come inside a step of the agent: they must not call the agent, except for its methods for
// listeners.
class ContenderListener {
 public:
  virtual ~ContenderListener() = default;

  // An acquisition begins. False if it has been cancelled already.
  virtual bool begin(lock::ContenderId contender) = 0;
  // \returns the time before the deadline at which it wants to be warned of danger; 0: never.
  virtual lock::Duration granted(lock::ContenderId contender, const lock::Grant& grant) = 0;
  // An acquisition gets a lock that has lingered, without a contender of its own: begin() and granted() in one.
  // \returns the same; nothing if it has been cancelled already: then it has not got it.
  virtual std::optional<lock::Duration> taken(const linger::Lock& lock) = 0;
  // The answer to Agent::prove().
  virtual void proved(lock::ContenderId) {}
  virtual void refused(lock::ContenderId contender, const lock::Refusal& refusal) = 0;
  virtual void lost(lock::ContenderId contender, LossReason reason) = 0;
  virtual void released(lock::ContenderId contender, lock::ReleaseOutcome outcome) = 0;
  // A release with a time for its answer has waited long enough. It goes on without this listener.
  virtual void release_unanswered(lock::ContenderId contender) = 0;
  // It stands at the end of this class's queue now (lock::EngineOutput::moved()).
  virtual void moved(lock::ContenderId, Priority /*rank*/) {}
  // Another program has changed the record of its waiting node (lock::EngineOutput::record_changed()). Comes at the end
  // of the step, and may call the agent: it may have got the lock, or ended, in between.
  virtual void record_changed(lock::ContenderId, const std::string& /*record*/) {}
  virtual void queued(lock::ContenderId contender, const QueuePosition& position) = 0;
  virtual void contended(lock::ContenderId contender, Priority waiting) = 0;
  virtual void in_danger(lock::ContenderId contender) = 0;

  // Wakes a caller that waits, after one of the above; outside the step.
  virtual void wake() = 0;
};

// A listener that can also be called at the end of a step, and at given times.
class StepListener : public ContenderListener {
 public:
  virtual void step_ends() = 0;
  virtual void time_has_come(lock::TimePoint time) = 0;
};

}  // namespace forelock::agent
