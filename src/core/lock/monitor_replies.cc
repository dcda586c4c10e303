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
  if (flight.kind == FlightKind::fresh_claim && !reply.ok() && !headcount_.watched()) removable_ = false;
  Contender* contender = flight.contender == 0 ? nullptr : engine_.find(flight.contender);
  // As a rule the session's end follows, and settles everything.
  if (reply.code == ReplyCode::session_expired && contender) ++contender->told_expired;
  switch (flight.kind) {
    case FlightKind::create_monitor:
      on_create_monitor(reply, now);
      break;
    case FlightKind::fresh_claim:
    case FlightKind::fast_claim:
      on_fast_claim(flight, *contender, reply, now);
      break;
    case FlightKind::enqueue:
      on_enqueue(flight, *contender, reply, now);
      break;
    case FlightKind::move:
      on_move(flight, *contender, reply, now);
      break;
    case FlightKind::claim:
      on_claim(*contender, reply, now);
      break;
    case FlightKind::hand_over:
      on_hand_over(contender, engine_.find(flight.next), reply, now);
      break;
    case FlightKind::release:
      if (contender) on_release(*contender, reply, now);
      break;
    case FlightKind::yield:
      on_yield(*contender, reply, now);
      break;
    case FlightKind::prove_hold:
      if (contender) on_prove_hold(*contender, reply, now);
      break;
    case FlightKind::remove_node:
      if (contender) on_remove_node(*contender, reply, now);
      break;
    case FlightKind::list:
      on_list(flight, std::move(reply), now);
      break;
    case FlightKind::watch_lock:
      on_watch_lock(flight, reply, now);
      break;
    case FlightKind::watch_node:
      if (contender) on_watch_node(flight, *contender, reply, now);
      break;
    case FlightKind::watch_parent:
      on_watch_parent(flight, reply, now);
      break;
    case FlightKind::watch_predecessor:
      on_watch_predecessor(flight, reply, now);
      break;
    case FlightKind::update_record:
      if (!reply.ok() && contender && owner_ == contender) need_resolve(now + look_again_after);
      break;
    case FlightKind::remove_lock:
      if (!reply.ok() && reply.code != ReplyCode::no_node) {
        // Not known, or still there: its version has changed, where another process took it for its own.
        need_resolve(now + look_again_after);
      } else if (!contender) {
        stray_ = false;
      } else if (contender->abandoned) {
        engine_.forget(*contender);
      } else {
        contender->move_to(ContenderState::idle);
        idle_.insert({contender->arrival, contender});
      }
      break;
    case FlightKind::remove_monitor:
      if (reply.ok() || reply.code == ReplyCode::no_node) monitor_missing();
      blocked_ = false;
      listing_.expire();
      break;
    case FlightKind::resolve_barrier:
    case FlightKind::resolve_list:
    case FlightKind::resolve_lock:
    case FlightKind::resolve_node:
      on_resolve_reply(flight, std::move(reply), now);
      break;
    case FlightKind::catch_up:
      if (!reply.ok()) catch_up_failed(contender);
      break;
    case FlightKind::unwatch:
    case FlightKind::knock:
    case FlightKind::remove_unused:
    case FlightKind::look_at_unused:
    case FlightKind::heartbeat:
    case FlightKind::ping:
      break;
  }
  settle(now);
}

// --- the monitor itself ---

void Monitor::on_create_monitor(const Reply& reply, TimePoint now) {
  if (reply.ok()) return made_by_us(now);
  if (reply.code == ReplyCode::node_exists) return;
  exists_ = false;
  if (effect_of(reply.code) == Effect::not_applied) reject_all(reply.code, now);
}

void Monitor::made_by_us(TimePoint now) {
  if (engine_.options().monitor_linger == Duration()) return;
  removable_ = true;
  mark_ = UnusedMonitors::Mark::seen;
  linger(now);
}

void Monitor::linger(TimePoint now) {
  if (!std::exchange(lingering_, true)) engine_.let_linger(*this, now);
}

void Monitor::knocked() {
  if (!headcount_.watched()) exists_ = shown_by_knock_ = true;
}

void Monitor::monitor_missing() {
  exists_ = shown_by_knock_ = removable_ = queue_expected_ = outranked_ = false;
  headcount_.monitor_gone();
  blocked_ = false;
  listing_.forget();
}

// --- claims ---

void Monitor::on_fast_claim(const Flight& flight, Contender& contender, const Reply& reply, TimePoint now) {
  lock_flight_ = false;
  claiming_at_once_ = nullptr;
  const bool fresh = flight.kind == FlightKind::fresh_claim;
  if (reply.ok()) {
    const std::size_t own = fresh ? 1 : 0;  // of its operations, the one that creates the node
    if (fresh) {
      exists_ = true;
      made_by_us(now);
    } else {
      look_if_made_anew(now);
    }
    contender.node = last_component(reply.operations[own].path);
    const auto name = parse_contender_name(contender.node);
    contender.number = name ? name->number : 0;
    nodes_[contender.node] = &contender;
    misses_ = 0;
    queue_expected_ = false;
    contender.claimed_at_creation = true;
    contender.token = reply.operations[own + 2].stat.mzxid;
    lock_version_ = reply.operations[own + 2].stat.version;
    contender.clear = headcount_.node_and_lock_created(contender.number);
    if (contender.clear) engine_.explain(contender, CourseStep::numbered_first);
    note_number(contender.number);
    claimed(contender, now);
    return;
  }
  if (effect_of(reply.code) == Effect::unknown) return outcome_unknown(contender, now);
  if (fresh && reply.code != ReplyCode::node_exists) exists_ = false;
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
      } else if (blocked_) {
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
  if (exists_ || engine_.options().monitor_linger == Duration()) return;
  exists_ = true;
  watch_parent(0, now);
}

// A monitor that exists is claimed as any other.
void Monitor::on_fresh_claim_refused(Contender& contender, const Reply& reply, TimePoint now) {
  switch (reply.code) {
    case ReplyCode::node_exists:
      misses_ = 0;
      if (engine_.options().others_linger) queue_expected_ = true;
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
      blocked_ = true;
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
  lock_flight_ = false;
  if (reply.ok()) {
    contender.token = reply.operations.back().stat.mzxid;
    lock_version_ = reply.operations.back().stat.version;
    headcount_.lock_created();
    queue_expected_ = contender.waited;
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
  lock_flight_ = false;
  if (reply.ok()) {
    next->token = reply.operations.back().stat.mzxid;
    lock_version_ = reply.operations.back().stat.version;
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
  return owner_ && !resolving_.busy() && !lock_flight_ && owner_->id == flight.contender && !owner_->abandoned &&
         owner_->state == ContenderState::claiming && owner_->proof_requested;
}

void Monitor::judge(Contender& contender, bool somebody_before, TimePoint now) {
  if (mutated(Mutation::no_yield)) somebody_before = false;
  if (!somebody_before) return engine_.grant(contender, now);
  if (contender.spec.try_once) {
    outranked_ = true;
    engine_.refuse(contender, {.reason = RefusalReason::unavailable});  // settle() gives it back
  } else {
    const ForeignContender* before = listing_.last_before(child_of(contender));
    engine_.explain(contender, CourseStep::yields, before ? std::string_view(before->name) : std::string_view());
    yield(contender, now);
  }
}

}  // namespace forelock::lock
