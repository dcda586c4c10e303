// An AgentHost is the environment of an agent: the client with its threads, or the simulator with virtual time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "agent/contender_listener.h"
#include "coordination/reply.h"
#include "coordination/request.h"
#include "lock/engine_types.h"

namespace forelock::agent {

// All calls come inside a step of the agent, and none may call it.
class AgentHost {
 public:
  // Must not go backwards.
  virtual lock::TimePoint now() const = 0;
  // A number that no contender has had before.
  virtual lock::ContenderId new_contender() = 0;
  // Requests ContenderListener::wake() after the step.
  virtual void wake_after_step(std::shared_ptr<ContenderListener> listener) = 0;
  // It may be the last reference: what its callbacks own may call the agent's owner when it dies.
  virtual void let_go_after_step(std::shared_ptr<const void> object) = 0;

  // --- events for counters, logs and checkers: before the contender's listener gets them ---

  virtual void begins(lock::ContenderId, const lock::AcquireSpec&) {}
  virtual void granted(lock::ContenderId, const lock::Grant&) {}
  // A caller of this class gets a lock that has lingered.
  virtual void taken_again(lock::ContenderId, Priority) {}
  // Its caller has finished, and it stays with the process.
  virtual void lingers(lock::ContenderId) {}
  // A lock that has lingered is released; `begun`: it was held.
  virtual void given_up(lock::ContenderId, bool /*begun*/) {}
  virtual void refused(lock::ContenderId, const lock::Refusal&) {}
  virtual void proved(lock::ContenderId) {}
  // `in_use`: a caller held it.
  virtual void lost(lock::ContenderId, LossReason, bool /*in_use*/) {}
  virtual void released(lock::ContenderId, lock::ReleaseOutcome) {}
  virtual void queued(lock::ContenderId, const QueuePosition&) {}
  virtual void moved(lock::ContenderId, Priority /*rank*/) {}
  virtual void record_changed(lock::ContenderId, const std::string& /*record*/) {}
  virtual void contended(lock::ContenderId, Priority) {}
  virtual void forgotten(lock::ContenderId) {}
  virtual void counter_high(const std::string& /*monitor*/, std::int64_t /*number*/) {}
  virtual void removal_denied() {}
  virtual void explained(lock::ContenderId, const lock::CourseNote&) {}

  // --- callers' requests, after they were done; `begun`: there was something to do ---

  virtual void release_called(lock::ContenderId, bool /*begun*/) {}
  virtual void cancel_called(lock::ContenderId, bool /*begun*/) {}
  virtual void inside_called(lock::ContenderId /*inner*/, const std::vector<lock::ContenderId>& /*outer*/) {}
  virtual void set_priority_called(lock::ContenderId, Priority, bool /*begun*/) {}
  virtual void step_aside_called(lock::ContenderId, bool /*begun*/, lock::TimePoint /*deadline*/) {}

  // --- the engine's requests, before they are grouped ---

  virtual void sent(coordination::RequestTag, const coordination::Request&) {}
  virtual void withdrawn(coordination::RequestTag) {}
  virtual void answered(coordination::RequestTag, const coordination::Reply&) {}

 protected:
  ~AgentHost() = default;
};

}  // namespace forelock::agent
