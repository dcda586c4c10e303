// One critical section under a LockSet, in which the resource of each member is visited.
#pragma once

#include "forelock/lock_set.h"
#include "robustness/history/recorded_call.h"
#include "robustness/history/resource_visitor.h"
#include "robustness/worker/section.h"

namespace forelock::robustness {

// The calls of a set, one for each member: what is told of one is told of all. Thread-safe: a loss comes on another
// thread, and follows its grant in the history, whichever thread is faster.
class SetCalls {
 public:
  SetCalls(HistoryWriter& history, const LockSet& set);

  void invoke(std::chrono::milliseconds deadline, std::string_view mode);
  // Members do not tell their guids: their tokens and the session must do.
  void granted(const LockSet& set, std::int64_t session);
  void refused(std::string_view code);
  void lost(LossReason reason);
  void released(std::string_view code);
  void event(std::string_view name);
  // New ones of this class for the same members. \returns the ones before, in the members' order, as calls() does.
  std::vector<RecordedCall> begin_anew(Priority priority);
  std::vector<RecordedCall> calls() const;

 private:
  void write_lost() const;

  HistoryWriter& history_;
  mutable std::mutex mutex_;
  std::vector<RecordedCall> calls_;
  bool granted_ = false;
  std::optional<std::string> lost_;
};

class SetSection final : public Section<LockSet, SetCalls> {
 public:
  // A visitor for each member. All of them must outlive it.
  SetSection(GatedClient& client, const SectionPlan& plan, const std::vector<std::string>& monitors,
             HistoryWriter& history, std::deque<ResourceVisitor>& visitors);

 private:
  SetCalls& calls() override { return *told_; }
  void granted() override { told_->granted(*lock_, client_.session_id()); }
  void stay() override;
  bool step_aside() override;

  std::deque<ResourceVisitor>& visitors_;
  std::shared_ptr<SetCalls> told_;
};

}  // namespace forelock::robustness
