// Threads whose calls are for several monitors.
#include "process.h"
#include "process_calls.h"
#include "sets/canonical_order.h"
#include "world.h"

namespace forelock::simulation {

using sets::SetStage;

namespace {

std::shared_ptr<const std::vector<std::string>> names_of(const std::vector<std::size_t>& monitors) {
  auto names = std::make_shared<std::vector<std::string>>();
  for (const std::size_t monitor : monitors) names->emplace_back(1, monitor_names[monitor]);
  return names;
}

}  // namespace

// --- the course of a call ---

Process::SetCall::SetCall(Process& process, std::size_t thread, std::uint64_t id, std::vector<std::size_t> monitors,
                          agent::SetCourseOptions options)
    : SetCourse(process.link_.agent(), names_of(monitors), options),
      process_(process),
      thread_(thread),
      id_(id),
      numbers_(std::move(monitors)) {}

std::vector<std::uint64_t> Process::SetCall::held_contenders() const {
  std::vector<std::uint64_t> held(numbers_.size());
  for (const Held& one : contenders()) {
    if (machine().holds(one.member)) held[one.member] = one.contender;
  }
  return held;
}

void Process::SetCall::describe(const sets::Command& command, lock::AcquireSpec& spec) {
  may_wait_ = !spec.try_once;
  PlannedCall one = process_.call_of(process_.threads_[thread_]);
  one.monitor = numbers_[command.member];
  one.try_once = spec.try_once;
  spec.wants_position = one.wants_position;
  Link::fill_in(process_.link_.expect(one, deadline_), spec);
  ++process_.world_.statistics().acquisitions;
  if (may_wait_) ++process_.world_.statistics().set_waits;
}

bool Process::SetCall::begin(lock::ContenderId contender) {
  process_.thread_by_contender_[contender] = thread_;
  process_.world_.sets().asked(id_, contender, may_wait_);
  return SetCourse::begin(contender);
}

void Process::SetCall::member_record_changed(const std::string& record) {
  const std::optional<Priority> wish = wish_in(record);
  if (wish && *wish != priority() && set_priority(*wish)) ++process_.world_.statistics().wishes_obeyed;
}

void Process::SetCall::advanced() {
  process_.follow_set(thread_, *this);
}

// --- its thread ---

void Process::begin_set(std::size_t index) {
  Thread& thread = threads_[index];
  const PlannedCall& call = call_of(thread);
  std::vector<std::size_t> monitors;
  for (const std::size_t member : sets::canonical_order(*names_of(call.set))) monitors.push_back(call.set[member]);
  const std::uint64_t id = world_.sets().begun();
  agent::SetCourseOptions options;
  options.priority = call.priority;
  options.may_linger = link_.may_linger(id);
  options.wants_contention = call.wants_contention;
  options.queue_max = call.queue_max;
  options.refuse_in_vain = call.refuse_in_vain;
  if (id % 3 == 0) options.contention_delay = Span{};
  thread.set = std::make_shared<SetCall>(*this, index, id, monitors, options);
  ++thread.serial;
  thread.step_asides = call.step_asides;
  thread.guarded_writes = call.guarded_writes;
  if (call.cancel_after > Span{}) timer(call.cancel_after, cancel_call, index);
  if (call.changes_after > Span{}) timer(call.changes_after, change_class, index);
  if (tracing()) trace("takes set " + std::to_string(id) + " of " + std::to_string(monitors.size()));
  const Instant deadline = call.patience > Span{} ? now() + call.patience : lock::never;
  if (deadline != lock::never) timer(deadline - now() + late_answer(), set_due, index);
  const auto set = thread.set;
  set->set_deadline(deadline);
  set->begin(deadline, call.try_once);
}

Span Process::late_answer() const {
  return 2 * (milliseconds(6) + world_.plan().latest_tick);
}

void Process::check_set(std::size_t index) {
  if (!threads_[index].set || threads_[index].set->machine().stage() != SetStage::taking) return;
  const Instant due = awake_since_ + late_answer();
  if (now() < due) return timer(due - now(), set_due, index);
  world_.checker().fail(Invariant::in_time, "a set still waits after its deadline");
}

void Process::follow_set(std::size_t index, SetCall& set) {
  Thread& thread = threads_[index];
  if (thread.set.get() != &set) return;
  const auto kept = thread.set;
  switch (set.machine().stage()) {
    case SetStage::held:
      world_.sets().held(set.id(), set.held_contenders());
      if (std::exchange(set.told_held, true)) return;
      ++world_.statistics().sets_held;
      return held(index);
    case SetStage::lost:
      if (std::exchange(set.told_lost, true)) return;
      ++world_.statistics().sets_lost;
      ++thread.serial;  // its hold is over
      return timer(world_.plan().callers_stop_late ? call_of(thread).hold : Span{}, end_hold, index);
    case SetStage::free:
      if (set.machine().failure()) ++world_.statistics().sets_refused;
      world_.sets().ended(set.id());
      thread.set.reset();
      return next_call(index);
    default:
      return;
  }
}

void Process::finish_hold_of_set(std::size_t index) {
  Thread& thread = threads_[index];
  const auto set = thread.set;
  if (thread.step_asides == 0 || set->machine().stage() != SetStage::held) {
    set->release();
    return;
  }
  --thread.step_asides;
  const Instant deadline =
      world_.random().chance(0.5) ? lock::never : now() + world_.random().between(milliseconds(1), milliseconds(60));
  set->told_held = false;
  set->set_deadline(deadline);
  set->step_aside(deadline);
}

// --- from the link ---

void Process::lingers(std::uint64_t contender) {
  const auto& set = threads_[thread_by_contender_.at(contender)].set;
  if (set) world_.sets().kept(set->id(), contender, set->machine().stage() == SetStage::releasing);
}

void Process::stepped_aside(std::uint64_t contender) {
  const auto& set = threads_[thread_by_contender_.at(contender)].set;
  if (set) world_.sets().asked(set->id(), contender, true);
}

void Process::contended(std::uint64_t contender, Priority waiting) {
  const Thread& thread = threads_[thread_by_contender_.at(contender)];
  const bool gives_way = thread.set && waiting < call_of(thread).priority && thread.set->machine().waits_for();
  if (gives_way) ++world_.statistics().set_gave_way;
}

}  // namespace forelock::simulation
