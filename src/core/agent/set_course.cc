#include "agent/set_course.h"

#include <utility>

#include "agent/mutation.h"

namespace forelock::agent {

namespace {

// What is held already is held for so long, in a large set, while the other members are still asked for.
constexpr std::chrono::seconds time_for_the_others{1};

}  // namespace

SetCourse::SetCourse(Agent& agent, std::shared_ptr<const std::vector<std::string>> monitors, SetCourseOptions options)
    : agent_(agent),
      monitors_(std::move(monitors)),
      options_(options),
      machine_(monitors_->size()),
      rank_(options.priority) {}

void SetCourse::begin(lock::TimePoint deadline, bool try_only) {
  deadline_ = deadline;
  rank_ = options_.priority;
  machine_.begin(try_only);
  proceed();
}

bool SetCourse::cancel() {
  const bool begun = machine_.cancel();
  proceed();
  return begun;
}

bool SetCourse::release() {
  const bool begun = machine_.release();
  proceed();
  return begun;
}

bool SetCourse::step_aside(lock::TimePoint deadline) {
  deadline_ = deadline;
  const bool begun = machine_.step_aside();
  proceed();
  return begun;
}

bool SetCourse::set_priority(Priority priority) {
  if (machine_.stage() != sets::SetStage::taking) return false;
  options_.priority = rank_ = priority;
  const lock::RecordText record = record_of_class(priority);
  // Not the map itself: as in contenders().
  const std::vector<std::pair<lock::ContenderId, sets::AttemptId>> attempts(attempts_.begin(), attempts_.end());
  for (const auto& [contender, attempt] : attempts) {
    const auto member = machine_.member_of(attempt);
    if (member && !machine_.holds(*member)) agent_.set_priority(contender, priority, record);
  }
  if (may_be_outranked()) want_contention();
  proceed();
  return true;
}

// Not the map itself, in which calls of the agent may change something: it may find on the way that the session's time
// is over, and tell of each loss.
std::vector<SetCourse::Held> SetCourse::contenders() const {
  std::vector<Held> held;
  held.reserve(contenders_.size());
  for (const auto& [attempt, contender] : contenders_) {
    if (const auto member = machine_.member_of(attempt)) held.push_back({*member, attempt, contender});
  }
  return held;
}

void SetCourse::proceed() {
  for (auto commands = machine_.take_commands(); !commands.empty(); commands = machine_.take_commands()) {
    for (const sets::Command& command : commands) carry_out(command);
  }
  knock();
  // Where one wait follows another, what has come in between is held, too.
  if (const auto waits_for = machine_.waits_for(); waits_for != waited_for_) {
    waited_for_ = waits_for;
    contention_due_ = waits_for && may_be_outranked() ? agent_.now() + options_.contention_delay : lock::never;
    if (contention_due_ != lock::never) agent_.call_at(contention_due_, weak_from_this());
  }
  // No contender waits any more whose deadline the engine would keep.
  const bool ends = deadline_ != lock::never && !mutated(Mutation::proof_without_end);
  if (machine_.proving() && ends && deadline_ != called_at_) {
    called_at_ = deadline_;
    agent_.call_at(deadline_, weak_from_this());
  }
  advanced();
}

// Many at once.
void SetCourse::knock() {
  if (!knocks_.empty()) agent_.knock(std::exchange(knocks_, {}));
}

void SetCourse::carry_out(const sets::Command& command) {
  using Kind = sets::Command::Kind;
  if (command.kind == Kind::knock) return knocks_.push_back((*monitors_)[command.member]);
  knock();  // the order is that of the commands
  if (command.kind == Kind::try_once || command.kind == Kind::acquire) return acquire(command);
  const auto contender = contenders_.find(command.attempt);
  if (contender == contenders_.end()) return;  // it has just ended
  if (command.kind == Kind::give_up) {
    agent_.give_up(contender->second, machine_.stage() == sets::SetStage::releasing);
  } else if (command.kind == Kind::prove) {
    agent_.prove(contender->second);
  } else {
    agent_.step_aside(contender->second, deadline_);
  }
}

void SetCourse::acquire(const sets::Command& command) {
  lock::AcquireSpec spec;
  spec.monitor = (*monitors_)[command.member];
  spec.priority = options_.priority;
  if (rank_ != options_.priority) spec.rank = rank_;
  spec.deadline = deadline_;
  spec.try_once = command.kind == sets::Command::Kind::try_once;
  spec.hold_watch_later = time_for_the_others;
  spec.wants_position = options_.wants_place && !spec.try_once;
  spec.queue_max = options_.queue_max;
  spec.refuse_in_vain = options_.refuse_in_vain;
  spec.keep_monitor = options_.keep_monitors;
  if (options_.wants_contention) {
    spec.contention = lock::ContentionScope::all;
  } else if (may_be_outranked()) {
    spec.contention = lock::ContentionScope::this_process;
  }
  describe(command, spec);
  beginning_ = command.attempt;
  const lock::ContenderId contender = agent_.acquire(shared_from_this(), std::move(spec), options_.may_linger);
  if (!outer_ones_.empty()) agent_.inside(contender, outer_ones_);
}

void SetCourse::add_held(std::vector<lock::ContenderId>& found) const {
  for (const Held& one : contenders()) {
    if (machine_.holds(one.member)) found.push_back(one.contender);
  }
}

void SetCourse::watch_danger(lock::Duration margin) {
  // All members end with the session: the first one stands for them.
  for (const auto& [attempt, contender] : contenders_) {
    if (machine_.member_of(attempt) == 0) agent_.watch_danger(contender, margin);
  }
}

void SetCourse::want_contention() {
  // Not the map itself: as in contenders().
  const std::vector<std::pair<lock::ContenderId, sets::AttemptId>> attempts(attempts_.begin(), attempts_.end());
  for (const auto& [contender, attempt] : attempts) {
    const auto member = machine_.member_of(attempt);
    if (member && machine_.holds(*member)) agent_.want_contention(contender);
  }
}

// --- from the agent ---

bool SetCourse::begin(lock::ContenderId contender) {
  const sets::AttemptId attempt = std::exchange(beginning_, 0);
  attempts_.emplace(contender, attempt);
  contenders_.emplace(attempt, contender);
  return true;
}

sets::AttemptId SetCourse::attempt_of(lock::ContenderId contender) const {
  const auto found = attempts_.find(contender);
  return found == attempts_.end() ? 0 : found->second;
}

std::optional<std::size_t> SetCourse::member_of(lock::ContenderId contender) const {
  return machine_.member_of(attempt_of(contender));
}

void SetCourse::ended(lock::ContenderId contender) {
  const sets::AttemptId attempt = attempt_of(contender);
  contenders_.erase(attempt);
  attempts_.erase(contender);
  attempt_ended(attempt);
  come_back();
}

// What follows from it needs the engine, which is busy telling of it.
void SetCourse::come_back() {
  if (!std::exchange(coming_back_, true)) agent_.at_end_of_step(shared_from_this());
}

void SetCourse::step_ends() {
  coming_back_ = false;
  proceed();
}

lock::Duration SetCourse::granted(lock::ContenderId contender, const lock::Grant& grant) {
  if (const auto member = member_of(contender)) member_granted(*member);
  machine_.granted(attempt_of(contender), grant.token);
  come_back();
  return lock::Duration::zero();  // watch_danger() follows when the set is held
}

std::optional<lock::Duration> SetCourse::taken(const linger::Lock& lock) {
  begin(lock.contender);
  member_taken(attempt_of(lock.contender), lock);
  return granted(lock.contender, {lock.token, {}});
}

void SetCourse::refused(lock::ContenderId contender, const lock::Refusal& refusal) {
  machine_.refused(attempt_of(contender), refusal);
  ended(contender);
}

void SetCourse::proved(lock::ContenderId contender) {
  machine_.proved(attempt_of(contender));
  come_back();
}

void SetCourse::lost(lock::ContenderId contender, LossReason reason) {
  machine_.lost(attempt_of(contender), reason);
  // Before the deadline can move on in this step: a reader of the later one must see the loss.
  if (machine_.stage() == sets::SetStage::lost) advanced();
  ended(contender);
}

void SetCourse::released(lock::ContenderId contender, lock::ReleaseOutcome outcome) {
  machine_.released(attempt_of(contender), outcome);
  ended(contender);
}

void SetCourse::moved(lock::ContenderId contender, Priority rank) {
  if (member_of(contender)) rank_ = rank;
}

void SetCourse::record_changed(lock::ContenderId contender, const std::string& record) {
  if (member_of(contender)) member_record_changed(record);
}

void SetCourse::queued(lock::ContenderId contender, const QueuePosition& position) {
  if (const auto member = member_of(contender); member && machine_.waits_for() == member) {
    member_queued(*member, position);
  }
}

void SetCourse::contended(lock::ContenderId contender, Priority waiting) {
  const auto member = member_of(contender);
  if (waiting < rank_) {
    machine_.outranked(attempt_of(contender));
    come_back();
  }
  if (options_.wants_contention && member) member_contended(*member, waiting);
}

void SetCourse::in_danger(lock::ContenderId contender) {
  if (member_of(contender) == 0) endangered();
}

void SetCourse::time_has_come(lock::TimePoint time) {
  if (machine_.waits_for() && time >= contention_due_) want_contention();
  if (machine_.proving() && time >= deadline_) {
    machine_.cancel(lock::RefusalReason::timed_out);
    proceed();
  }
  time_came(time);
}

}  // namespace forelock::agent
