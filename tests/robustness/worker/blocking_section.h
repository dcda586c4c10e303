// One critical section of a thread: take the lock, visit the resource, give the lock back. Everything is written down.
#pragma once

#include "forelock/blocking_write_lock.h"
#include "forelock/client.h"
#include "robustness/history/recorded_call.h"
#include "robustness/history/resource_visitor.h"
#include "robustness/worker/client_source.h"
#include "robustness/worker/current_call.h"
#include "robustness/worker/section_plan.h"

namespace forelock::robustness {

class BlockingSection {
 public:
  BlockingSection(GatedClient& client, const SectionPlan& plan, HistoryWriter& history, ResourceVisitor& visitor);
  BlockingSection(const BlockingSection&) = delete;
  BlockingSection& operator=(const BlockingSection&) = delete;

  // Whether the lock was obtained.
  bool run();

 private:
  void set_callbacks();
  std::string obtain();
  std::string obtain_or_cancel();
  std::chrono::milliseconds deadline() const;
  void visit();
  void stay();
  void go_on();
  void unhealthy();
  bool step_aside();
  void release();

  GatedClient& client_;
  const SectionPlan& plan_;
  HistoryWriter& history_;
  ResourceVisitor& visitor_;
  std::optional<BlockingWriteLock> lock_;
  bool unhealthy_ = false;
  RecordedCall call_;
  std::shared_ptr<CurrentCall> told_;  // which call the callbacks belong to
};

}  // namespace forelock::robustness
