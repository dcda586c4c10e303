#include "client/set_run.h"

#include <utility>

#include "client/clock.h"
#include "client/record_text.h"
#include "client/set_slot.h"
#include "records/wall_time.h"

namespace forelock::client {

namespace {

// A set that waits longer than this asks who of other processes waits behind what it holds: a listing for each member.
constexpr std::chrono::milliseconds contention_delay{100};

// What is held already is held for so long, in a large set, while the other members are still asked for.
constexpr std::chrono::seconds time_for_the_others{1};

// Of one length, so that none is part of another one.
std::string guid_of_attempt(const std::string& guid, sets::AttemptId attempt) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text = guid + "-00000000";
  for (std::size_t at = text.size(); attempt != 0 && at > guid.size() + 1; attempt >>= 4) {
    text[--at] = digits[attempt & 0xf];
  }
  return text;
}

std::shared_ptr<const records::ContenderRecord> encode(OwnerRecord record, const LockOptions& options) {
  record.guid = guid_of_attempt(record.guid, 0);
  return std::make_shared<records::ContenderRecord>(record, options.expected_runtime, options.auto_unlock_after);
}

}  // namespace

SetRun::SetRun(ClientCore& core, std::weak_ptr<SetSlot> owner, std::shared_ptr<const SetMembers> members,
               OwnerRecord record, const LockOptions& options, bool wants_contention)
    : core_(core),
      owner_(std::move(owner)),
      members_(std::move(members)),
      record_(std::move(record)),
      guid_(record_.guid),
      encoded_record_(encode(record_, options)),
      options_(options),
      wants_contention_(wants_contention),
      machine_(members_->monitors.size()),
      acquired_at_(members_->monitors.size()) {}

void SetRun::begin(lock::TimePoint deadline, bool try_only) {
  deadline_ = deadline;
  machine_.begin(try_only);
  proceed();
}

bool SetRun::cancel() {
  const bool begun = machine_.cancel();
  proceed();
  return begun;
}

bool SetRun::release() {
  const bool begun = machine_.release();
  proceed();
  return begun;
}

bool SetRun::step_aside(lock::TimePoint deadline) {
  deadline_ = deadline;
  const bool begun = machine_.step_aside();
  proceed();
  return begun;
}

std::vector<GuardedWrite::Hold> SetRun::holds() const {
  std::vector<GuardedWrite::Hold> holds;
  holds.reserve(contenders_.size());
  for (const auto& [attempt, contender] : contenders_) {
    const auto member = machine_.member_of(attempt);
    if (!member) continue;
    holds.push_back({members_->monitors[*member], members_->node_names[*member], contender, guid_of(attempt)});
  }
  return holds;
}

bool SetRun::alive(std::chrono::milliseconds expected) {
  const WallTime time = records::wall_time_now();
  bool all_held = true;
  // Not the map itself: the engine may find on the way that the session's time is over, and tell of each loss.
  const std::vector<std::pair<sets::AttemptId, lock::ContenderId>> contenders(contenders_.begin(), contenders_.end());
  for (const auto& [attempt, contender] : contenders) {
    const auto member = machine_.member_of(attempt);
    if (!member) continue;
    OwnerRecord record = record_;
    record.guid = guid_of(attempt);
    record.acquired_at = acquired_at_[*member];
    record.expected_runtime = expected;
    record.alert_at = records::later(time, expected);
    if (options_.auto_unlock_after) record.auto_unlock_at = records::later(time, *options_.auto_unlock_after);
    record.linger.reset();
    record.fencing_token = machine_.token(*member);
    all_held = core_.update_record_in_step(contender, record.to_json()) && all_held;
  }
  return all_held;
}

void SetRun::proceed() {
  for (auto commands = machine_.take_commands(); !commands.empty(); commands = machine_.take_commands()) {
    for (const sets::Command& command : commands) carry_out(command);
  }
  knock();
  // Where one wait follows another, what has come in between is held, too.
  if (const auto waits_for = machine_.waits_for(); waits_for != waited_for_) {
    waited_for_ = waits_for;
    contention_due_ = waits_for && may_be_outranked() ? now() + contention_delay : lock::never;
    if (contention_due_ != lock::never) core_.call_at(contention_due_, weak_from_this());
  }
  // No contender waits any more whose deadline the engine would keep.
  if (machine_.proving() && deadline_ != lock::never && deadline_ != called_at_) {
    called_at_ = deadline_;
    core_.call_at(deadline_, weak_from_this());
  }
  tell_owner();
}

void SetRun::tell_owner() {
  auto owner = owner_.lock();
  if (!owner) return;
  owner->advanced(shared_from_this());
  core_.let_go_after_step(std::move(owner));
}

// Many at once.
void SetRun::knock() {
  if (!knocks_.empty()) core_.knock_in_step(std::exchange(knocks_, {}));
}

void SetRun::carry_out(const sets::Command& command) {
  using Kind = sets::Command::Kind;
  if (command.kind == Kind::knock) return knocks_.push_back(members_->node_names[command.member]);
  knock();  // the order is that of the commands
  if (command.kind == Kind::try_once || command.kind == Kind::acquire) {
    beginning_ = command.attempt;
    core_.acquire_in_step(shared_from_this(), make_spec(command), core_.linger_of(options_).has_value());
    return;
  }
  const auto contender = contenders_.find(command.attempt);
  if (contender == contenders_.end()) return;  // it has just ended
  if (command.kind == Kind::give_up) {
    core_.give_up_in_step(contender->second, machine_.stage() == sets::SetStage::releasing);
  } else if (command.kind == Kind::prove) {
    core_.prove_in_step(contender->second);
  } else {
    core_.step_aside_in_step(contender->second, deadline_);
  }
}

