// Calls, and the answers to them.
#include "lock/engine.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "lock/limits.h"
#include "lock/monitor.h"
#include "lock/mutation.h"

namespace forelock::lock {

Engine::Engine(EngineOptions options, EngineOutput& output)
    : options_(std::move(options)),
      output_(output),
      watches_(options_.watched_bytes, options_.root_bytes),
      unused_(options_.monitor_linger) {}

Engine::~Engine() = default;

Contender* Engine::find(ContenderId id) const {
  const auto found = contenders_.find(id);
  return found == contenders_.end() ? nullptr : found->second.get();
}

Contender* Engine::find_holder(ContenderId id) const {
  Contender* contender = find(id);
  return contender && !contender->abandoned && contender->state == ContenderState::held ? contender : nullptr;
}

// --- calls ---

void Engine::acquire(ContenderId id, AcquireSpec spec, TimePoint now) {
  enforce_deadline(now);
  evict(now);
  auto owned = std::make_unique<Contender>();
  Contender& contender = *owned;
  contender.id = id;
  contender.arrival = next_arrival_++;
  contender.spec = std::move(spec);
  contender.rank = contender.moving.wanted_rank = contender.first_rank();
  contenders_.emplace(id, std::move(owned));
  Monitor& monitor = monitor_of(contender.spec.monitor);
  contender.monitor = &monitor;
  became_busy(monitor);
  if (!started_) {
    started_ = true;
    if (!connected_ && outage_.since == never) outage_.since = now;
  }
  set_deadline(contender, contender.spec.deadline);
  contender.disconnected_before = disconnected(now);
  monitor.add(contender, now);
  if (closed_) {
    refuse(contender, {.reason = RefusalReason::closed});
    monitor.abandon(contender, now);
  } else if (outage_.gave_up && !connected_) {
    refuse(contender, {.reason = RefusalReason::connection_lost});
    monitor.abandon(contender, now);
  } else {
    monitor.settle(now);
  }
}

bool Engine::release(ContenderId id, TimePoint now) {
  enforce_deadline(now);
  Contender* contender = find_holder(id);
  if (contender == nullptr) return false;
  contender->monitor->release(*contender, now);
  return true;
}

bool Engine::cancel(ContenderId id, TimePoint now) {
  enforce_deadline(now);
  Contender* contender = find(id);
  if (!contender || contender->abandoned) return false;
  if (contender->state == ContenderState::held || contender->state == ContenderState::releasing) return false;
  refuse(*contender, {.reason = RefusalReason::cancelled});
  contender->monitor->abandon(*contender, now);
  return true;
}

bool Engine::step_aside(ContenderId id, TimePoint deadline, TimePoint now) {
  enforce_deadline(now);
  Contender* contender = find_holder(id);
  if (contender == nullptr) return false;
  end_hold(*contender);
  set_deadline(*contender, deadline);
  contender->disconnected_before = disconnected(now);
  contender->monitor->step_aside(*contender, now);
  return true;
}

bool Engine::set_priority(ContenderId id, Priority priority, RecordText record, TimePoint now) {
  enforce_deadline(now);
  Contender* contender = find(id);
  if (!contender || contender->abandoned) return false;
  return contender->monitor->set_priority(*contender, priority, std::move(record), now);
}

void Engine::raise(ContenderId id, Priority rank, TimePoint now) {
  enforce_deadline(now);
  Contender* contender = find(id);
  if (contender && !contender->abandoned) contender->monitor->raise(*contender, rank, now);
}

std::optional<Priority> Engine::waiting_behind(ContenderId id) const {
  const Contender* contender = find_holder(id);
  return contender ? contender->monitor->most_urgent_waiting() : std::nullopt;
}

bool Engine::moved(ContenderId id) const {
  const Contender* contender = find(id);
  return contender && contender->rank != contender->spec.priority;
}

bool Engine::update_record(ContenderId id, std::string holder_record, TimePoint now) {
  enforce_deadline(now);
  Contender* contender = find_holder(id);
  if (contender == nullptr) return false;
  contender->monitor->update_record(*contender, std::move(holder_record), now);
  return true;
}

bool Engine::prove(ContenderId id, TimePoint now) {
  enforce_deadline(now);
  Contender* contender = find_holder(id);
  if (contender == nullptr) return false;
  want_proof(*contender, now);
  return true;
}

void Engine::want_proof(Contender& contender, TimePoint now) {
  if (contender.hold.proof_again_at != never)
    timers_.erase({contender.hold.proof_again_at, {contender.id, Timer::proof}});
  contender.hold.proof_again_at = never;
  contender.hold.proof_wanted = true;
  contender.monitor->settle(now);
}

void Engine::proved(Contender& contender, TimePoint now) {
  if (!certain_for_a_while(now)) return prove_later(contender, now);
  output_.proved(contender.id);
}

void Engine::prove_later(Contender& contender, TimePoint now) {
  if (contender.hold.proof_again_at != never) return;
  contender.hold.proof_again_at = now + look_again_after;
  timers_.insert({contender.hold.proof_again_at, {contender.id, Timer::proof}});
}

void Engine::want_contention(ContenderId id, TimePoint now) {
  enforce_deadline(now);
  Contender* contender = find(id);
  if (contender == nullptr) return;
  contender->spec.contention = ContentionScope::all;
  contender->monitor->settle(now);
}

bool Engine::others_known(ContenderId id) const {
  const Contender* contender = find(id);
  return contender != nullptr && contender->monitor->others_known();
}

std::optional<std::vector<coordination::Operation>> Engine::guard(ContenderId id) const {
  const Contender* contender = find_holder(id);
  if (contender == nullptr) return std::nullopt;
  auto checks = contender->monitor->guard(*contender);
  if (checks.empty()) return std::nullopt;
  return checks;
}

void Engine::close(TimePoint now) {
  enforce_deadline(now);
  closed_ = true;
  remove_unused_last(now);
  end_all(RefusalReason::closed, LossReason::closed, ReleaseOutcome::session_expired);
}

// Everything ended with the session: nothing is left on the server that would have to be removed.
void Engine::end_all(RefusalReason refusal, LossReason loss, ReleaseOutcome release) {
  flights_.clear();
  watches_.clear();
  heartbeat_in_flight_ = false;
  std::vector<ContenderId> ids;
  ids.reserve(contenders_.size());
  for (const auto& [id, contender] : contenders_) ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  for (const ContenderId id : ids) {
    Contender& contender = *find(id);
    if (!contender.abandoned) {
      if (contender.state == ContenderState::held) {
        if (mutated(Mutation::expired_holder_keeps_lock)) continue;
        lose(contender, loss);
      } else if (contender.state == ContenderState::releasing) {
        finish_release(contender, release);
      } else {
        refuse(contender, {.reason = refusal});
      }
    }
    forget(contender);
  }
  if (mutated(Mutation::expired_holder_keeps_lock)) return;
  if (mutated(Mutation::number_proof_across_reconnect)) return;
  unused_.session_ended();
  for (const auto& [name, monitor] : monitors_) {
    if (monitor->removable()) unused_.remove(name, UnusedMonitors::Mark::doubtful);
  }
  idle_.clear();
  idle_bytes_ = 0;
  polls_.clear();
  by_ordinal_.clear();
  monitors_.clear();
}

std::optional<ContenderState> Engine::state(ContenderId id) const {
  const Contender* contender = find(id);
  if (!contender) return std::nullopt;
  return contender->abandoned ? ContenderState::leaving : contender->state;
}

// --- answers to callers ---

// After an outage of nearly a time-out there is still some left, but a lock that was granted then would be lost before
// the next proof can come, although nothing fails any more. That proof may take two answers from when it is asked for.
bool Engine::certain_for_a_while(TimePoint now) const {
  const TimePoint until = valid_until();
  const TimePoint next_proof = proof_.worth_asking();
  return now < until && (next_proof == never || next_proof < until - timeout_ / 8);
}

void Engine::grant(Contender& contender, TimePoint now) {
  bool alive = certain_for_a_while(now);
  if (mutated(Mutation::grant_after_deadline)) alive = true;
  if (!alive) {
    explain(contender, CourseStep::session_unproved);
    pending_grants_.insert(contender.id);  // until a heartbeat has proved that the session lives
    return;
  }
  pending_grants_.erase(contender.id);
  set_deadline(contender, never);
  contender.move_to(ContenderState::held);
  held_.insert(contender.id);
  contender.hold.watch_at = now + options_.hold_watch_delay + contender.spec.hold_watch_later;
  timers_.insert({contender.hold.watch_at, {contender.id, Timer::hold_watch}});
  output_.granted(contender.id, {contender.token, contender.node});
  contender.monitor->granted(now);
}

// No watch has told of a removal in the meantime, so the servers are asked whether it still has its lock.
void Engine::grant_pending(TimePoint now) {
  if (!certain_for_a_while(now)) return;
  const std::vector<ContenderId> pending(pending_grants_.begin(), pending_grants_.end());
  for (const ContenderId id : pending) {
    Contender* contender = find(id);
    if (!contender || contender->abandoned) {
      pending_grants_.erase(id);
    } else if (mutated(Mutation::late_grant_unasked)) {
      pending_grants_.erase(id);
      grant(*contender, now);
      contender->monitor->settle(now);
    } else {
      contender->monitor->confirm(*contender, now);
    }
  }
}

void Engine::refuse(Contender& contender, Refusal refusal) {
  cancel_timers(contender);
  contender.abandoned = true;
  refusal.position = contender.monitor->position_of(contender);
  if (refusal.position) {
    refusal.before = contender.monitor->waiting_before(contender);
    refusal.wait_left = contender.monitor->predicted_wait(contender.spec.priority, refusal.position->place);
  }
  refusal.disconnected = outage_.before - contender.disconnected_before;
  output_.refused(contender.id, refusal);
}

void Engine::lose(Contender& contender, LossReason reason) {
  end_hold(contender);
  contender.abandoned = true;
  output_.lost(contender.id, reason);
}

void Engine::finish_release(Contender& contender, ReleaseOutcome outcome) {
  cancel_timers(contender);
  contender.abandoned = true;
  output_.released(contender.id, outcome);
}

void Engine::forget(Contender& contender) {
  cancel_timers(contender);
  held_.erase(contender.id);
  Monitor& monitor = *contender.monitor;
  monitor.drop(contender);
  const ContenderId id = contender.id;
  contenders_.erase(id);
  output_.forgotten(id);
  if (monitor.idle()) became_idle(monitor);
}

void Engine::end_hold(Contender& contender) {
  held_.erase(contender.id);
  cancel_timers(contender);
}

void Engine::cancel_timers(Contender& contender) {
  if (contender.spec.deadline != never) timers_.erase({contender.spec.deadline, {contender.id, Timer::deadline}});
  if (contender.hold.watch_at != never) timers_.erase({contender.hold.watch_at, {contender.id, Timer::hold_watch}});
  if (contender.hold.proof_again_at != never)
    timers_.erase({contender.hold.proof_again_at, {contender.id, Timer::proof}});
  set_move(contender, never);
  contender.hold.watch_at = contender.hold.proof_again_at = never;
  pending_grants_.erase(contender.id);
}

void Engine::set_deadline(Contender& contender, TimePoint deadline) {
  if (contender.spec.deadline != never) timers_.erase({contender.spec.deadline, {contender.id, Timer::deadline}});
  contender.spec.deadline = deadline;
  if (deadline != never) timers_.insert({deadline, {contender.id, Timer::deadline}});
}

void Engine::set_move(Contender& contender, TimePoint at) {
  if (contender.moving.at == at) return;
  if (contender.moving.at != never) timers_.erase({contender.moving.at, {contender.id, Timer::move}});
  contender.moving.at = at;
  if (at != never) timers_.insert({at, {contender.id, Timer::move}});
}

TimePoint Engine::next_unwatched_look(TimePoint now) {
  // Not behind the turns of waits that have ended: they are nobody's now.
  const TimePoint last = now + unwatched_interval + between_unwatched_looks * polls_.size();
  last_unwatched_look_ =
      std::min(last, std::max(now + unwatched_interval, last_unwatched_look_ + between_unwatched_looks));
  return last_unwatched_look_;
}

void Engine::set_poll(Monitor& monitor, TimePoint at) {
  if (monitor.poll_at == at) return;
  if (monitor.poll_at != never) polls_.erase({monitor.poll_at, monitor.ordinal()});
  monitor.poll_at = at;
  if (at != never) polls_.insert({at, monitor.ordinal()});
}

}  // namespace forelock::lock
