// A ContenderListener is told by the core what becomes of its contenders.
#pragma once

#include <optional>

#include "forelock/priority.h"
#include "linger/linger_machine.h"
#include "lock/engine_types.h"

namespace forelock::client {

// All calls but wake() come under the core's mutex, inside a step of the engine: they must not call the core, except
// for what it offers to a step.
class ContenderListener {
 public:
  virtual ~ContenderListener() = default;

  // An acquisition begins. False if it has been cancelled already.
  virtual bool begin(lock::ContenderId contender) = 0;
  // \returns how long before the deadline it wants to be told of danger; 0: not at all.
  virtual lock::Duration granted(lock::ContenderId contender, const lock::Grant& grant) = 0;
  // An acquisition gets a lock that has lingered, without a contender of its own: begin() and granted() in one.
  // \returns the same; nothing if it has been cancelled already: then it has not got it.
  virtual std::optional<lock::Duration> taken(const linger::Lock& lock) = 0;
  // What ClientCore::prove_in_step() has asked for.
  virtual void proved(lock::ContenderId) {}
  virtual void refused(lock::ContenderId contender, const lock::Refusal& refusal) = 0;
  virtual void lost(lock::ContenderId contender, LossReason reason) = 0;
  virtual void released(lock::ContenderId contender, lock::ReleaseOutcome outcome) = 0;
  // A release with a callback has waited long enough for its answer. It goes on without this listener.
  virtual void release_unanswered(lock::ContenderId contender) = 0;
  virtual void queued(lock::ContenderId contender, const QueuePosition& position) = 0;
  virtual void contended(lock::ContenderId contender, Priority waiting) = 0;
  virtual void in_danger(lock::ContenderId contender) = 0;

  // Wakes a caller that waits, after one of the above; without the core's mutex.
  virtual void wake() = 0;
};

}  // namespace forelock::client