lock::AcquireSpec SetRun::make_spec(const sets::Command& command) {
  lock::AcquireSpec spec;
  spec.monitor = members_->node_names[command.member];
  spec.priority = record_.priority;
  spec.guid = guid_of(command.attempt);
  spec.record = text_of(encoded_record_);
  spec.deadline = deadline_;
  spec.try_once = command.kind == sets::Command::Kind::try_once;
  spec.hold_watch_later = time_for_the_others;
  if (wants_contention_) {
    spec.contention = lock::ContentionScope::all;
  } else if (may_be_outranked()) {
    spec.contention = lock::ContentionScope::this_process;
  }
  return spec;
}

// --- from the core ---

bool SetRun::begin(lock::ContenderId contender) {
  const sets::AttemptId attempt = std::exchange(beginning_, 0);
  attempts_.emplace(contender, attempt);
  contenders_.emplace(attempt, contender);
  return true;
}

std::string SetRun::guid_of(sets::AttemptId attempt) const {
  const auto found = taken_guids_.find(attempt);
  return found == taken_guids_.end() ? guid_of_attempt(guid_, attempt) : found->second;
}

sets::AttemptId SetRun::attempt_of(lock::ContenderId contender) const {
  const auto found = attempts_.find(contender);
  return found == attempts_.end() ? 0 : found->second;
}

void SetRun::ended(lock::ContenderId contender) {
  const sets::AttemptId attempt = attempt_of(contender);
  contenders_.erase(attempt);
  taken_guids_.erase(attempt);
  attempts_.erase(contender);
  come_back();
}

// What follows from it needs the engine, which is busy telling of it.
void SetRun::come_back() {
  if (!std::exchange(coming_back_, true)) core_.at_end_of_step(shared_from_this());
}

void SetRun::step_ends() {
  coming_back_ = false;
  proceed();
}

lock::Duration SetRun::granted(lock::ContenderId contender, const lock::Grant& grant) {
  const auto member = machine_.member_of(attempt_of(contender));
  if (member) acquired_at_[*member] = records::wall_time_now();
  machine_.granted(attempt_of(contender), grant.token);
  come_back();
  return lock::Duration::zero();  // watch_danger() follows when the set is held
}

// All members end with the session: the first one stands for them.
void SetRun::watch_danger(lock::Duration margin) {
  for (const auto& [attempt, contender] : contenders_) {
    const auto member = machine_.member_of(attempt);
    if (member == 0) core_.watch_danger_in_step(contender, margin);
  }
}

std::optional<lock::Duration> SetRun::taken(const linger::Lock& lock) {
  begin(lock.contender);
  taken_guids_.emplace(attempt_of(lock.contender), lock.guid);
  return granted(lock.contender, {lock.token, {}});
}

void SetRun::refused(lock::ContenderId contender, const lock::Refusal& refusal) {
  machine_.refused(attempt_of(contender), refusal);
  ended(contender);
}

void SetRun::proved(lock::ContenderId contender) {
  machine_.proved(attempt_of(contender));
  come_back();
}

void SetRun::lost(lock::ContenderId contender, LossReason reason) {
  machine_.lost(attempt_of(contender), reason);
  // Before the deadline can move on in this step: a reader of the later one must see the loss.
  if (machine_.stage() == sets::SetStage::lost) tell_owner();
  ended(contender);
}

void SetRun::released(lock::ContenderId contender, lock::ReleaseOutcome outcome) {
  machine_.released(attempt_of(contender), outcome);
  ended(contender);
}

void SetRun::contended(lock::ContenderId contender, Priority waiting) {
  const auto member = machine_.member_of(attempt_of(contender));
  if (waiting < record_.priority) {
    machine_.outranked(attempt_of(contender));
    come_back();
  }
  if (!wants_contention_) return;
  auto owner = owner_.lock();
  if (owner && member) owner->contended(*this, *member, waiting);
  core_.let_go_after_step(std::move(owner));
}

void SetRun::in_danger(lock::ContenderId contender) {
  const auto member = machine_.member_of(attempt_of(contender));
  if (member != 0) return;
  auto owner = owner_.lock();
  if (owner) owner->in_danger(*this);
  core_.let_go_after_step(std::move(owner));
}

void SetRun::want_contention() {
  // Not the map itself: as in alive().
  const std::vector<std::pair<lock::ContenderId, sets::AttemptId>> attempts(attempts_.begin(), attempts_.end());
  for (const auto& [contender, attempt] : attempts) {
    const auto member = machine_.member_of(attempt);
    if (member && machine_.holds(*member)) core_.want_contention_in_step(contender);
  }
}

void SetRun::time_has_come(lock::TimePoint time) {
  if (machine_.waits_for() && time >= contention_due_) want_contention();
  if (machine_.proving() && time >= deadline_) {
    machine_.cancel(lock::RefusalReason::timed_out);
    proceed();
  }
  if (auto owner = owner_.lock()) {
    owner->time_has_come(shared_from_this(), time);
    core_.let_go_after_step(std::move(owner));
  }
}

void SetRun::wake_owner() {
  wake_due_ = true;
  core_.wake_after_step(shared_from_this());
}

// Comes for each member, too, of which a set of many would be woken again and again.
void SetRun::wake() {
  if (!wake_due_.exchange(false)) return;
  if (const auto owner = owner_.lock()) owner->wake(*this);
}

}  // namespace forelock::client
