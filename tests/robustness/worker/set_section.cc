#include "robustness/worker/set_section.h"

#include "robustness/worker/patience.h"

namespace forelock::robustness {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using Wait = SectionPlan::Wait;

namespace {

// So long a set that cannot be had in time waits for the confirmation that its members have been given back.
constexpr milliseconds giving_back{1000};

}  // namespace

SetCalls::SetCalls(HistoryWriter& history, const LockSet& set) : history_(history) {
  for (const std::string& monitor : set.monitors()) calls_.emplace_back(history, monitor, set.priority());
}

void SetCalls::invoke(milliseconds deadline, std::string_view mode) {
  const std::lock_guard guard(mutex_);
  for (const RecordedCall& call : calls_) call.invoke(deadline, mode);
}

void SetCalls::granted(const LockSet& set, std::int64_t session) {
  const std::lock_guard guard(mutex_);
  const std::vector<MemberToken> tokens = set.fencing_tokens();
  for (std::size_t i = 0; i < calls_.size(); ++i) calls_[i].granted(tokens.at(i).token, "", session);
  granted_ = true;
  if (lost_) write_lost();
}

void SetCalls::refused(std::string_view code) {
  const std::lock_guard guard(mutex_);
  for (const RecordedCall& call : calls_) call.refused(code);
}

void SetCalls::lost(LossReason reason) {
  const std::lock_guard guard(mutex_);
  lost_ = name_of(reason);
  if (granted_) write_lost();
}

void SetCalls::write_lost() const {
  for (const RecordedCall& call : calls_) call.lost(*lost_);
}

void SetCalls::released(std::string_view code) {
  const std::lock_guard guard(mutex_);
  for (const RecordedCall& call : calls_) call.released(code);
}

void SetCalls::event(std::string_view name) {
  const std::lock_guard guard(mutex_);
  for (const RecordedCall& call : calls_) call.event(name);
}

std::vector<RecordedCall> SetCalls::begin_anew(Priority priority) {
  const std::lock_guard guard(mutex_);
  std::vector<RecordedCall> before = calls_;
  for (RecordedCall& call : calls_) call = call.next(priority);
  granted_ = false;
  lost_.reset();
  return before;
}

std::vector<RecordedCall> SetCalls::calls() const {
  const std::lock_guard guard(mutex_);
  return calls_;
}

SetSection::SetSection(GatedClient& client, const SectionPlan& plan, const std::vector<std::string>& monitors,
                       HistoryWriter& history, std::deque<ResourceVisitor>& visitors)
    : client_(client),
      plan_(plan),
      visitors_(visitors),
      set_(std::in_place, client, "robustness", monitors, plan.priority, LockOptions{.capture_stack = false}),
      calls_(std::make_shared<SetCalls>(history, *set_)) {
  set_->on_lost([calls = calls_](LossReason reason, const std::string&) { calls->lost(reason); });
  if (plan_.callbacks) set_->on_contended([](Priority, const std::string&) {});
}

bool SetSection::run() {
  calls_->invoke(deadline(), plan_.mode());
  std::string code;
  try {
    code = obtain();
  } catch (const Error& error) {
    code = name_of(error.code());
  }
  if (!code.empty()) {
    calls_->refused(code);
    return false;
  }
  calls_->granted(*set_, client_.session_id());
  visit();
  if (plan_.step_aside && set_->healthy()) {
    if (!step_aside()) return true;
    visit();
  }
  release();
  return true;
}

milliseconds SetSection::deadline() const {
  const bool own = plan_.wait == Wait::limited || plan_.wait == Wait::cancelled;
  return giving_back + (own ? plan_.limit : client_.settings().timeout(plan_.priority));
}

std::string SetSection::obtain() {
  switch (plan_.wait) {
    case Wait::configured:
      set_->lock_with_timeout();
      return {};
    case Wait::limited:
      return set_->try_lock_for(plan_.limit) ? "" : "lock_timeout";
    case Wait::none:
      return set_->try_lock() ? "" : "lock_unavailable";
    case Wait::cancelled:
      break;
  }
  return obtain_or_cancel();
}

std::string SetSection::obtain_or_cancel() {
  const std::jthread canceller([&](const std::stop_token& stop) {
    if (plan_.other_class_after) {
      pause(stop, *plan_.other_class_after);
      set_->set_priority(plan_.other_class());
    }
    pause(stop, plan_.cancel_after - plan_.other_class_after.value_or(milliseconds(0)));
    if (!stop.stop_requested()) set_->cancel();
  });
  return set_->try_lock_for(plan_.limit) ? "" : "cancelled";
}

void SetSection::unhealthy() {
  calls_->event("unhealthy");
  unhealthy_ = true;
}

void SetSection::visit() {
  if (!client_.gate.enter()) return;
  if (set_->healthy()) {
    stay();
  } else {
    unhealthy();
  }
  client_.gate.leave();
}

void SetSection::stay() {
  const std::vector<RecordedCall> calls = calls_->calls();
  const std::vector<MemberToken> tokens = set_->fencing_tokens();
  std::size_t entered = 0;
  while (entered < calls.size() && visitors_.at(entered).enter(calls[entered], tokens.at(entered).token)) ++entered;
  const auto until = steady_clock::now() + plan_.hold;
  const std::stop_token lost = set_->stop_token();
  while (entered == calls.size() && steady_clock::now() < until) {
    if (!set_->healthy()) {
      unhealthy();
      break;
    }
    pause(lost, milliseconds(1));
  }
  while (entered > 0) visitors_[--entered].leave();
}

bool SetSection::step_aside() {
  const milliseconds limit(2000);
  calls_->event("release");
  const std::vector<RecordedCall> before = calls_->begin_anew(set_->priority());
  calls_->invoke(limit + giving_back, "step_aside");
  std::string code;
  try {
    if (!set_->step_aside(limit)) code = name_of(ErrorCode::lock_timeout);
  } catch (const Error& error) {
    code = name_of(error.code());
  }
  for (const RecordedCall& call : before) call.released(code.empty() ? "unconfirmed" : code);
  if (!code.empty()) {
    calls_->refused(code);
    return false;
  }
  calls_->granted(*set_, client_.session_id());
  return true;
}

void SetSection::release() {
  calls_->event("release");
  // What became of a set that is not healthy any more, the history shall know.
  switch (unhealthy_ ? SectionPlan::Release::confirmed : plan_.release) {
    case SectionPlan::Release::confirmed: {
      std::string code;
      try {
        set_->unlock_or_throw();
      } catch (const Error& error) {
        code = name_of(error.code());
      }
      calls_->released(code);
      return;
    }
    case SectionPlan::Release::asynchronous:
      set_->unlock_async();
      break;
    case SectionPlan::Release::destructor:
      set_.reset();
      break;
  }
  calls_->released("unconfirmed");
}

}  // namespace forelock::robustness
