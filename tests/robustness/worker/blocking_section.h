// One critical section under a BlockingWriteLock.
#pragma once

#include "forelock/blocking_write_lock.h"
#include "robustness/history/recorded_call.h"
#include "robustness/history/resource_visitor.h"
#include "robustness/worker/current_call.h"
#include "robustness/worker/section.h"

namespace forelock::robustness {

class BlockingSection final : public Section<BlockingWriteLock, RecordedCall> {
 public:
  BlockingSection(GatedClient& client, const SectionPlan& plan, HistoryWriter& history, ResourceVisitor& visitor);

 private:
  void set_callbacks();
  RecordedCall& calls() override { return call_; }
  void granted() override { told_->granted(*lock_, client_.session_id()); }
  void stay() override;
  bool step_aside() override;

  HistoryWriter& history_;
  ResourceVisitor& visitor_;
  RecordedCall call_;
  std::shared_ptr<CurrentCall> told_;  // which call the callbacks belong to
};

}  // namespace forelock::robustness
