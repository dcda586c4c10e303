// What the engines say.
#include "checker.h"

#include "describe.h"

namespace forelock::simulation {
namespace {

// How much later than due a timer may act: the driver's own delay of a tick, and the handling of its reply.
constexpr auto timer_slack = milliseconds(6);
// Until a removal has come to the holder's ears: a watch event and two requests.
constexpr auto removal_slack = milliseconds(250);

}  // namespace

Checker::Checker(const Plan& plan, model::Timeline& timeline, model::Ensemble& ensemble, Statistics& statistics,
                 Trace& trace)
    : plan_(plan),
      timeline_(timeline),
      ensemble_(ensemble),
      statistics_(statistics),
      trace_(trace),
      last_progress_(timeline.now()) {}

void Checker::fail(Invariant invariant, std::string text) {
  if (violation_) return;
  if (trace_.on()) trace_.add("VIOLATED", std::string(simulation::name_of(invariant)) + ": " + text);
  violation_ = {invariant, std::move(text)};
}

std::string Checker::name(std::uint64_t id) const {
  const Contender& one = contenders_[id - 1];
  return (one.process == nullptr ? "literal contender " : "contender ") + std::to_string(id) +
         (one.priority == Priority::foreground ? " (foreground)" : " (background)");
}

bool Checker::session_lives(const Contender& contender) const {
  return ensemble_.alive(contender.node_session);
}

bool Checker::believes(const Contender& contender) const {
  return contender.phase == Phase::held && !contender.robbed && contender.process != nullptr &&
         now() < contender.process->valid_until();
}

std::uint64_t Checker::add(const Believer* process, const PlannedCall& call, Instant deadline) {
  Contender contender;
  contender.process = process;
  contender.monitor = call.monitor;
  contender.priority = call.priority;
  contender.deadline = deadline;
  contender.called_at = now();
  contender.may_be_refused = call.queue_max > 0 || call.refuse_in_vain;
  contenders_.push_back(std::move(contender));
  const std::uint64_t id = contenders_.size();
  if (deadline != lock::never && process != nullptr) {
    timeline_.at(deadline + timer_slack + plan_.latest_tick, *this, call_due, id);
  }
  progress();
  return id;
}

void Checker::release_called(std::uint64_t id, bool begun) {
  Contender& one = at(id);
  if (begun != (one.phase == Phase::held)) {
    return fail(Invariant::one_ending,
                "release() of " + name(id) + (begun ? " begun, but it is not held" : " refused"));
  }
  if (!begun) return;
  one.phase = Phase::releasing;
  one.told_at_end = one.told;
  std::erase(held_, id);
}

void Checker::cancel_called(std::uint64_t id, bool begun) {
  if (begun && at(id).phase != Phase::done) fail(Invariant::one_ending, "cancel() of " + name(id) + " without refusal");
  if (!begun && at(id).phase == Phase::waiting)
    fail(Invariant::one_ending, "cancel() of a waiting " + name(id) + " failed");
}

void Checker::step_aside_called(std::uint64_t id, bool begun, Instant deadline) {
  Contender& one = at(id);
  if (begun != (one.phase == Phase::held)) {
    return fail(Invariant::one_ending, "step_aside() of " + name(id) + (begun ? " begun, not held" : " failed, held"));
  }
  if (!begun) return;
  ++statistics_.step_asides;
  one.phase = Phase::waiting;
  one.stepping_aside = true;
  one.told_at_end = one.told;
  one.deadline = deadline;
  std::erase(held_, id);
  if (deadline != lock::never) timeline_.at(deadline + timer_slack + plan_.latest_tick, *this, call_due, id);
}

void Checker::abandoned(std::uint64_t id) {
  end(id);
  at(id).forgotten = at(id).closing = true;
}

void Checker::end(std::uint64_t id) {
  at(id).phase = Phase::done;
  look_at_vacancy(at(id).monitor);
  std::erase(held_, id);
  std::erase(lingering_, id);
  progress();
}

void Checker::granted(std::uint64_t id, const lock::Grant& grant) {
  Contender& one = at(id);
  if (one.phase != Phase::waiting) return fail(Invariant::one_ending, name(id) + " granted, but it does not wait");
  ++statistics_.grants;
  one.phase = Phase::held;
  one.stepping_aside = one.giving_up_unknown = one.told_of_change = false;
  one.wish.reset();
  one.token = grant.token;
  one.granted_at = now();
  held_.push_back(id);
  look_at_vacancy(one.monitor);
  progress();
  Monitor& monitor = monitors_[one.monitor];
  if (grant.token != one.claim_zxid) {
    return fail(Invariant::tokens_rise, name(id) + " granted with token " + std::to_string(grant.token) +
                                            ", but its claim was " + std::to_string(one.claim_zxid));
  }
  if (grant.token <= monitor.last_token && !one.robbed) {
    return fail(Invariant::tokens_rise, name(id) + " granted with token " + std::to_string(grant.token) + " after " +
                                            std::to_string(monitor.last_token));
  }
  monitor.last_token = std::max(monitor.last_token, grant.token);
  for (const auto& [other, node] : one.passed) {
    const Contender& before = at(other);
    if (!waits(before) || before.node != node) continue;  // it gave up while the proof was on its way
    // Its name is that of a node of the holder's process which an administrator has deleted with the monitor: nothing
    // tells whose it is (docs/protocol.md, "Limits").
    if (monitor.undecidable && had_name(*one.process, one.monitor, node)) continue;
    return fail(before.rank == one.rank ? Invariant::fifo : Invariant::foreground_first,
                name(id) + " granted while " + name(other) + " waits with " + before.node);
  }
  timeline_.at(now() + timer_slack + plan_.latest_tick, *this, loss_due, id);
  if (undone_by_hand(one)) timeline_.at(now() + removal_slack + one.hold_watch_later, *this, removal_due, id);
}

// Whether somebody else has held or waited since this contender's call, by the truth or within its process.
bool Checker::anybody_beside(std::uint64_t id) const {
  const Contender& one = contenders_[id - 1];
  const Monitor& monitor = monitors_[one.monitor];
  // A leader that was deposed answers by what was so then, for as long as it takes itself for the leader.
  const bool deposed = std::any_of(plan_.faults.begin(), plan_.faults.end(), [](const PlannedFault& fault) {
    return fault.kind == FaultKind::deposed || fault.kind == FaultKind::divided;
  });
  const Instant since = deposed ? one.called_at - plan_.sync_limit : one.called_at;
  if (monitor.owner != 0 || !monitor.nodes.empty() || monitor.foreign || monitor.busy_until >= since) return true;
  return std::any_of(contenders_.begin(), contenders_.end(), [&](const Contender& other) {
    return &other != &one && other.process == one.process && other.monitor == one.monitor && !other.forgotten;
  });
}

void Checker::refused(std::uint64_t id, lock::RefusalReason reason, Span down_for) {
  if (at(id).phase != Phase::waiting) {
    return fail(Invariant::one_ending, name(id) + " refused, but it does not wait");
  }
  if (reason == lock::RefusalReason::timed_out && now() < at(id).deadline) {
    return fail(Invariant::in_time, name(id) + " refused before its deadline");
  }
  const bool gave_up = reason == lock::RefusalReason::connection_lost && now() < at(id).deadline;
  if (gave_up && down_for < plan_.engine.give_up_after) {
    return fail(Invariant::in_time, name(id) + " is given up before the outage has lasted for long enough");
  }
  if (reason == lock::RefusalReason::unavailable && !anybody_beside(id)) {
    return fail(Invariant::outcomes, name(id) + " refused as unavailable, but nobody was there");
  }
  if (reason == lock::RefusalReason::not_admitted) {
    if (!at(id).may_be_refused) return fail(Invariant::outcomes, name(id) + " is refused although it may wait");
    ++statistics_.not_admitted;
  }
  ++statistics_.refusals;
  at(id).told_at_end = at(id).told;
  end(id);
}

void Checker::lost(std::uint64_t id, LossReason reason) {
  Contender& one = at(id);
  // Whoever steps aside may learn of a deletion by hand in the course of it.
  const bool too_late = one.phase == Phase::waiting && one.stepping_aside && one.deleted_by_hand;
  const bool kept = one.phase == Phase::held || one.phase == Phase::lingering;
  if (!kept && !(too_late && reason == LossReason::removed)) {
    return fail(Invariant::one_ending, name(id) + " lost, but it was not held");
  }
  const Believer& process = *one.process;
  if (reason == LossReason::removed && !undone_by_hand(one)) {
    return fail(Invariant::told_of_loss, name(id) + " is told that its lock was removed, which nobody has done");
  }
  if (reason == LossReason::session_expired && session_lives(one)) {
    return fail(Invariant::told_of_loss, name(id) + " is told that its session has expired, but it lives");
  }
  if (reason == LossReason::deadline_passed && now() < process.valid_until()) {
    return fail(Invariant::told_of_loss, name(id) + " is told that its time is over, but it is not");
  }
  ++statistics_.losses;
  one.told_at_end = one.told || reason == LossReason::removed;
  end(id);
}

bool Checker::had_name(const Believer& process, std::size_t monitor, const std::string& node) const {
  return std::any_of(contenders_.begin(), contenders_.end(), [&](const Contender& other) {
    return other.process == &process && other.monitor == monitor && other.deleted_by_hand_once &&
           other.last_node == node;
  });
}

// An administrator has deleted the node of another contender that had the same name.
bool Checker::has_namesake(const Contender& one) const {
  return std::any_of(contenders_.begin(), contenders_.end(), [&](const Contender& other) {
    return &other != &one && other.monitor == one.monitor && other.deleted_by_hand_once &&
           other.last_node == one.last_node;
  });
}

void Checker::released(std::uint64_t id, lock::ReleaseOutcome outcome) {
  Contender& one = at(id);
  if (one.phase != Phase::releasing) {
    return fail(Invariant::one_ending, name(id) + " released, but no release was begun");
  }
  if (outcome == lock::ReleaseOutcome::released && owner(one.monitor) == id && !one.robbed) {
    return fail(Invariant::nothing_left, name(id) + " released, but privateLock is still its own");
  }
  const bool by_hand = undone_by_hand(one) || one.lock_end == LockEnd::other_request;
  switch (outcome) {
    case lock::ReleaseOutcome::released:
      if (one.lock_end == LockEnd::own_request || one.giving_up_unknown) break;
      // Its node's name and its version may be those of the next one's, who is robbed by it: docs/protocol.md,
      // "Limits".
      if (monitors_[one.monitor].undecidable) break;
      if ((one.deleted_by_hand_once || one.robbed) && one.node_zxid < monitors_[one.monitor].made_by) break;
      // Or those of a former one, who has given back this one's lock for its own and taken it again.
      if (one.robbed && has_namesake(one)) break;
      return fail(Invariant::outcomes, name(id) + " released, but it was not its release that removed the lock");
    case lock::ReleaseOutcome::gone:
      if (by_hand && one.lock_end != LockEnd::own_request) break;
      if (by_hand && one.lock_end == LockEnd::own_request && one.deleted_by_hand) break;
      return fail(Invariant::outcomes, name(id) + " is told that its lock was gone, but it released it itself");
    case lock::ReleaseOutcome::session_expired:
      if (one.closing || !session_lives(one)) break;
      return fail(Invariant::outcomes, name(id) + " is told that its session has expired, but it lives");
  }
  ++statistics_.releases;
  end(id);
}

void Checker::forgotten(std::uint64_t id) {
  Contender& one = at(id);
  if (one.forgotten) return fail(Invariant::one_ending, name(id) + " forgotten twice");
  one.forgotten = true;
  progress();
  if (one.phase != Phase::done) return fail(Invariant::one_ending, name(id) + " forgotten without an ending");
  if (one.closing) return;
  if (!one.node.empty() && session_lives(one)) {
    return fail(Invariant::nothing_left, name(id) + " forgotten, but its node " + one.node + " is still there");
  }
  const Monitor& monitor = monitors_[one.monitor];
  // A record can be written into somebody else's privateLock: docs/protocol.md, "Limits", the last one.
  const bool own = monitor.owner == id && monitor.owner_session == one.node_session;
  if (own && session_lives(one)) {
    fail(Invariant::nothing_left, name(id) + " forgotten, but it still owns privateLock");
  }
}

void Checker::before_call(const Believer& process) {
  if (held_.empty() || now() < process.valid_until()) return;
  std::copy_if(held_.begin(), held_.end(), std::back_inserter(overdue_),
               [&](std::uint64_t id) { return at(id).process == &process; });
}

void Checker::check_beliefs(const Believer& process) {
  for (const std::uint64_t id : without_monitor_) {
    if (at(id).phase != Phase::held) continue;
    return fail(Invariant::told_of_loss, name(id) + " still held, though its process knows that its monitor is gone");
  }
  without_monitor_.clear();
  for (const std::uint64_t id : overdue_) {
    if (at(id).phase != Phase::held) continue;
    return fail(Invariant::told_of_loss, name(id) + " still held after a call that came when its time was over");
  }
  overdue_.clear();
  check_lingering(process);
  for (const std::uint64_t id : held_) {
    const Contender& one = at(id);
    if (one.process != &process || !believes(one) || owner(one.monitor) == id) continue;
    return fail(Invariant::one_holder, name(id) + " believes to hold, but privateLock is " +
                                           (owner(one.monitor) == 0 ? "gone" : "owned by " + name(owner(one.monitor))));
  }
}

void Checker::watch_delivered(const Believer& process, const coordination::WatchEvent& event) {
  const std::size_t monitor = monitor_in(event.path);
  if (monitor == max_monitors) return;
  if (event.kind == coordination::WatchEvent::Kind::children_changed) {
    for (const auto* kept : {&held_, &lingering_}) {
      for (const std::uint64_t id : *kept) {
        if (at(id).process == &process && at(id).monitor == monitor) at(id).told_of_change = true;
      }
    }
  }
  if (event.kind != coordination::WatchEvent::Kind::deleted) return;
  if (event.path == monitor_path(monitor)) {
    for (const std::uint64_t id : held_) {
      if (at(id).process == &process && at(id).monitor == monitor) without_monitor_.push_back(id);
    }
  }
  if (event.path != lock_path(monitor) && event.path != monitor_path(monitor)) return;
  for (Contender& one : contenders_) {
    // What comes before the answer to a claim was there before it: it tells of an earlier lock.
    if (one.phase == Phase::waiting) continue;
    if (one.deleted_by_hand && one.process == &process && one.monitor == monitor) one.told = true;
  }
}

void Checker::session_ended(const Believer& process) {
  for (std::size_t i = 0; i < contenders_.size(); ++i) {
    const Contender& one = contenders_[i];
    if (one.process != &process || one.phase == Phase::done) continue;
    return fail(Invariant::one_ending, name(i + 1) + " was not told that the session has ended");
  }
}

void Checker::fire(std::uint32_t what, std::uint64_t detail) {
  if (violation_) return;
  if (what == nesting_due) return look_at_nesting(detail);
  if (what == ageing_due) return ageing_lasts(detail % max_monitors, detail / max_monitors);
  if (what == vacancy_due) return vacancy_lasts(detail % max_monitors, detail / max_monitors);
  if (what == wish_due) return wish_lasts(detail);
  const Contender& one = at(detail);
  const auto again = [&](Instant when) { timeline_.at(when, *this, what, detail); };
  switch (what) {
    case call_due: {
      if (one.phase != Phase::waiting || one.deadline == lock::never) return;
      // A set may ask for a member when its time is over already.
      const Instant from = std::max({one.deadline, one.called_at, one.process->awake_since()});
      const Instant due = from + timer_slack + plan_.latest_tick;
      if (now() < due) return again(due);
      return fail(Invariant::in_time, name(detail) + " still waits after its deadline");
    }
    case loss_due: {
      if (one.phase != Phase::held || one.process->valid_until() == lock::never) return;
      const Instant due =
          std::max(one.process->valid_until(), one.process->awake_since()) + timer_slack + plan_.latest_tick;
      if (now() < due) return again(due);
      return fail(Invariant::told_of_loss, name(detail) + " still held though the session is not proved alive");
    }
    case linger_due: {
      if (one.phase != Phase::lingering) return;
      const Span longest = std::max(plan_.linger.time, plan_.linger.delay);
      const Instant end = std::max(one.lingers_since + longest, one.process->awake_since());
      const Instant due = end + timer_slack + plan_.latest_tick;
      if (now() < due) return again(due);
      return fail(Invariant::lingering, name(detail) + " still lingers after its time");
    }
    default: {
      if (one.phase != Phase::held || !undone_by_hand(one)) return;  // or it was granted anew
      if (plan_.engine.watched_bytes < enough_to_watch_all) return;
      const Instant watched = one.granted_at + plan_.engine.hold_watch_delay + one.hold_watch_later;
      const Instant since = std::max({one.robbed_at, watched, one.process->awake_since(), one.process->calm_since()});
      const Instant due = since + removal_slack + 2 * plan_.latest_tick;
      if (now() < due) return again(due);
      return fail(Invariant::told_of_loss,
                  name(detail) + " was never told that its node or its privateLock was removed");
    }
  }
}

}  // namespace forelock::simulation
