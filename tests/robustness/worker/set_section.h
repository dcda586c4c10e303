// A SetSection is one critical section under a lock set: take it, visit the resource of each member, give it back.
#pragma once

#include "forelock/lock_set.h"
#include "robustness/history/recorded_call.h"
#include "robustness/history/resource_visitor.h"
#include "robustness/worker/client_source.h"
#include "robustness/worker/section_plan.h"

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

class SetSection {
 public:
  // A visitor for each member. All of them must outlive it.
  SetSection(GatedClient& client, const SectionPlan& plan, const std::vector<std::string>& monitors,
             HistoryWriter& history, std::deque<ResourceVisitor>& visitors);
  SetSection(const SetSection&) = delete;
  SetSection& operator=(const SetSection&) = delete;

  // Whether the set was obtained.
  bool run();

 private:
  std::string obtain();
  std::string obtain_or_cancel();
  std::chrono::milliseconds deadline() const;
  void visit();
  void stay();
  void unhealthy();
  bool step_aside();
  void release();

  GatedClient& client_;
  const SectionPlan& plan_;
  std::deque<ResourceVisitor>& visitors_;
  std::optional<LockSet> set_;
  std::shared_ptr<SetCalls> calls_;
  bool unhealthy_ = false;
};

}  // namespace forelock::robustness
