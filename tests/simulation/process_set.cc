// Threads whose calls are for several monitors: what the client's lock set does, under virtual time.
#include <algorithm>
#include <string>
#include <utility>

#include "process.h"
#include "sets/canonical_order.h"
#include "world.h"

namespace forelock::simulation {

using sets::SetStage;

void Process::begin_set(std::size_t index) {
  Thread& thread = threads_[index];
  const PlannedCall& call = call_of(thread);
  std::vector<std::string> names;
  for (const std::size_t monitor : call.set) names.emplace_back(1, monitor_names[monitor]);
  const std::vector<std::size_t> order = sets::canonical_order(names);
  thread.set = std::make_unique<SetCall>(order.size());
  SetCall& set = *thread.set;
  set.id = world_.sets().begun();
  set.deadline = call.patience > Span{} ? now() + call.patience : lock::never;
  for (const std::size_t member : order) set.monitors.push_back(call.set[member]);
  ++thread.serial;
  thread.step_asides = call.step_asides;
  thread.guarded_writes = call.guarded_writes;
  if (call.cancel_after > Span{}) timer(call.cancel_after, cancel_call, index);
  if (tracing()) trace("takes set " + std::to_string(set.id) + " of " + std::to_string(order.size()));
  set.machine.begin(call.try_once);
  follow_set(index);
}

void Process::carry_out(std::size_t index, const sets::Command& command) {
  SetCall& set = *threads_[index].set;
  Checker& checker = world_.checker();
  using Kind = sets::Command::Kind;
  if (command.kind == Kind::knock) return set.knocks.push_back(set.monitors[command.member]);
  knock(set);  // the order is that of the commands
  if (command.kind == Kind::try_once || command.kind == Kind::acquire) {
    PlannedCall one = call_of(threads_[index]);
    one.monitor = set.monitors[command.member];
    one.try_once = command.kind == Kind::try_once;
    const std::uint64_t next = ask(index, one, set.deadline);
    set.attempts[next] = command.attempt;
    set.contenders[command.attempt] = next;
    world_.sets().asked(set.id, next, !one.try_once);
    if (one.try_once) return;
    ++world_.statistics().set_waits;
    // A client does so when it has waited for some time.
    if (set.id % 3 == 0) want_contention(set);
    return;
  }
  const std::uint64_t contender = set.contenders.at(command.attempt);
  if (command.kind == Kind::step_aside) {
    const bool begun = link_.step_aside(contender, set.deadline);
    checker.step_aside_called(contender, begun, set.deadline);
    world_.sets().asked(set.id, contender, true);
  } else if (command.kind == Kind::prove) {
    link_.prove(contender);
  } else if (link_.engine().state(contender) != lock::ContenderState::held) {
    checker.cancel_called(contender, link_.cancel(contender));
  } else {
    const bool section_ended = set.machine.stage() == SetStage::releasing;
    if (!section_ended) link_.linger().given_back(contender);
    if (bool begun = false; link_.end_section(contender, begun)) {
      set.machine.released(command.attempt, lock::ReleaseOutcome::released);
      set.attempts.erase(contender);
      world_.sets().kept(set.id, contender, section_ended);
    }
  }
}

// Many at once.
void Process::knock(SetCall& set) {
  if (set.knocks.empty()) return;
  ++world_.statistics().set_knocks;
  std::vector<std::string> names;
  for (const std::size_t monitor : std::exchange(set.knocks, {})) names.emplace_back(1, monitor_names[monitor]);
  link_.knock(std::move(names));
}

void Process::want_contention(const SetCall& set) {
  for (const auto& [contender, attempt] : set.attempts) {
    lock::Engine& engine = link_.engine();
    if (engine.state(contender) == lock::ContenderState::held) engine.want_contention(contender, now());
  }
}

void Process::follow_set(std::size_t index) {
  Thread& thread = threads_[index];
  SetCall& set = *thread.set;
  for (auto commands = set.machine.take_commands(); !commands.empty(); commands = set.machine.take_commands()) {
    for (const sets::Command& command : commands) carry_out(index, command);
  }
  knock(set);
  if (set.machine.proving() && set.deadline != lock::never) {
    timer(std::max(set.deadline - now(), Span{}), proof_due, index);
  }
  switch (set.machine.stage()) {
    case SetStage::held: {
      std::vector<std::uint64_t> members(set.monitors.size());
      for (const auto& [contender, attempt] : set.attempts) {
        for (std::size_t i = 0; i < members.size(); ++i) {
          if (set.machine.holds(i) && world_.checker().at(contender).monitor == set.monitors[i]) members[i] = contender;
        }
      }
      world_.sets().held(set.id, members);
      if (!std::exchange(set.told_held, true)) {
        ++world_.statistics().sets_held;
        held(index);
      }
      return;
    }
    case SetStage::lost:
      if (std::exchange(set.told_lost, true)) return;
      ++world_.statistics().sets_lost;
      ++thread.serial;  // its hold is over
      set.machine.release();
      return follow_set(index);
    case SetStage::free:
      if (set.machine.failure()) ++world_.statistics().sets_refused;
      world_.sets().ended(set.id);
      thread.set.reset();
      return next_call(index);
    default:
      return;
  }
}

void Process::react_in_set(std::size_t index, const Reaction& reaction) {
  SetCall& set = *threads_[index].set;
  const auto found = set.attempts.find(reaction.contender);
  if (found == set.attempts.end()) return;
  const sets::AttemptId attempt = found->second;
  switch (reaction.what) {
    case Happening::granted:
      set.machine.granted(attempt, world_.checker().at(reaction.contender).token);
      break;
    case Happening::proved:
      set.machine.proved(attempt);
      break;
    case Happening::refused:
      set.machine.refused(attempt, reaction.refusal);
      break;
    case Happening::lost:
      set.machine.lost(attempt, reaction.loss);
      break;
    case Happening::released:
      set.machine.released(attempt, reaction.outcome);
      break;
    case Happening::outranked:
      if (set.machine.waits_for()) ++world_.statistics().set_gave_way;
      set.machine.outranked(attempt);
      break;
  }
  const bool ended =
      reaction.what == Happening::refused || reaction.what == Happening::lost || reaction.what == Happening::released;
  if (ended) set.attempts.erase(found);
  follow_set(index);
}

void Process::finish_hold_of_set(std::size_t index) {
  Thread& thread = threads_[index];
  SetCall& set = *thread.set;
  if (thread.step_asides > 0 && set.machine.stage() == SetStage::held) {
    --thread.step_asides;
    set.deadline =
        world_.random().chance(0.5) ? lock::never : now() + world_.random().between(milliseconds(1), milliseconds(60));
    set.told_held = false;
    set.machine.step_aside();
  } else {
    set.machine.release();
  }
  follow_set(index);
}

}  // namespace forelock::simulation
