// What may be done under a held lock set.
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "client/guarded_write.h"
#include "client/lock_health.h"
#include "client/set_slot.h"

namespace forelock::client {

void SetSlot::alive(std::chrono::milliseconds expected) {
  check_health();
  bool told = false;
  core_->in_step([&](agent::Agent&) {
    if (phase_.load() == Phase::held && run_) told = run_->alive(expected);
  });
  if (!told) check_health();
}

std::vector<WriteResult> SetSlot::write_guarded(const std::vector<WriteOperation>& operations) {
  check_health();
  std::shared_ptr<SetRun> run;
  std::vector<GuardedWrite::Hold> holds;
  core_->in_step([&](agent::Agent&) {
    if (phase_.load() != Phase::held || !run_) return;
    run = run_;
    holds = run->holds();
  });
  if (!run || holds.size() != monitors().size()) {
    check_health();
    throw LockUnhealthyException(ErrorCode::lock_unhealthy, monitors().front(),
                                 "the lock set of " + name_ + " is not held any more; nothing was written");
  }
  const auto still_held = [this, &run] {
    const std::lock_guard guard(mutex_);
    return phase_.load() == Phase::held && run_ == run;
  };
  return GuardedWrite({.ensemble = ensemble_,
                       .caller = *run,
                       .name = name_,
                       .holds = std::move(holds),
                       .check_health = [this] { check_health(); },
                       .still_held = still_held})
      .commit(operations);
}

void SetSlot::on_danger(std::chrono::milliseconds margin, std::function<void()> callback) {
  check_danger_margin(*core_, monitors().front(), margin);
  {
    const std::lock_guard guard(mutex_);
    danger_margin_ = margin;
    on_danger_ = std::move(callback);
  }
  if (!holds()) return;
  core_->in_step([&](agent::Agent&) {
    if (holds() && run_) run_->watch_danger(margin);
  });
}

void SetSlot::in_danger(const SetRun& run) {
  {
    const std::lock_guard guard(mutex_);
    if (!is_current(run) || phase_.load() != Phase::held) return;
  }
  const auto tell = [this] {
    if (const auto callback = copy_of(on_danger_)) callback();
  };
  core_->post_from_step(gate_.call("on_danger", shared_from_this(), tell));
}

}  // namespace forelock::client
