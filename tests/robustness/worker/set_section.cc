#include "robustness/worker/set_section.h"

namespace forelock::robustness {

using std::chrono::milliseconds;

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
    : Section(client, plan, monitors, giving_back),
      visitors_(visitors),
      told_(std::make_shared<SetCalls>(history, *lock_)) {
  lock_->on_lost([calls = told_](LossReason reason, const std::string&) { calls->lost(reason); });
  if (plan_.callbacks) lock_->on_contended([](Priority, const std::string&) {});
}

void SetSection::stay() {
  const std::vector<RecordedCall> calls = told_->calls();
  const std::vector<MemberToken> tokens = lock_->fencing_tokens();
  std::size_t entered = 0;
  while (entered < calls.size() && visitors_.at(entered).enter(calls[entered], tokens.at(entered).token)) ++entered;
  if (entered == calls.size()) hold();
  while (entered > 0) visitors_[--entered].leave();
}

bool SetSection::step_aside() {
  const milliseconds limit(2000);
  told_->event("release");
  const std::vector<RecordedCall> before = told_->begin_anew(lock_->priority());
  told_->invoke(limit + giving_back, "step_aside");
  const std::string code = code_thrown_by([&] { return lock_->step_aside(limit) ? "" : "lock_timeout"; });
  for (const RecordedCall& call : before) call.released(code.empty() ? "unconfirmed" : code);
  if (!code.empty()) {
    told_->refused(code);
    return false;
  }
  granted();
  return true;
}

}  // namespace forelock::robustness
