// A step of the engine, what may be done in it, and what follows at its end.
#include <algorithm>
#include <utility>

#include "client/client_core.h"
#include "client/clock.h"

namespace forelock::client {

ClientCore::Step::~Step() {
  // Listeners that are let go here die when the mutex is free: what their callbacks own may call the client.
  std::vector<std::shared_ptr<StepListener>> told;
  const auto release_given_up = [this] {
    for (const auto& link : core_.links_) link->release_given_up();
  };
  release_given_up();
  while (!core_.at_end_of_step_.empty()) {
    for (auto& listener : std::exchange(core_.at_end_of_step_, {})) {
      listener->step_ends();
      told.push_back(std::move(listener));
    }
    release_given_up();
  }
  for (const auto& link : core_.links_) link->end_of_step();
  core_.ticker_.wake_by(core_.next_timer());
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
  EnsembleLink& link = home_of(spec.monitor);
  const linger::Wish wish{spec.monitor, spec.priority, may_linger, spec.wants_position};
  if (const lock::ContenderId lingering = link.hand_out(listener, wish); lingering != 0) return lingering;
  const lock::ContenderId contender = new_contender(link);
  if (link.linger_.ask(contender, wish, spec.guid, now())) spec.contention = lock::ContentionScope::all;
  listeners_.emplace(contender, listener);
  const bool wanted = listener->begin(contender);
  if (course_) course_->begins(contender, spec, now());
  link.engine_.acquire(contender, std::move(spec), now());
  if (!wanted) link.engine_.cancel(contender, now());
  return contender;
}

bool ClientCore::step_aside_in_step(lock::ContenderId contender, lock::TimePoint deadline) {
  if (!holds_in_step(contender)) return false;
  EnsembleLink& link = link_of(contender);
  link.linger_.stepped_aside(contender);
  return link.engine_.step_aside(contender, deadline, now());
}

bool ClientCore::update_record_in_step(lock::ContenderId contender, std::string record) {
  EnsembleLink& link = link_of(contender);
  link.linger_.bind_to_section(contender);
  return link.engine_.update_record(contender, std::move(record), now());
}

bool ClientCore::holds_in_step(lock::ContenderId contender) const {
  return link_of(contender).engine_.state(contender) == lock::ContenderState::held;
}

void ClientCore::give_up_in_step(lock::ContenderId contender, bool section_ended) {
  EnsembleLink& link = link_of(contender);
  if (!section_ended) link.linger_.given_back(contender);
  if (!link.end_section(contender, false)) link.engine_.cancel(contender, now());
}

void ClientCore::want_contention_in_step(lock::ContenderId contender) {
  link_of(contender).engine_.want_contention(contender, now());
}

void ClientCore::prove_in_step(lock::ContenderId contender) {
  link_of(contender).engine_.prove(contender, now());
}

void ClientCore::knock_in_step(const std::vector<std::string>& node_names) {
  std::vector<std::vector<std::string>> by_link(links_.size());
  for (const std::string& name : node_names) by_link[home_of(name).number()].push_back(name);
  for (const auto& link : links_) link->engine_.knock(std::move(by_link[link->number()]), now());
}

void ClientCore::watch_danger_in_step(lock::ContenderId contender, lock::Duration margin) {
  link_of(contender).danger_.add(contender, margin);
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
