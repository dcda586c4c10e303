// The replies with which a contender ends or goes back to the queue: releases, yields, refusals, nodes that are gone.
#include "lock/engine.h"
#include "lock/limits.h"
#include "lock/monitor.h"
#include "lock/mutation.h"

namespace forelock::lock {

using coordination::Effect;
using coordination::effect_of;
using coordination::Reply;
using coordination::ReplyCode;

void Monitor::on_release(Contender& contender, const Reply& reply, TimePoint now) {
  if (releasing_ == &contender) releasing_ = nullptr;
  if (reply.ok()) {
    const bool renew = contender.number >= counter_alarm && all_.size() == 1;
    if (!contender.abandoned) engine_.finish_release(contender, ReleaseOutcome::released);
    engine_.forget(contender);
    // An empty monitor near its counter's end is removed: the next one starts at 0. Harmless if it is not empty.
    if (renew) send({.kind = FlightKind::remove_monitor}, coordination::Delete{path_}, now);
    return;
  }
  if (effect_of(reply.code) == Effect::unknown) {
    contender.release_unknown = true;
    engine_.explain(contender, CourseStep::reply_lost);
    if (mutated(Mutation::unknown_release_assumed_done)) {
      if (!contender.abandoned) engine_.finish_release(contender, ReleaseOutcome::released);
      engine_.forget(contender);
    }
    need_resolve(now + look_again_after);
  } else {
    const bool removed = reply.code == ReplyCode::no_node || reply.code == ReplyCode::bad_version;
    need_resolve(removed ? now : now + look_again_after);
  }
}

void Monitor::on_yield(Contender& contender, const Reply& reply, TimePoint now) {
  lock_.in_flight = false;
  if (reply.ok()) {
    if (owner_ == &contender) owner_ = nullptr;
    contender.claimed_at_creation = false;
    contender.proof_requested = false;
    back_to_queue(contender);
    if (contender.abandoned) remove_node(contender, now);
  } else {
    const bool unknown = effect_of(reply.code) == Effect::unknown;
    if (unknown) contender.release_unknown = true;
    if (unknown) engine_.explain(contender, CourseStep::reply_lost);
    need_resolve(unknown ? now + look_again_after : now);
  }
}

void Monitor::on_remove_node(Contender& contender, const Reply& reply, TimePoint now) {
  contender.removing = false;
  bool certain = reply.ok() || reply.code == ReplyCode::no_node;
  if (mutated(Mutation::cleanup_gives_up)) certain = true;
  if (certain) {
    engine_.forget(contender);
  } else {
    need_resolve(now + look_again_after);
  }
}

void Monitor::reject(Contender& contender, ReplyCode code, TimePoint now) {
  if (!contender.abandoned) engine_.refuse(contender, {.reason = RefusalReason::rejected, .code = code});
  if (contender.node.empty()) {
    engine_.forget(contender);
  } else {
    contender.move_to(ContenderState::waiting);
    remove_node(contender, now);
  }
}

void Monitor::reject_all(ReplyCode code, TimePoint now) {
  const auto all = all_;
  for (const auto& [arrival, contender] : all) {
    const ContenderState state = contender->state;
    if (contender->abandoned || state == ContenderState::held || state == ContenderState::releasing) continue;
    engine_.refuse(*contender, {.reason = RefusalReason::rejected, .code = code});
    abandon(*contender, now);
  }
}

// The monitor was not there when a contender's node was to be made: every request that was on its way meets that,
// but only those sent since we last made it say that it has vanished again.
void Monitor::monitor_gone(const Flight& flight, Contender& contender, TimePoint now) {
  if (node_.exists && flight.creation == node_.creations) {
    monitor_missing();
    if (!contender.abandoned && ++misses_ > max_misses) return reject(contender, ReplyCode::no_node, now);
  }
  own_node_gone(contender);
}

// The contender's node is not (any more) in the queue: it starts anew, at the end.
void Monitor::own_node_gone(Contender& contender) {
  if (const auto node = nodes_.find(contender.node); node != nodes_.end() && node->second == &contender)
    nodes_.erase(node);
  queue_.erase(&contender);
  contender.node.clear();
  contender.clear = contender.claimed_at_creation = contender.proof_requested = contender.node_watched = false;
  contender.position.reset();
  start_anew(contender);
  if (contender.abandoned) return engine_.forget(contender);
  engine_.explain(contender, CourseStep::node_gone);
  contender.move_to(ContenderState::idle);
  idle_.insert({contender.arrival, &contender});
}

void Monitor::back_to_queue(Contender& contender) {
  contender.stepping_aside = contender.release_unknown = false;
  contender.move_to(ContenderState::waiting);
  if (contender.abandoned) return;
  queue_.insert(&contender);
  want_rank(contender, contender.moving.wanted_rank);
}

// Whom of this process it waits behind; of others, the next listing tells.
void Monitor::explain_queued(const Contender& contender) {
  if (!engine_.explains()) return;
  engine_.explain(contender, CourseStep::queued, contender.node);
  if (contender.clear) engine_.explain(contender, CourseStep::numbered_first);
  const auto index = queue_.index_of(&contender);
  const Contender* before = index && *index > 0 ? &queue_.at(*index - 1) : owner_;
  if (before) engine_.explain(contender, CourseStep::behind, before->node);
}

void Monitor::outcome_unknown(Contender& contender, TimePoint now) {
  engine_.explain(contender, CourseStep::reply_lost);
  contender.move_to(ContenderState::resolving);
  need_resolve(now + look_again_after);
}

void Monitor::need_resolve(TimePoint not_before) {
  resolving_.needed = resolving_.barrier_needed = true;
  if (owner_) engine_.withhold(*owner_);  // the resolving proves it again, or not
  resolving_.not_before = not_before;
  engine_.set_poll(*this, not_before);
}

}  // namespace forelock::lock
