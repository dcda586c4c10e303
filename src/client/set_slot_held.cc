// What is known of a lock set, and what may be done under it while it is held.
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "client/guarded_write.h"
#include "client/set_slot.h"

namespace forelock::client {

std::vector<MemberToken> SetSlot::tokens() const {
  const std::lock_guard guard(mutex());
  std::vector<MemberToken> tokens;
  tokens.reserve(tokens_.size());
  for (std::size_t i = 0; i < tokens_.size(); ++i) tokens.push_back({monitors()[i], tokens_[i]});
  return tokens;
}

std::int64_t SetSlot::member_token(std::size_t member) const {
  const std::lock_guard guard(mutex());
  return tokens_[member];
}

std::optional<std::string> SetSlot::waits_for() const {
  const std::lock_guard guard(mutex());
  if (phase() != Phase::waiting || !waits_for_) return std::nullopt;
  return monitors()[*waits_for_];
}

OwnerRecord SetSlot::owner() const {
  std::optional<OwnerRecord> record;
  if (!core().in_forked_child()) {
    core().in_step([&](agent::Agent&) {
      if (run_) record = run_->record();
    });
  }
  return record ? *std::move(record) : new_set_record();
}

void SetSlot::watch_danger_of_held(agent::Agent&, std::chrono::milliseconds margin) {
  if (holds() && run_) run_->watch_danger(margin);
}

void SetSlot::alive(std::chrono::milliseconds expected) {
  check_health();
  bool told = false;
  core().in_step([&](agent::Agent&) {
    if (holds() && run_) told = run_->alive(expected);
  });
  if (!told) check_health();
}

std::vector<WriteResult> SetSlot::write_guarded(const std::vector<WriteOperation>& operations) {
  check_health();
  std::shared_ptr<SetRun> run;
  std::vector<GuardedWrite::Hold> holds_of_members;
  core().in_step([&](agent::Agent&) {
    if (!holds() || !run_) return;
    run = run_;
    holds_of_members = run->holds();
  });
  if (!run || holds_of_members.size() != monitors().size()) {
    check_health();
    throw LockUnhealthyException(ErrorCode::lock_unhealthy, monitors().front(),
                                 subject() + " is not held any more; nothing was written");
  }
  const auto still_held = [this, &run] {
    const std::lock_guard guard(mutex());
    return holds() && run_ == run;
  };
  return GuardedWrite({.ensemble = ensemble(),
                       .caller = *run,
                       .name = name(),
                       .holds = std::move(holds_of_members),
                       .check_health = [this] { check_health(); },
                       .still_held = still_held})
      .commit(operations);
}

}  // namespace forelock::client
