// A SetRun runs one acquisition of a lock set object: it writes the members' records and notifies the object.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "agent/set_course.h"
#include "client/client_core.h"
#include "client/guarded_write.h"
#include "forelock/owner_record.h"
#include "forelock/write_lock.h"
#include "records/contender_record.h"

namespace forelock::client {

class SetSlot;

// The members of a set in canonical order.
struct SetMembers {
  std::vector<std::string> monitors;
  std::vector<std::string> node_names;
};

// Lives until nothing of it is left to be given back. Every method is for a step of the core, under its mutex.
class SetRun final : public agent::SetCourse {
 public:
  // `record` is that of each member, but for its guid, which is made of this one.
  SetRun(ClientCore& core, std::weak_ptr<SetSlot> owner, std::shared_ptr<const SetMembers> members, OwnerRecord record,
         const LockOptions& options, bool wants_contention, bool wants_place);

  // Of its members, but for the guid and the times of each.
  const OwnerRecord& record() const { return record_; }

  // At the end of this step those who wait for the set are woken.
  void wake_owner();
  // Of a held set.
  std::vector<GuardedWrite::Hold> holds() const;
  // Writes the members' records anew. False if one is not held any more.
  bool alive(std::chrono::milliseconds expected);

  void wake() override;

 private:
  // --- agent::SetCourse ---

  void describe(const sets::Command& command, lock::AcquireSpec& spec) override;
  lock::RecordText record_of_class(Priority priority) override;
  void advanced() override;
  void member_granted(std::size_t member) override;
  void member_taken(sets::AttemptId attempt, const linger::Lock& lock) override;
  void member_record_changed(const std::string& record) override;
  void member_contended(std::size_t member, Priority waiting) override;
  void member_queued(std::size_t member, const QueuePosition& position) override;
  void attempt_ended(sets::AttemptId attempt) override;
  void endangered() override;
  void time_came(lock::TimePoint time) override;

  // By which the servers' answers are recognised.
  std::string guid_of(sets::AttemptId attempt) const;
  std::shared_ptr<SetRun> shared();
  // Its owner, which lives until the step has ended; null if it is gone.
  std::shared_ptr<SetSlot> owner();

  ClientCore& core_;
  const std::weak_ptr<SetSlot> owner_;
  const std::shared_ptr<const SetMembers> members_;
  OwnerRecord record_;
  bool wished_ = false;  // an operator's wish is being obeyed
  const std::string guid_;
  std::shared_ptr<const records::ContenderRecord> encoded_record_;
  const LockOptions options_;
  std::vector<WallTime> acquired_at_;  // of each member's last grant
  std::atomic<bool> wake_due_{false};
  std::unordered_map<sets::AttemptId, std::string> taken_guids_;  // of locks that had lingered
};

}  // namespace forelock::client
