// What a lock set knows while it is held, and how it says what went wrong.
#include <chrono>
#include <utility>

#include "client/acquisition_error.h"
#include "client/clock.h"
#include "client/lock_health.h"
#include "client/set_slot.h"

namespace forelock::client {

// --- what is known ---

LockState SetSlot::state() const noexcept {
  switch (phase_.load(std::memory_order_acquire)) {
    case Phase::free:
    case Phase::releasing:
      return LockState::free;
    case Phase::waiting:
      return LockState::waiting;
    case Phase::lost:
      return LockState::lost;
    case Phase::held:
      break;
  }
  return state_of_held(ensemble_, [this] { return holds(); });
}

bool SetSlot::healthy() const noexcept {
  return is_healthy(ensemble_, [this] { return holds(); });
}

void SetSlot::check_health() const {
  if (healthy()) return;
  std::string monitor = monitors().front();
  std::string why = "is not held";
  {
    const std::lock_guard guard(mutex_);
    if (phase_.load() == Phase::held) why = "cannot be proved to be held: its session may have ended";
    if (phase_.load() == Phase::lost && loss_) {
      monitor = monitors()[loss_->member];
      why = "is lost with " + monitor + " (" + std::string(name_of(loss_->reason)) + ")";
    }
  }
  throw LockUnhealthyException(ErrorCode::lock_unhealthy, monitor, "the lock set of " + name_ + " " + why,
                               "stop the work that it protects; another client may hold that lock");
}

std::chrono::steady_clock::time_point SetSlot::expires_at() const noexcept {
  if (!holds()) return {};
  return to_steady(lock::TimePoint(std::chrono::nanoseconds(ensemble_.valid_until())));
}

std::vector<MemberToken> SetSlot::tokens() const {
  const std::lock_guard guard(mutex_);
  std::vector<MemberToken> tokens;
  tokens.reserve(tokens_.size());
  for (std::size_t i = 0; i < tokens_.size(); ++i) tokens.push_back({monitors()[i], tokens_[i]});
  return tokens;
}

std::int64_t SetSlot::token(std::size_t member) const {
  const std::lock_guard guard(mutex_);
  return tokens_[member];
}

std::optional<std::string> SetSlot::waits_for() const {
  const std::lock_guard guard(mutex_);
  if (phase_.load() != Phase::waiting || !waits_for_) return std::nullopt;
  return monitors()[*waits_for_];
}

OwnerRecord SetSlot::owner() const {
  std::optional<OwnerRecord> record;
  if (!core_->in_forked_child()) {
    core_->in_step([&](agent::Agent&) {
      if (run_) record = run_->record();
    });
  }
  return record ? *std::move(record) : new_record();
}

std::stop_token SetSlot::stop_token() {
  const std::lock_guard guard(mutex_);
  if (!granted_once_) return {};
  if (!stop_) {
    stop_.emplace();
    if (phase_.load() == Phase::lost) stop_->request_stop();
  }
  return stop_->get_token();
}

void SetSlot::on_lost(std::function<void(LossReason, const std::string&)> callback) {
  const std::lock_guard guard(mutex_);
  on_lost_ = std::move(callback);
}

void SetSlot::on_contended(std::function<void(Priority, const std::string&)> callback) {
  const std::lock_guard guard(mutex_);
  on_contended_ = std::move(callback);
}

void SetSlot::on_queued(std::function<void(const QueuePosition&, const std::string&)> callback) {
  const std::lock_guard guard(mutex_);
  on_queued_ = std::move(callback);
}

// --- what went wrong ---

void SetSlot::throw_not_held() const {
  throw NoNodeException(ErrorCode::not_held, monitors().front(),
                        "unlock of the lock set of " + name_ + ", which this object does not hold");
}

std::exception_ptr SetSlot::error_of(const Failure& failure, bool look_at_holder) const {
  client::Acquisition acquisition{.monitor = monitors()[failure.member],
                                  .node_name = members_->node_names[failure.member]};
  {
    const std::lock_guard guard(mutex_);
    acquisition.since = waiting_since_;
    acquisition.deadline = deadline_;
  }
  return client::error_of(ensemble_, acquisition, failure.refusal, look_at_holder);
}

std::exception_ptr SetSlot::error_of(const Release& release) const {
  if (!release.confirmed) return std::make_exception_ptr(unconfirmed_release(name_));
  return client::error_of(monitors()[release.lost_member.value_or(0)], release.outcome);
}

}  // namespace forelock::client
