// A SetCourse runs one acquisition of a lock set: it carries out the decisions of the set's machine, and passes the
// events of each member's contenders to the machine.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "agent/agent.h"
#include "sets/set_machine.h"

namespace forelock::agent {

struct SetCourseOptions {
  Priority priority = Priority::foreground;
  bool may_linger = true;         // linger::Wish
  bool wants_contention = false;  // the caller is notified of each contender that waits behind a member
  bool wants_place = false;       // and of its place in the queue of the member that it waits for
  std::size_t queue_max = 0;      // lock::AcquireSpec, as the next one
  bool refuse_in_vain = false;
  bool keep_monitors = false;
  // After this time a waiting set reads which other processes' contenders wait behind its members: a listing for each.
  lock::Duration contention_delay = std::chrono::milliseconds(100);
};

// Lives until all of it is given back: the agent keeps it while it has a contender. Call every method in a step of the
// agent.
class SetCourse : public StepListener, public std::enable_shared_from_this<SetCourse> {
 public:
  // \param monitors by member, in the order that all sets share (sets/canonical_order.h). The agent outlives it.
  SetCourse(Agent& agent, std::shared_ptr<const std::vector<std::string>> monitors, SetCourseOptions options);

  // Its members wait inside of these from now on: Agent::inside().
  void inside(std::vector<lock::ContenderId> outer_ones) { outer_ones_ = std::move(outer_ones); }
  void begin(lock::TimePoint deadline, bool try_only);
  // The deadline passes, too, while the servers prove what is held.
  bool cancel();
  bool release();
  bool step_aside(lock::TimePoint deadline);
  // Makes a set that is being taken one of this class, and moves the member that it waits for. False: it is not.
  bool set_priority(Priority priority);

  Priority priority() const { return options_.priority; }
  const sets::SetMachine& machine() const { return machine_; }
  // The contenders of what it holds.
  void add_held(std::vector<lock::ContenderId>& found) const;
  const std::vector<std::string>& monitors() const { return *monitors_; }
  // endangered() follows when less than this is left before the session's deadline.
  void watch_danger(lock::Duration margin);

  // --- StepListener ---

  bool begin(lock::ContenderId contender) override;
  lock::Duration granted(lock::ContenderId contender, const lock::Grant& grant) override;
  std::optional<lock::Duration> taken(const linger::Lock& lock) override;
  void refused(lock::ContenderId contender, const lock::Refusal& refusal) override;
  void proved(lock::ContenderId contender) override;
  void lost(lock::ContenderId contender, LossReason reason) override;
  void released(lock::ContenderId contender, lock::ReleaseOutcome outcome) override;
  void release_unanswered(lock::ContenderId) override {}
  void moved(lock::ContenderId contender, Priority rank) override;
  void record_changed(lock::ContenderId contender, const std::string& record) override;
  void queued(lock::ContenderId contender, const QueuePosition& position) override;
  void contended(lock::ContenderId contender, Priority waiting) override;
  void in_danger(lock::ContenderId contender) override;
  void step_ends() override;
  void time_has_come(lock::TimePoint time) override;

 protected:
  struct Held {
    std::size_t member = 0;
    sets::AttemptId attempt = 0;
    lock::ContenderId contender = 0;
  };

  // --- for the caller's side ---

  // The GUID and the record of a member's contender are still missing.
  virtual void describe(const sets::Command& command, lock::AcquireSpec& spec) = 0;
  // Of a member's contender, when the set's class has changed; empty: as it was.
  virtual lock::RecordText record_of_class(Priority) { return {}; }
  // The machine may have come to another stage.
  virtual void advanced() = 0;
  virtual void member_granted(std::size_t /*member*/) {}
  // The attempt has a lock that had lingered, with the GUID of an earlier one.
  virtual void member_taken(sets::AttemptId, const linger::Lock&) {}
  // Another program has changed the record of a waiting member's contender. It may call set_priority().
  virtual void member_record_changed(const std::string& /*record*/) {}
  virtual void member_contended(std::size_t /*member*/, Priority /*waiting*/) {}
  virtual void member_queued(std::size_t /*member*/, const QueuePosition& /*position*/) {}
  virtual void attempt_ended(sets::AttemptId) {}
  virtual void endangered() {}
  virtual void time_came(lock::TimePoint) {}

  Agent& agent() const { return agent_; }
  // Those that have a member and have not ended.
  std::vector<Held> contenders() const;

 private:
  // Whether a contender can go before the set.
  bool may_be_outranked() const { return rank_ != all_priorities.front(); }
  void want_contention();
  void proceed();
  void knock();
  void carry_out(const sets::Command& command);
  void acquire(const sets::Command& command);
  // 0 for a contender of which no more news are due.
  sets::AttemptId attempt_of(lock::ContenderId contender) const;
  std::optional<std::size_t> member_of(lock::ContenderId contender) const;
  void ended(lock::ContenderId contender);
  void come_back();

  Agent& agent_;
  const std::shared_ptr<const std::vector<std::string>> monitors_;
  SetCourseOptions options_;
  sets::SetMachine machine_;
  // The rank of the members' queues: once one of them has moved, the others follow for the rest of the acquisition, and
  // no member is given back to contenders that rank behind the set.
  Priority rank_;
  lock::TimePoint deadline_ = lock::never;
  std::vector<lock::ContenderId> outer_ones_;
  std::vector<std::string> knocks_;               // that are about to be sent
  bool coming_back_ = false;                      // at the end of this step
  std::optional<std::size_t> waited_for_;         // the member, when it last proceeded
  lock::TimePoint called_at_ = lock::never;       // the deadline for which the agent calls
  lock::TimePoint contention_due_ = lock::never;  // when the waiting set asks who waits behind what it holds
  sets::AttemptId beginning_ = 0;                 // of the contender that the agent is about to name
  std::unordered_map<lock::ContenderId, sets::AttemptId> attempts_;  // that have not ended
  std::unordered_map<sets::AttemptId, lock::ContenderId> contenders_;
};

}  // namespace forelock::agent
