// A step of the engine, what may be done in it, and what follows at its end.
#include <algorithm>
#include <utility>

#include "client/client_core.h"
#include "client/clock.h"

namespace forelock::client {

ClientCore::Step::~Step() {
  // Listeners that are let go here die when the mutex is free: what their callbacks own may call the client.
  std::vector<std::shared_ptr<StepListener>> told;
  EnsembleLink& ensemble = *core_.ensemble_;
  ensemble.release_given_up();
  while (!core_.at_end_of_step_.empty()) {
    for (auto& listener : std::exchange(core_.at_end_of_step_, {})) {
      listener->step_ends();
      told.push_back(std::move(listener));
    }
    ensemble.release_given_up();
  }
  ensemble.end_of_step();
  core_.ticker_.wake_by(ensemble.next_timer());
  const auto to_wake = std::exchange(core_.to_wake_, {});
  const auto to_let_go = std::exchange(core_.to_let_go_, {});
  const bool callbacks_posted = std::exchange(core_.callbacks_posted_, false);
  const auto not_posted = std::exchange(core_.not_posted_, {});
  guard_.unlock();
  if (callbacks_posted) core_.dispatcher_.wake();
  for (const auto& listener : to_wake) listener->wake();
  for (const Dispatcher::Call& callback : not_posted) callback.run();
}

lock::ContenderId ClientCore::acquire_in_step(const std::shared_ptr<ContenderListener>& listener,
                                              lock::AcquireSpec spec, bool may_linger) {
  const linger::Wish wish{spec.monitor, spec.priority, may_linger, spec.wants_position};
  if (const lock::ContenderId lingering = ensemble_->hand_out(listener, wish); lingering != 0) return lingering;
  const lock::ContenderId contender = next_contender_++;
  if (ensemble_->linger_.ask(contender, wish, spec.guid, now())) spec.contention = lock::ContentionScope::all;
  listeners_.emplace(contender, listener);
  const bool wanted = listener->begin(contender);
  if (course_) course_->begins(contender, spec, now());
  ensemble_->engine_.acquire(contender, std::move(spec), now());
  if (!wanted) ensemble_->engine_.cancel(contender, now());
  return contender;
}

bool ClientCore::step_aside_in_step(lock::ContenderId contender, lock::TimePoint deadline) {
  if (!holds_in_step(contender)) return false;
  ensemble_->linger_.stepped_aside(contender);
  return ensemble_->engine_.step_aside(contender, deadline, now());
}

bool ClientCore::update_record_in_step(lock::ContenderId contender, std::string record) {
  ensemble_->linger_.bind_to_section(contender);
  return ensemble_->engine_.update_record(contender, std::move(record), now());
}

bool ClientCore::holds_in_step(lock::ContenderId contender) const {
  return ensemble_->engine_.state(contender) == lock::ContenderState::held;
}

void ClientCore::give_up_in_step(lock::ContenderId contender, bool section_ended) {
  if (!section_ended) ensemble_->linger_.given_back(contender);
  if (!ensemble_->end_section(contender, false)) ensemble_->engine_.cancel(contender, now());
}

void ClientCore::want_contention_in_step(lock::ContenderId contender) {
  ensemble_->engine_.want_contention(contender, now());
}

void ClientCore::prove_in_step(lock::ContenderId contender) {
  ensemble_->engine_.prove(contender, now());
}

void ClientCore::knock_in_step(const std::vector<std::string>& node_names) {
  ensemble_->engine_.knock(node_names, now());
}

void ClientCore::watch_danger_in_step(lock::ContenderId contender, lock::Duration margin) {
  ensemble_->danger_.add(contender, margin);
}

void ClientCore::call_at(lock::TimePoint time, std::weak_ptr<StepListener> listener) {
  while (!times_.empty() && times_.begin()->second.expired()) times_.erase(times_.begin());
  times_.emplace(time, std::move(listener));
  ticker_.wake_by(times_.begin()->first);
}

lock::TimePoint ClientCore::tell_time(lock::TimePoint time,
                                      std::vector<std::shared_ptr<ContenderListener>>& looked_at) {
  while (!times_.empty() && times_.begin()->first <= time) {
    const auto listener = times_.begin()->second.lock();
    times_.erase(times_.begin());
    if (!listener) continue;
    listener->time_has_come(time);
    looked_at.push_back(listener);
  }
  return times_.empty() ? lock::never : times_.begin()->first;
}

}  // namespace forelock::client
