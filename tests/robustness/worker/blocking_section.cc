#include "robustness/worker/blocking_section.h"

#include "robustness/worker/patience.h"

namespace forelock::robustness {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using Wait = SectionPlan::Wait;

BlockingSection::BlockingSection(GatedClient& client, const SectionPlan& plan, HistoryWriter& history,
                                 ResourceVisitor& visitor)
    : client_(client),
      plan_(plan),
      history_(history),
      visitor_(visitor),
      lock_(std::in_place, client, "robustness", plan.monitor, plan.priority,
            LockOptions{.auto_unlock_after = plan.auto_unlock_after, .capture_stack = false}),
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

bool BlockingSection::run() {
  call_.invoke(deadline(), plan_.mode());
  std::string code;
  try {
    code = obtain();
  } catch (const Error& error) {
    code = name_of(error.code());
  }
  if (!code.empty()) {
    call_.refused(code);
    return false;
  }
  told_->granted(*lock_, client_.session_id());
  visit();
  if (plan_.step_aside && lock_->healthy()) {
    if (!step_aside()) return true;
    visit();
  }
  release();
  return true;
}

milliseconds BlockingSection::deadline() const {
  const bool own = plan_.wait == Wait::limited || plan_.wait == Wait::cancelled;
  return own ? plan_.limit : client_.settings().timeout(plan_.priority);
}

std::string BlockingSection::obtain() {
  switch (plan_.wait) {
    case Wait::configured:
      lock_->lock_with_timeout();
      return {};
    case Wait::limited:
      return lock_->try_lock_for(plan_.limit) ? "" : "lock_timeout";
    case Wait::none:
      return lock_->try_lock() ? "" : "lock_unavailable";
    case Wait::cancelled:
      break;
  }
  return obtain_or_cancel();
}

std::string BlockingSection::obtain_or_cancel() {
  bool withdrawn = false;
  bool obtained = false;
  {
    const std::jthread canceller([&](const std::stop_token& stop) {
      if (plan_.other_class_after) {
        pause(stop, *plan_.other_class_after);
        lock_->set_priority(plan_.other_class());
      }
      pause(stop, plan_.cancel_after - plan_.other_class_after.value_or(milliseconds(0)));
      if (!stop.stop_requested()) withdrawn = lock_->cancel();
    });
    obtained = lock_->try_lock_for(plan_.limit);
  }
  if (obtained) return {};
  return withdrawn ? "cancelled" : "lock_timeout";
}

void BlockingSection::unhealthy() {
  call_.event("unhealthy");
  unhealthy_ = true;
}

void BlockingSection::visit() {
  if (!client_.gate.enter()) return;
  const bool healthy = lock_->healthy();
  if (!healthy) unhealthy();
  if (healthy && visitor_.enter(call_, lock_->fencing_token())) stay();
  client_.gate.leave();
}

void BlockingSection::stay() {
  const auto until = steady_clock::now() + plan_.hold;
  constexpr steady_clock::time_point never = steady_clock::time_point::max();
  steady_clock::time_point alive_at = plan_.alive_after ? steady_clock::now() + *plan_.alive_after : never;
  const std::stop_token lost = lock_->stop_token();
  while (steady_clock::now() < until) {
    if (!lock_->healthy()) {
      unhealthy();
      break;
    }
    if (steady_clock::now() >= alive_at) {
      alive_at = never;
      go_on();
    }
    pause(lost, milliseconds(1));
  }
  visitor_.leave();
}

void BlockingSection::go_on() {
  try {
    lock_->alive(plan_.hold);
  } catch (const Error&) {
    return;  // the next look finds it so
  }
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
  told_->granted(*lock_, client_.session_id());
  return true;
}

void BlockingSection::release() {
  call_.event("release");
  // What became of a lock that is not healthy any more, the history shall know.
  switch (unhealthy_ ? SectionPlan::Release::confirmed : plan_.release) {
    case SectionPlan::Release::confirmed: {
      std::string code;
      try {
        lock_->unlock_or_throw();
      } catch (const Error& error) {
        code = name_of(error.code());
      }
      call_.released(code);
      return;
    }
    case SectionPlan::Release::asynchronous:
      lock_->unlock_async();
      break;
    case SectionPlan::Release::destructor:
      lock_.reset();
      break;
  }
  call_.released("unconfirmed");
}

}  // namespace forelock::robustness
