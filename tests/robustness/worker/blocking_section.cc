#include "robustness/worker/blocking_section.h"

namespace forelock::robustness {

using std::chrono::milliseconds;

BlockingSection::BlockingSection(GatedClient& client, const SectionPlan& plan, HistoryWriter& history,
                                 ResourceVisitor& visitor)
    : Section(client, plan, plan.monitor, milliseconds(0)),
      history_(history),
      visitor_(visitor),
      call_(history, plan.monitor, plan.priority),
      told_(std::make_shared<CurrentCall>(call_)) {
  set_callbacks();
}

void BlockingSection::set_callbacks() {
  lock_->on_lost([told = told_](LossReason reason) { told->lost(reason); });
  if (!plan_.callbacks) return;
  lock_->on_queued([told = told_](const QueuePosition&) { told->note("queued"); });
  lock_->on_contended([told = told_](Priority) { told->note("contended"); });
}

void BlockingSection::stay() {
  if (!visitor_.enter(call_, lock_->fencing_token())) return;
  hold();
  visitor_.leave();
}

bool BlockingSection::step_aside() {
  const milliseconds limit(2000);
  RecordedCall next(history_, plan_.monitor, plan_.priority);
  call_.event("release");
  next.invoke(limit, "step_aside");
  told_->begin(next);
  std::string code;
  try {
    const bool again = lock_->step_aside(limit);
    call_.released("");
    if (!again) code = name_of(ErrorCode::lock_timeout);
  } catch (const Error& error) {
    code = name_of(error.code());
    call_.released(code);
  }
  call_ = next;
  if (!code.empty()) {
    call_.refused(code);
    return false;
  }
  granted();
  return true;
}

}  // namespace forelock::robustness
