// What replies mean. A reply has one of three effects: applied, not applied, or unknown; unknown always ends in
// resolving (monitor_resolve.cc), never in a repetition, but for the creation of the monitor's own node.
#include <string>
#include <utility>

#include "lock/engine.h"
#include "lock/limits.h"
#include "lock/monitor.h"
#include "lock/mutation.h"

namespace forelock::lock {

using coordination::Effect;
using coordination::effect_of;
using coordination::Reply;
using coordination::ReplyCode;

namespace {

std::string last_component(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

void Monitor::on_reply(const Flight& flight, Reply reply, TimePoint now) {
  --outstanding_;
  // If it is there, others have made it. What was read of it meanwhile stays known: a watch was set with that.
  if (flight.kind == FlightKind::fresh_claim && !reply.ok() && !headcount_.watched()) node_.removable = false;
  Contender* contender = flight.contender == 0 ? nullptr : engine_.find(flight.contender);
  // As a rule the session's end follows, and settles everything.
  if (reply.code == ReplyCode::session_expired && contender) ++contender->told_expired;
  take_reply(flight, contender, std::move(reply), now);
  settle(now);
}

void Monitor::take_reply(const Flight& flight, Contender* contender, Reply reply, TimePoint now) {
  switch (flight.kind) {
    case FlightKind::create_monitor:
      return on_create_monitor(reply, now);
    case FlightKind::fresh_claim:
    case FlightKind::fast_claim:
      return on_fast_claim(flight, *contender, reply, now);
    case FlightKind::enqueue:
      return on_enqueue(flight, *contender, reply, now);
    case FlightKind::move:
      return on_move(flight, *contender, reply, now);
    case FlightKind::claim:
      return on_claim(*contender, reply, now);
    case FlightKind::hand_over:
      return on_hand_over(contender, engine_.find(flight.next), reply, now);
    case FlightKind::release:
      if (contender) on_release(*contender, reply, now);
      return;
    case FlightKind::yield:
      return on_yield(*contender, reply, now);
    case FlightKind::prove_hold:
      if (contender) on_prove_hold(*contender, reply, now);
      return;
    case FlightKind::remove_node:
      if (contender) on_remove_node(*contender, reply, now);
      return;
    case FlightKind::list:
      return on_list(flight, std::move(reply), now);
    case FlightKind::watch_lock:
      return on_watch_lock(flight, reply, now);
    case FlightKind::watch_node:
      if (contender) on_watch_node(flight, *contender, reply, now);
      return;
    case FlightKind::watch_parent:
      return on_watch_parent(flight, reply, now);
    case FlightKind::watch_predecessor:
      return on_watch_predecessor(flight, reply, now);
    case FlightKind::update_record:
      if (!reply.ok() && contender && owner_ == contender) need_resolve(now + look_again_after);
      return;
    case FlightKind::remove_lock:
      return on_remove_lock(contender, reply, now);
    case FlightKind::remove_monitor:
      return on_remove_monitor(reply);
    case FlightKind::resolve_barrier:
    case FlightKind::resolve_list:
    case FlightKind::resolve_lock:
    case FlightKind::resolve_node:
      return on_resolve_reply(flight, std::move(reply), now);
    case FlightKind::catch_up:
      return on_caught_up(contender, reply);
    case FlightKind::unwatch:
    case FlightKind::knock:
    case FlightKind::remove_unused:
    case FlightKind::look_at_unused:
    case FlightKind::heartbeat:
    case FlightKind::ping:
      return;
  }
}

// --- the monitor itself ---

void Monitor::on_create_monitor(const Reply& reply, TimePoint now) {
  if (reply.ok()) return made_by_us(now);
  if (reply.code == ReplyCode::node_exists) return;
  node_.exists = false;
  if (effect_of(reply.code) == Effect::not_applied) reject_all(reply.code, now);
}

void Monitor::on_remove_lock(Contender* contender, const Reply& reply, TimePoint now) {
  if (!reply.ok() && reply.code != ReplyCode::no_node) {
    // Not known, or still there: its version has changed, where another process took it for its own.
    need_resolve(now + look_again_after);
  } else if (!contender) {
    lock_.stray = false;
  } else if (contender->abandoned) {
    engine_.forget(*contender);
  } else {
    contender->move_to(ContenderState::idle);
    idle_.insert({contender->arrival, contender});
  }
}

void Monitor::on_remove_monitor(const Reply& reply) {
  if (reply.ok() || reply.code == ReplyCode::no_node) monitor_missing();
  node_.blocked = false;
  listing_.expire();
}

void Monitor::made_by_us(TimePoint now) {
  if (node_.kept || engine_.options().monitor_linger == Duration()) return;
  node_.removable = true;
  node_.mark = UnusedMonitors::Mark::seen;
  linger(now);
}

void Monitor::linger(TimePoint now) {
  if (!std::exchange(node_.lingers, true)) engine_.let_linger(*this, now);
}

void Monitor::knocked() {
  if (!headcount_.watched()) node_.exists = node_.shown_by_knock = true;
}

void Monitor::monitor_missing() {
  node_.exists = node_.shown_by_knock = node_.removable = looks_.queue_expected = looks_.outranked = false;
  headcount_.monitor_gone();
  node_.blocked = false;
  listing_.forget();
}

// --- claims ---

void Monitor::on_fast_claim(const Flight& flight, Contender& contender, const Reply& reply, TimePoint now) {
  lock_.in_flight = false;
  claiming_at_once_ = nullptr;
  const bool fresh = flight.kind == FlightKind::fresh_claim;
  if (reply.ok()) {
    const std::size_t own = fresh ? 1 : 0;  // of its operations, the one that creates the node
    if (fresh) {
      node_.exists = true;
      made_by_us(now);
    } else {
      look_if_made_anew(now);
    }
    contender.node = last_component(reply.operations[own].path);
    const auto name = parse_contender_name(contender.node);
    contender.number = name ? name->number : 0;
    nodes_[contender.node] = &contender;
    misses_ = 0;
    looks_.queue_expected = false;
    contender.claimed_at_creation = true;
    contender.token = reply.operations[own + 2].stat.mzxid;
    lock_.version = reply.operations[own + 2].stat.version;
    contender.clear = headcount_.node_and_lock_created(contender.number);
    if (contender.clear) engine_.explain(contender, CourseStep::numbered_first);
    note_number(contender.number);
    claimed(contender, now);
    return;
  }
  if (effect_of(reply.code) == Effect::unknown) return outcome_unknown(contender, now);
  if (fresh && reply.code != ReplyCode::node_exists) node_.exists = false;
  if (contender.abandoned) {
    // There is a monitor, and nobody else here asks whether one of us made it, to be removed when it is not used.
    if (fresh && reply.code == ReplyCode::node_exists && !headcount_.watched()) watch_parent(0, now);
    return engine_.forget(contender);
  }
  if (fresh) return on_fresh_claim_refused(contender, reply, now);
  switch (reply.code) {
    case ReplyCode::node_exists:
      misses_ = 0;
      engine_.explain(contender, CourseStep::taken);
      if (contender.spec.try_once) {
        engine_.refuse(contender, {.reason = RefusalReason::unavailable});
        engine_.forget(contender);
      } else if (node_.blocked) {
        contender.move_to(ContenderState::idle);
        idle_.insert({contender.arrival, &contender});
      } else {
        enqueue(contender, now);
        if (!owner_) list(engine_.watch_mode() == WatchMode::parent, 0, now);
      }
      break;
    case ReplyCode::no_node:
      monitor_gone(flight, contender, now);
      break;
    default:
      reject(contender, reply.code, now);
  }
}

// A node of ours is in it although it was gone: it was made anew before our request came, and nobody here knows whether
// by one of us, to be removed when it is not used.
void Monitor::look_if_made_anew(TimePoint now) {
  if (node_.exists || engine_.options().monitor_linger == Duration()) return;
  node_.exists = true;
  watch_parent(0, now);
}

// A monitor that exists is claimed as any other.
void Monitor::on_fresh_claim_refused(Contender& contender, const Reply& reply, TimePoint now) {
  switch (reply.code) {
    case ReplyCode::node_exists:
      misses_ = 0;
      if (engine_.options().others_linger) looks_.queue_expected = true;
      break;
    case ReplyCode::no_node:
      if (reply.refused_operation == 0u) {  // the root itself is missing
        reject(contender, reply.code, now);
        return reject_all(reply.code, now);
      }
      if (++misses_ <= max_misses) break;
      [[fallthrough]];
    default:
      return reject(contender, reply.code, now);
  }
  contender.move_to(ContenderState::idle);
  idle_.insert({contender.arrival, &contender});
}

void Monitor::on_enqueue(const Flight& flight, Contender& contender, const Reply& reply, TimePoint now) {
  --enqueueing_[contender.rank];
  if (reply.ok()) {
    contender.node = last_component(reply.path);
    const auto name = parse_contender_name(contender.node);
    contender.number = name ? name->number : 0;
    nodes_[contender.node] = &contender;
    misses_ = 0;
    const bool alone = headcount_.node_created(contender.number);
    contender.clear = alone && contender.most_urgent();
    note_number(contender.number);
    back_to_queue(contender);
    explain_queued(contender);
    look_if_made_anew(now);
    if (contender.abandoned) remove_node(contender, now);
    return;
  }
  if (effect_of(reply.code) == Effect::unknown) return outcome_unknown(contender, now);
  if (contender.abandoned) return engine_.forget(contender);
  switch (reply.code) {
    case ReplyCode::no_node:
      monitor_gone(flight, contender, now);
      break;
    case ReplyCode::node_exists:  // the sequence counter stands still at its end: only an empty monitor can be renewed
      node_.blocked = true;
      listing_.children_changed();
      contender.move_to(ContenderState::idle);
      idle_.insert({contender.arrival, &contender});
      engine_.set_poll(*this, now + look_again_after);
      break;
    default:
      reject(contender, reply.code, now);
  }
}

void Monitor::on_claim(Contender& contender, const Reply& reply, TimePoint now) {
  lock_.in_flight = false;
  if (reply.ok()) {
    contender.token = reply.operations.back().stat.mzxid;
    lock_.version = reply.operations.back().stat.version;
    headcount_.lock_created();
    looks_.queue_expected = contender.waited;
    claimed(contender, now);
    return;
  }
  if (effect_of(reply.code) == Effect::unknown) return outcome_unknown(contender, now);
  switch (reply.code) {
    case ReplyCode::node_exists:  // another contender was faster
      engine_.explain(contender, CourseStep::taken);
      // The listing of the same breath, if there is one, has set a new watch; else look again.
      if (!contender.proof_requested) {
        if (!mutated(Mutation::no_relist_after_failed_claim)) listing_.expire();
      }
      back_to_queue(contender);
      if (contender.abandoned) remove_node(contender, now);
      break;
    case ReplyCode::no_node:
      own_node_gone(contender);
      break;
    default:
      reject(contender, reply.code, now);
  }
}

void Monitor::on_hand_over(Contender* leaver, Contender* next, const Reply& reply, TimePoint now) {
  lock_.in_flight = false;
  if (reply.ok()) {
    next->token = reply.operations.back().stat.mzxid;
    lock_.version = reply.operations.back().stat.version;
    if (owner_ == leaver) owner_ = nullptr;
    if (!leaver->abandoned) engine_.finish_release(*leaver, ReleaseOutcome::released);
    engine_.forget(*leaver);
    claimed(*next, now);
    return;
  }
  if (effect_of(reply.code) == Effect::unknown) {
    leaver->release_unknown = true;
    outcome_unknown(*next, now);
    return;
  }
  // One of the nodes was removed: find out which.
  back_to_queue(*next);
  need_resolve(now);
}

// privateLock is ours. It counts as a grant only when it is proved that no contender ranks before it.
void Monitor::claimed(Contender& contender, TimePoint now) {
  owner_ = &contender;
  contender.move_to(ContenderState::claiming);
  if (contender.abandoned) return;  // settle() gives it back
  if (contender.clear) return engine_.grant(contender, now);
  if (!contender.proof_requested) {
    contender.proof_requested = true;
    list(false, contender.id, now);
  }
}

// Whether the owner's claim has waited for this answer. While it is being resolved what has become of our nodes, those
// that bear their names may be others', in a monitor made anew: the resolving asks for a proof of its own.
bool Monitor::is_proof(const Flight& flight) const {
  return owner_ && !resolving_.busy() && !lock_.in_flight && owner_->id == flight.contender && !owner_->abandoned &&
         owner_->state == ContenderState::claiming && owner_->proof_requested;
}

void Monitor::judge(Contender& contender, bool somebody_before, TimePoint now) {
  if (mutated(Mutation::no_yield)) somebody_before = false;
  if (!somebody_before) return engine_.grant(contender, now);
  if (contender.spec.try_once) {
    looks_.outranked = true;
    engine_.refuse(contender, {.reason = RefusalReason::unavailable});  // settle() gives it back
  } else {
    const ForeignContender* before = listing_.last_before(child_of(contender));
    engine_.explain(contender, CourseStep::yields, before ? std::string_view(before->name) : std::string_view());
    yield(contender, now);
  }
}

}  // namespace forelock::lock
