// What callers want of an agent.
#include <algorithm>
#include <utility>

#include "agent/agent.h"
#include "agent/mutation.h"

namespace forelock::agent {

namespace {

// To know who waits for an outer lock costs a listing; most inner ones have theirs before.
constexpr std::chrono::milliseconds wait_before_nesting_counts{100};

}  // namespace

bool Agent::certain(lock::TimePoint time) const {
  return connected_ && time < engine_.valid_until() - lock::Duration(session_timeout_) / 3;
}

std::shared_ptr<ContenderListener> Agent::listener_of(lock::ContenderId contender) const {
  const auto found = listeners_.find(contender);
  return found == listeners_.end() ? nullptr : found->second;
}

std::shared_ptr<ContenderListener> Agent::take_listener(lock::ContenderId contender) {
  danger_.remove(contender);
  const auto found = listeners_.extract(contender);
  return found ? std::move(found.mapped()) : nullptr;
}

bool Agent::is_of(const ContenderListener& listener, lock::ContenderId contender) const {
  return listener_of(contender).get() == &listener;
}

// --- acquisitions ---

lock::ContenderId Agent::acquire(const std::shared_ptr<ContenderListener>& listener, lock::AcquireSpec spec,
                                 bool may_linger) {
  const linger::Wish wish{spec.monitor, spec.priority, may_linger, spec.wants_position};
  if (const lock::ContenderId lingering = acquire_lingering(listener, wish); lingering != 0) return lingering;
  const lock::ContenderId contender = host_.new_contender();
  if (linger_.ask(contender, wish, spec.guid, now())) spec.contention = lock::ContentionScope::all;
  listeners_.emplace(contender, listener);
  const bool wanted = listener->begin(contender);
  host_.begins(contender, spec);
  engine_.acquire(contender, std::move(spec), now());
  if (!wanted) engine_.cancel(contender, now());
  return contender;
}

lock::ContenderId Agent::acquire_lingering(const std::shared_ptr<ContenderListener>& listener,
                                           const linger::Wish& wish) {
  const lock::TimePoint time = now();
  const bool may_have_it = certain(time) || mutated(Mutation::uncertain_lock_taken);
  const linger::Lock* const lock = linger_.take(wish, may_have_it, time);
  if (lock == nullptr) {
    release_given_up();  // before the claim that follows, so that it finds the lock free
    return 0;
  }
  const lock::ContenderId contender = lock->contender;
  host_.taken_again(contender, wish.priority);
  const auto margin = listener->taken(*lock);
  if (!margin) {
    end_section(contender, true);
    return contender;
  }
  listeners_.emplace(contender, listener);
  if (*margin > lock::Duration::zero()) watch_danger(contender, *margin);
  return contender;
}

bool Agent::end_section(lock::ContenderId contender, bool may_wait) {
  const lock::TimePoint time = now();
  // A write that is guarded by it belongs to this section: only a release sent behind it keeps it out of the next one.
  const bool writes = guarded_writes_.contains(contender) && !mutated(Mutation::writes_outlive_sections);
  // A lock that nothing would tell of newcomers does not stay; nor does one that takes the room of other watches.
  const bool is_certain = certain(time) || mutated(Mutation::uncertain_lock_lingers);
  const bool may_stay = !writes && is_certain && !engine_.short_of_watches();
  const bool may_be_delayed = !writes && may_wait && !engine_.others_known(contender);
  if (!linger_.end_section(contender, may_stay, may_be_delayed, time)) {
    const bool begun = engine_.release(contender, time);
    host_.release_called(contender, begun);
    return begun;
  }
  host_.lingers(contender);
  // For the caller it is released; its waiting ends with this call.
  if (auto listener = take_listener(contender)) {
    listener->released(contender, lock::ReleaseOutcome::released);
    host_.let_go_after_step(std::move(listener));
  }
  return true;
}

bool Agent::release(lock::ContenderId contender) {
  return end_section(contender, true);
}

bool Agent::release(lock::ContenderId contender, lock::TimePoint answer_by) {
  const bool begun = end_section(contender, true);
  if (!listeners_.contains(contender)) return begun;  // it has its answer, and may soon be another caller's
  // Most have their answer in a moment: what is behind the oldest one that waits is looked at when that is through.
  while (!unanswered_.empty() && !listeners_.contains(unanswered_.front().second)) unanswered_.pop_front();
  unanswered_.emplace_back(answer_by, contender);
  return begun;
}

bool Agent::release_detached(lock::ContenderId contender) {
  const auto listener = take_listener(contender);
  if (holds(contender)) return end_section(contender, true);
  return cancel(contender);
}

void Agent::give_up(lock::ContenderId contender, bool section_ended) {
  if (!section_ended && !mutated(Mutation::given_back_lingers)) linger_.given_back(contender);
  if (holds(contender)) {
    end_section(contender, false);
  } else {
    cancel(contender);
  }
}

bool Agent::cancel(lock::ContenderId contender) {
  const bool begun = engine_.cancel(contender, now());
  host_.cancel_called(contender, begun);
  return begun;
}

bool Agent::step_aside(lock::ContenderId contender, lock::TimePoint deadline) {
  if (holds(contender)) linger_.stepped_aside(contender);
  const bool begun = engine_.step_aside(contender, deadline, now());
  host_.step_aside_called(contender, begun, deadline);
  return begun;
}

bool Agent::set_priority(lock::ContenderId contender, Priority priority, lock::RecordText record) {
  const bool begun = engine_.set_priority(contender, priority, std::move(record), now());
  if (begun) linger_.moved(contender);
  host_.set_priority_called(contender, priority, begun);
  return begun;
}

void Agent::inside(lock::ContenderId inner, const std::vector<lock::ContenderId>& outer_ones) {
  if (outer_ones.empty() || !engine_.state(inner) || holds(inner)) return;
  host_.inside_called(inner, outer_ones);
  std::vector<Nesting::Outer> outer;
  for (const lock::ContenderId one : outer_ones) outer.push_back({one, linger_.section(one)});
  nesting_.add(inner, std::move(outer), now() + wait_before_nesting_counts);
}

// --- held locks ---

bool Agent::holds(lock::ContenderId contender) const {
  return engine_.state(contender) == lock::ContenderState::held;
}

bool Agent::update_record(lock::ContenderId contender, std::string record) {
  linger_.bind_to_section(contender);
  return engine_.update_record(contender, std::move(record), now());
}

void Agent::want_contention(lock::ContenderId contender) {
  engine_.want_contention(contender, now());
}

void Agent::prove(lock::ContenderId contender) {
  engine_.prove(contender, now());
}

void Agent::knock(std::vector<std::string> monitors) {
  engine_.knock(std::move(monitors), now());
}

void Agent::watch_danger(lock::ContenderId contender, lock::Duration margin) {
  danger_.add(contender, std::min<lock::Duration>(margin, lock::Duration(session_timeout_) / 3));
}

std::optional<coordination::Transaction> Agent::begin_guarded_write(const ContenderListener& listener,
                                                                    const std::vector<lock::ContenderId>& contenders,
                                                                    std::vector<coordination::Operation> operations) {
  coordination::Transaction transaction;
  for (const lock::ContenderId contender : contenders) {
    if (!is_of(listener, contender)) return std::nullopt;
    auto checks = engine_.guard(contender);
    if (!checks) return std::nullopt;
    std::move(checks->begin(), checks->end(), std::back_inserter(transaction.operations));
  }
  std::move(operations.begin(), operations.end(), std::back_inserter(transaction.operations));
  for (const lock::ContenderId contender : contenders) ++guarded_writes_[contender];
  return transaction;
}

void Agent::end_guarded_write(const std::vector<lock::ContenderId>& contenders) {
  for (const lock::ContenderId contender : contenders) {
    if (--guarded_writes_.at(contender) == 0) guarded_writes_.erase(contender);
  }
}

}  // namespace forelock::agent
