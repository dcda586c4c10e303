// What a lock slot knows and does while the lock is held.
#include <algorithm>
#include <chrono>
#include <utility>

#include "client/acquisition_error.h"
#include "client/clock.h"
#include "client/guarded_write.h"
#include "client/lock_health.h"
#include "client/lock_slot.h"
#include "records/wall_time.h"

namespace forelock::client {

LockState LockSlot::state() const {
  switch (phase_.load(std::memory_order_acquire)) {
    case Phase::free:
      return LockState::free;
    case Phase::waiting:
      return LockState::waiting;
    case Phase::releasing:
      return LockState::free;
    case Phase::lost:
      return LockState::lost;
    case Phase::held:
      break;
  }
  return state_of_held(ensemble_, [this] { return holds(); });
}

bool LockSlot::healthy() const noexcept {
  return is_healthy(ensemble_, [this] { return holds(); });
}

void LockSlot::check_health() const {
  if (healthy()) return;
  const Phase phase = phase_.load();
  if (phase == Phase::lost) {
    const std::lock_guard guard(mutex_);
    throw lost_lock(monitor_, loss_);
  }
  const bool held = phase == Phase::held;
  throw unhealthy_lock(monitor_, held ? "cannot be proved to be held: its session may have ended" : "is not held");
}

std::chrono::steady_clock::time_point LockSlot::expires_at() const noexcept {
  if (!holds()) return {};
  return to_steady(lock::TimePoint(std::chrono::nanoseconds(ensemble_.valid_until())));
}

std::stop_token LockSlot::stop_token() {
  const std::lock_guard guard(mutex_);
  if (token_.load() == 0) return {};
  if (!stop_) {
    stop_.emplace();
    if (phase_.load() == Phase::lost) stop_->request_stop();
  }
  return stop_->get_token();
}

OwnerRecord LockSlot::owner() const {
  const std::lock_guard guard(mutex_);
  return record_;
}

void LockSlot::alive(std::chrono::milliseconds expected) {
  check_health();
  std::string json;
  lock::ContenderId contender = 0;
  {
    const std::lock_guard guard(mutex_);
    const WallTime time = records::wall_time_now();
    record_.expected_runtime = expected;
    record_.alert_at = records::later(time, expected);
    if (options_.auto_unlock_after) record_.auto_unlock_at = records::later(time, *options_.auto_unlock_after);
    record_.linger.reset();                 // it ends with the section that the record speaks of
    record_.fencing_token = token_.load();  // readers cannot take it from the transaction any more
    json = record_.to_json();
    contender = contender_;
  }
  const bool told = core_->in_step([&](agent::Agent& agent) {
    return agent.is_of(*this, contender) && agent.update_record(contender, std::move(json));
  });
  if (!told) check_health();
}

// --- guarded writes ---

std::vector<WriteResult> LockSlot::write_guarded(const std::vector<WriteOperation>& operations) {
  check_health();
  lock::ContenderId contender = 0;
  std::string guid;
  {
    const std::lock_guard guard(mutex_);
    contender = contender_;
    guid = record_.guid;
  }
  const auto still_held = [this, contender] {
    const std::lock_guard guard(mutex_);
    return phase_.load() == Phase::held && contender_ == contender;
  };
  return GuardedWrite({.ensemble = ensemble_,
                       .caller = *this,
                       .name = monitor_,
                       .holds = {{monitor_, node_name_, contender, guid}},
                       .check_health = [this] { check_health(); },
                       .still_held = still_held})
      .commit(operations);
}

// --- callbacks ---

void LockSlot::on_lost(std::function<void(LossReason)> callback) {
  const std::lock_guard guard(mutex_);
  on_lost_ = std::move(callback);
}

void LockSlot::on_danger(std::chrono::milliseconds margin, std::function<void()> callback) {
  check_danger_margin(*core_, monitor_, margin);
  lock::ContenderId holder = 0;
  {
    const std::lock_guard guard(mutex_);
    danger_margin_ = margin;
    on_danger_ = std::move(callback);
    if (holds()) holder = contender_;
  }
  if (holder == 0) return;
  core_->in_step([&](agent::Agent& agent) {
    if (agent.is_of(*this, holder)) agent.watch_danger(holder, margin);
  });
}

void LockSlot::on_queued(std::function<void(const QueuePosition&)> callback) {
  const std::lock_guard guard(mutex_);
  on_queued_ = std::move(callback);
}

void LockSlot::on_contended(std::function<void(Priority)> callback) {
  const std::lock_guard guard(mutex_);
  on_contended_ = std::move(callback);
}

// --- what went wrong ---

NoNodeException LockSlot::not_held() const {
  return {ErrorCode::not_held, monitor_, "unlock of " + monitor_ + ", which this lock object does not hold"};
}

std::exception_ptr LockSlot::error_of(const lock::Refusal& refusal, bool look_at_holder) const {
  client::Acquisition acquisition{.monitor = monitor_, .node_name = node_name_};
  {
    const std::lock_guard guard(mutex_);
    acquisition.guid = record_.guid;
    acquisition.since = waiting_since_;
    acquisition.deadline = deadline_;
  }
  return client::error_of(ensemble_, acquisition, refusal, look_at_holder);
}

}  // namespace forelock::client
