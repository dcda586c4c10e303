// A SetRun is one acquisition of a lock set, from its first request until nothing of it is left.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "client/client_core.h"
#include "client/guarded_write.h"
#include "forelock/owner_record.h"
#include "forelock/write_lock.h"
#include "records/contender_record.h"
#include "sets/set_machine.h"

namespace forelock::client {

class SetSlot;

// The members of a set in canonical order.
struct SetMembers {
  std::vector<std::string> monitors;
  std::vector<std::string> node_names;
};

// Drives a SetMachine with contenders of the engine. It outlives its set object where something of it is left to be
// given back. Every method is for a step of the core, under its mutex.
class SetRun final : public ClientCore::StepListener, public std::enable_shared_from_this<SetRun> {
 public:
  // `record` is that of each member, but for its guid, which is made of this one.
  SetRun(ClientCore& core, std::weak_ptr<SetSlot> owner, std::shared_ptr<const SetMembers> members,
         OwnerRecord record, const LockOptions& options, bool wants_contention);

  void begin(lock::TimePoint deadline, bool try_only);
  bool cancel();
  bool release();
  bool step_aside(lock::TimePoint deadline);

  const sets::SetMachine& machine() const { return machine_; }
  // At the end of this step those who wait for the set are woken.
  void wake_owner();
  // Of a held set.
  std::vector<GuardedWrite::Hold> holds() const;
  // Of a held set: SetSlot::in_danger() follows when less than this is left before the session's deadline.
  void watch_danger(lock::Duration margin);
  // Writes the members' records anew. False if one is not held any more.
  bool alive(std::chrono::milliseconds expected);

  // --- ClientCore::StepListener ---

  bool begin(lock::ContenderId contender) override;
  lock::Duration granted(lock::ContenderId contender, const lock::Grant& grant) override;
  std::optional<lock::Duration> taken(const linger::Lock& lock) override;
  void refused(lock::ContenderId contender, const lock::Refusal& refusal) override;
  void proved(lock::ContenderId contender) override;
  void lost(lock::ContenderId contender, LossReason reason) override;
  void released(lock::ContenderId contender, lock::ReleaseOutcome outcome) override;
  void release_unanswered(lock::ContenderId) override {}
  void queued(lock::ContenderId, const QueuePosition&) override {}
  void contended(lock::ContenderId contender, Priority waiting) override;
  void in_danger(lock::ContenderId contender) override;
  void wake() override;
  void step_ends() override;
  void time_has_come(lock::TimePoint time) override;

 private:
  // Whether a contender can go before the set.
  bool may_be_outranked() const { return record_.priority != all_priorities.front(); }
  void want_contention();
  void proceed();
  void tell_owner();
  void knock();
  void carry_out(const sets::Command& command);
  lock::AcquireSpec make_spec(const sets::Command& command);
  // By which the servers' answers are recognised.
  std::string guid_of(sets::AttemptId attempt) const;
  // 0 for a contender of which no more news are due.
  sets::AttemptId attempt_of(lock::ContenderId contender) const;
  void ended(lock::ContenderId contender);
  void come_back();

  ClientCore& core_;
  const std::weak_ptr<SetSlot> owner_;
  const std::shared_ptr<const SetMembers> members_;
  const OwnerRecord record_;
  const std::string guid_;
  const std::shared_ptr<const records::ContenderRecord> encoded_record_;
  const LockOptions options_;
  const bool wants_contention_;
  sets::SetMachine machine_;
  std::vector<WallTime> acquired_at_;  // of each member's last grant
  lock::TimePoint deadline_ = lock::never;
  std::atomic<bool> wake_due_{false};
  std::vector<std::string> knocks_;               // that are about to be sent
  bool coming_back_ = false;                      // at the end of this step
  std::optional<std::size_t> waited_for_;         // the member, when it last proceeded
  lock::TimePoint called_at_ = lock::never;       // the deadline for which the core calls
  lock::TimePoint contention_due_ = lock::never;  // when the waiting set asks who waits behind what it holds
  sets::AttemptId beginning_ = 0;                 // of the contender that the core is about to name
  std::unordered_map<lock::ContenderId, sets::AttemptId> attempts_;  // that have not ended
  std::unordered_map<sets::AttemptId, lock::ContenderId> contenders_;
  std::unordered_map<sets::AttemptId, std::string> taken_guids_;  // of locks that had lingered
};

}  // namespace forelock::client
