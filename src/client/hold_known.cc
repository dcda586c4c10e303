// What is known of a lock or a lock set, whom it tells, and how it says what went wrong.
#include "client/clock.h"
#include "client/hold.h"
#include "client/lock_health.h"

namespace forelock::client {

LockState Hold::state() const noexcept {
  switch (phase()) {
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

bool Hold::healthy() const noexcept {
  return is_healthy(ensemble_, [this] { return holds(); });
}

void Hold::check_health() const {
  if (healthy()) return;
  const Phase current = phase();
  if (current == Phase::lost) {
    const std::lock_guard guard(mutex_);
    if (loss_) throw lost_error(*loss_);  // else it has been taken again meanwhile
  }
  const std::string why =
      current == Phase::held ? "cannot be proved to be held: its session may have ended" : "is not held";
  throw unhealthy(monitor_of(0), subject_ + ' ' + why);
}

std::chrono::steady_clock::time_point Hold::expires_at() const noexcept {
  if (!holds()) return {};
  return to_steady(lock::TimePoint(std::chrono::nanoseconds(ensemble_.valid_until())));
}

std::string Hold::traceparent() const {
  const std::lock_guard guard(mutex_);
  const std::optional<TraceContext> hold = trace_ ? trace_->hold() : std::nullopt;
  return hold ? hold->traceparent() : std::string();
}

std::stop_token Hold::stop_token() {
  const std::lock_guard guard(mutex_);
  if (!granted_once_) return {};
  if (!stop_) {
    stop_.emplace();
    if (phase() == Phase::lost) stop_->request_stop();
  }
  return stop_->get_token();
}

// --- callbacks ---

void Hold::on_lost(std::function<void(LossReason, const std::string&)> callback) {
  const std::lock_guard guard(mutex_);
  callbacks_.lost.swap(callback);  // the former one dies without the mutex
}

void Hold::on_danger(std::chrono::milliseconds margin, std::function<void()> callback) {
  check_danger_margin(*core_, monitor_of(0), margin);
  {
    const std::lock_guard guard(mutex_);
    callbacks_.danger_margin = margin;
    callbacks_.danger.swap(callback);
  }
  if (!holds()) return;
  core_->in_step([&](agent::Agent& agent) { watch_danger_of_held(agent, margin); });
}

void Hold::on_queued(std::function<void(const QueuePosition&, const std::string&)> callback) {
  const std::lock_guard guard(mutex_);
  callbacks_.queued.swap(callback);  // the former one dies without the mutex
}

void Hold::on_contended(std::function<void(Priority, const std::string&)> callback) {
  const std::lock_guard guard(mutex_);
  callbacks_.contended.swap(callback);  // the former one dies without the mutex
}

std::optional<std::chrono::milliseconds> Hold::danger_margin() const {
  if (!callbacks_.danger) return std::nullopt;
  return callbacks_.danger_margin;
}

// --- what went wrong ---

NoNodeException Hold::not_held() const {
  return {ErrorCode::not_held, monitor_of(0), "unlock of " + subject_ + ", which this lock object does not hold"};
}

LockUnhealthyException Hold::lost_error(const Loss& loss) const {
  const std::string& monitor = monitor_of(loss.member);
  const std::string with = monitor == name_ ? "" : " with " + monitor;
  return unhealthy(monitor, subject_ + " is lost" + with + " (" + std::string(name_of(loss.reason)) + ")");
}

std::exception_ptr Hold::error_of(const Failure& failure, bool look_at_holder) const {
  client::Acquisition acquisition;
  {
    const std::lock_guard guard(mutex_);
    acquisition = acquisition_of(failure.member);
    acquisition.since = waiting_since_;
    acquisition.deadline = deadline_;
  }
  return client::error_of(ensemble_, acquisition, failure.refusal, look_at_holder);
}

std::exception_ptr Hold::error_of(const Release& release) const {
  if (!release.confirmed) return std::make_exception_ptr(unconfirmed_release(name_));
  return client::error_of(monitor_of(release.lost_member.value_or(0)), release.outcome);
}

}  // namespace forelock::client
