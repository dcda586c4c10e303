#include "client/set_run.h"

#include <utility>

#include "client/record_text.h"
#include "client/set_slot.h"
#include "records/wall_time.h"

namespace forelock::client {

namespace {

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
               OwnerRecord record, const LockOptions& options, bool wants_contention, bool wants_place)
    : SetCourse(core.ensemble().agent(), {members, &members->node_names},
                {.priority = record.priority,
                 .may_linger = core.linger_of(options).has_value(),
                 .wants_contention = wants_contention,
                 .wants_place = wants_place,
                 .queue_max = options.queue_max.value_or(core.settings().queue_max()),
                 .refuse_in_vain = options.admission.value_or(core.settings().admission()) == Admission::refuse,
                 .keep_monitors = options.keep_monitor}),
      core_(core),
      owner_(std::move(owner)),
      members_(std::move(members)),
      record_(std::move(record)),
      guid_(record_.guid),
      encoded_record_(encode(record_, options)),
      options_(options),
      acquired_at_(members_->monitors.size()) {}

std::vector<GuardedWrite::Hold> SetRun::holds() const {
  std::vector<GuardedWrite::Hold> holds;
  for (const Held& held : contenders()) {
    holds.push_back(
        {members_->monitors[held.member], members_->node_names[held.member], held.contender, guid_of(held.attempt)});
  }
  return holds;
}

bool SetRun::alive(std::chrono::milliseconds expected) {
  const WallTime time = records::wall_time_now();
  bool all_held = true;
  for (const Held& held : contenders()) {
    OwnerRecord record = record_;
    record.guid = guid_of(held.attempt);
    record.acquired_at = acquired_at_[held.member];
    record.expected_runtime = expected;
    record.alert_at = records::later(time, expected);
    if (options_.auto_unlock_after) record.auto_unlock_at = records::later(time, *options_.auto_unlock_after);
    record.linger.reset();
    record.fencing_token = machine().token(held.member);
    all_held = agent().update_record(held.contender, record.to_json()) && all_held;
  }
  return all_held;
}

void SetRun::wake_owner() {
  wake_due_ = true;
  core_.wake_after_step(shared());
}

// Comes for each member, too, of which a set of many would be woken again and again.
void SetRun::wake() {
  if (!wake_due_.exchange(false)) return;
  if (const auto owner = owner_.lock()) owner->wake();
}

std::shared_ptr<SetRun> SetRun::shared() {
  return std::static_pointer_cast<SetRun>(shared_from_this());
}

std::shared_ptr<SetSlot> SetRun::owner() {
  auto owner = owner_.lock();
  if (owner) core_.let_go_after_step(owner);
  return owner;
}

// --- agent::SetCourse ---

void SetRun::describe(const sets::Command& command, lock::AcquireSpec& spec) {
  spec.guid = guid_of(command.attempt);
  spec.record = text_of(encoded_record_);
}

lock::RecordText SetRun::record_of_class(Priority priority) {
  record_.priority = priority;
  record_.by_wish = wished_;
  record_.max_wait = core_.max_wait_of(priority);
  encoded_record_ = encode(record_, options_);
  return text_of(encoded_record_);
}

void SetRun::advanced() {
  if (const auto slot = owner()) slot->advanced(shared());
}

std::string SetRun::guid_of(sets::AttemptId attempt) const {
  const auto found = taken_guids_.find(attempt);
  return found == taken_guids_.end() ? guid_of_attempt(guid_, attempt) : found->second;
}

void SetRun::member_granted(std::size_t member) {
  acquired_at_[member] = records::wall_time_now();
}

void SetRun::member_taken(sets::AttemptId attempt, const linger::Lock& lock) {
  taken_guids_.emplace(attempt, lock.guid);
}

void SetRun::member_record_changed(const std::string& record) {
  const std::optional<OwnerRecord> changed = OwnerRecord::from_json(record);
  const auto slot = owner();
  if (!slot || !changed || !changed->wish || *changed->wish == priority()) return;
  wished_ = true;
  if (set_priority(*changed->wish)) slot->wished(*this, *changed->wish);
  wished_ = false;
}

void SetRun::member_contended(std::size_t member, Priority waiting) {
  if (const auto slot = owner()) slot->contended(*this, member, waiting);
}

void SetRun::member_queued(std::size_t member, const QueuePosition& position) {
  if (const auto slot = owner()) slot->queued(*this, member, position);
}

void SetRun::attempt_ended(sets::AttemptId attempt) {
  taken_guids_.erase(attempt);
}

void SetRun::endangered() {
  if (const auto slot = owner()) slot->in_danger(*this);
}

void SetRun::time_came(lock::TimePoint time) {
  if (const auto slot = owner()) slot->time_has_come(shared(), time);
}

}  // namespace forelock::client
