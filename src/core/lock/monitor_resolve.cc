// Finding out what became of requests whose replies were lost.
//
// First a write, so that what is read behind it shows everything that was applied (a leader that has been deposed
// without knowing it would answer a sync, but cannot confirm a write); after a reconnect the connection's first
// heartbeat is that write, for all monitors. Then the listing; then the data of every node that may be ours, and
// privateLock last. A node is ours only if it belongs to this session and carries the contender's guid. Whatever is
// found decides; nothing is repeated blindly.
#include <algorithm>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include "lock/engine.h"
#include "lock/limits.h"
#include "lock/monitor.h"
#include "lock/mutation.h"

namespace forelock::lock {

using coordination::Check;
using coordination::Delete;
using coordination::Effect;
using coordination::effect_of;
using coordination::Get;
using coordination::List;
using coordination::Reply;
using coordination::ReplyCode;
using coordination::Transaction;

void Monitor::begin_resolve(TimePoint now) {
  resolving_.needed = false;
  if (mutated(Mutation::unknown_create_retried)) {
    for (const auto& [arrival, contender] : all_) {
      if (contender->state != ContenderState::resolving || !contender->node.empty() || contender->abandoned) continue;
      contender->move_to(ContenderState::idle);
      idle_.insert({contender->arrival, contender});
    }
  }
  bool something = owner_ != nullptr || lock_.stray;
  for (const auto& [arrival, contender] : all_) {
    something = something || !contender->node.empty() || contender->state != ContenderState::idle;
  }
  if (!something) return settle(now);
  for (const auto& [arrival, contender] : all_)
    engine_.withhold(*contender);  // of claims that were confirmed meanwhile
  resolving_.findings = Findings();
  const bool barrier = std::exchange(resolving_.barrier_needed, false);
  if (mutated(Mutation::no_resync_before_resolving)) {
    // What is read may be older than what was applied.
  } else if (barrier) {
    ++resolving_.findings->pending;
    send({.kind = FlightKind::resolve_barrier}, Transaction{{Check{"/"}}}, now);
  }
  // Before anything is read: from here on a re-creation of the monitor is told.
  if (!headcount_.watched()) watch_parent(0, now);
  ++resolving_.findings->pending;
  const bool watch = engine_.watch_mode() == WatchMode::parent;
  send({.kind = FlightKind::resolve_list, .watch = watch}, List{path_, watch}, now);
}

void Monitor::on_resolve_reply(const Flight& flight, Reply reply, TimePoint now) {
  if (!resolving_.findings) return;  // of an earlier connection
  const bool refused = effect_of(reply.code) == Effect::not_applied;
  const bool told = reply.ok() || reply.code == ReplyCode::no_node;
  // A barrier that is refused is a transaction, too.
  if (!told && !(refused && flight.kind == FlightKind::resolve_barrier)) resolving_.findings->failed = true;
  switch (flight.kind) {
    case FlightKind::resolve_list:
      if (reply.ok() && flight.watch) listing_.watch_answered(flight.watched);
      resolving_.findings->list = std::move(reply);
      break;
    case FlightKind::resolve_lock:
      resolving_.findings->lock = std::move(reply);
      break;
    case FlightKind::resolve_node:
      resolving_.findings->nodes[flight.name] = std::move(reply);
      break;
    default:
      break;
  }
  if (--resolving_.findings->pending > 0) return;
  if (resolving_.findings->failed) {
    resolving_.findings.reset();
    resolving_.needed = resolving_.barrier_needed = true;
    if (resolving_.not_before <= now) need_resolve(now + look_again_after);
    return;
  }
  if (resolving_.findings->examined) return conclude_resolve(now);
  resolving_.findings->examined = true;
  examine_nodes(now);
}

// Reads every node that may belong to one of ours, and privateLock after them: if it is ours although the own node is
// missing, then it was so at that moment, and not only before both were removed.
void Monitor::examine_nodes(TimePoint now) {
  // From which number on a node of a class may be one that a create with an unknown outcome has left.
  std::map<std::string_view, std::int64_t> unknown_from;
  const std::int64_t monitor_now = resolving_.findings->list.stat.czxid;
  for (const auto& [arrival, contender] : all_) {
    const bool moves = contender->moving.to && !mutated(Mutation::move_forgotten);
    if ((!contender->node.empty() && !moves) || contender->state != ContenderState::resolving) continue;
    const MonitorCount& before = contender->created_after;
    const bool known = before.czxid == monitor_now && before.created < counter_alarm;
    const std::int64_t from = known ? before.created : std::numeric_limits<std::int64_t>::min();
    const Priority rank = moves ? *contender->moving.to : contender->rank;
    const auto [entry, added] = unknown_from.emplace(engine_.prefix(rank), from);
    if (!added) entry->second = std::min(entry->second, from);
  }
  for (const std::string& child : resolving_.findings->list.children) {
    bool candidate = nodes_.contains(child);
    if (const auto name = parse_contender_name(child); name && !candidate) {
      const auto from = unknown_from.find(name->prefix);
      candidate = from != unknown_from.end() && name->number >= from->second;
    }
    if (!candidate) continue;
    ++resolving_.findings->pending;
    send({.kind = FlightKind::resolve_node, .name = child}, Get{child_path(child), false}, now);
  }
  ++resolving_.findings->pending;
  send({.kind = FlightKind::resolve_lock}, Get{lock_path_, false}, now);
}

bool Monitor::is_ours(const Reply& node, const Contender& contender) const {
  if (!node.ok()) return false;
  bool session = node.stat.ephemeral_owner == engine_.session();
  if (mutated(Mutation::adopt_without_session_check)) session = true;
  bool guid = node.data.find(contender.spec.guid) != std::string::npos;
  if (mutated(Mutation::adopt_without_guid_check)) guid = true;
  return session && guid;
}

// Lets go of a node that is not there, or not this contender's.
void Monitor::verify_node(Contender& contender, const Findings& found) {
  if (contender.node.empty()) return;
  const auto node = found.nodes.find(contender.node);
  if (node != found.nodes.end() && is_ours(node->second, contender)) return;
  if (const auto own = nodes_.find(contender.node); own != nodes_.end() && own->second == &contender) nodes_.erase(own);
  contender.node.clear();
  contender.clear = contender.node_watched = false;
}

// Finds the node that a create with an unknown outcome has left, if it has. A move has left that, or the former one.
void Monitor::adopt_node(Contender& contender, const Findings& found) {
  const std::optional<Priority> moving_to = std::exchange(contender.moving.to, std::nullopt);
  const bool aged = moving_to && contender.moving.wanted_rank != contender.first_rank();
  if (contender.node.empty() && contender.state == ContenderState::resolving) {
    adopt_node_of_rank(contender, moving_to.value_or(contender.rank), found);
  }
  if (!aged) return;
  contender.moving.wanted_rank = contender.rank;  // whether it is to move is asked for anew
  ageing_.look_again();
}

void Monitor::adopt_node_of_rank(Contender& contender, Priority rank, const Findings& found) {
  for (const auto& [name, node] : found.nodes) {
    if (nodes_.contains(name) || !is_ours(node, contender)) continue;
    const auto parsed = parse_contender_name(name);
    if (!parsed || parsed->prefix != engine_.prefix(rank)) continue;
    contender.node = name;
    contender.number = parsed->number;
    nodes_[name] = &contender;
    if (rank != contender.rank) adopt_rank(contender, rank);
    return;
  }
}

void Monitor::conclude_resolve(TimePoint now) {
  const Findings found = std::move(*resolving_.findings);
  resolving_.findings.reset();
  owner_ = releasing_ = nullptr;
  lock_.in_flight = false;
  queue_.clear();
  const auto all = all_;
  for (const auto& [arrival, contender] : all) {
    contender->removing = false;
    verify_node(*contender, found);
  }
  for (const auto& [arrival, contender] : all) adopt_node(*contender, found);
  Contender* holder = nullptr;
  for (const auto& [arrival, contender] : all) {
    if (is_ours(found.lock, *contender)) holder = contender;
  }
  if (found.list.ok()) {
    owner_ = holder;  // so that the listing knows whose privateLock it shows
    take_listing(found.list.children, found.list.stat);
    owner_ = nullptr;
  } else {
    monitor_missing();
  }
  // Ours, but of no contender we know. Removed before any node: its contender is forgotten after it.
  lock_.stray = !holder && found.lock.ok() && found.lock.stat.ephemeral_owner == engine_.session();
  if (lock_.stray) send({.kind = FlightKind::remove_lock}, Delete{lock_path_, found.lock.stat.version}, now);
  // So is the lock of one whose node is gone. Other owners come last: the one that has lost the lock is notified
  // before.
  const bool broken = holder && holder->node.empty();
  if (broken) conclude_owner(*holder, found, now);
  for (const auto& [arrival, contender] : all) {
    if (contender != holder) conclude_other(*contender, found, now);
  }
  if (holder && !broken) conclude_owner(*holder, found, now);
}

// privateLock is this contender's.
void Monitor::conclude_owner(Contender& contender, const Findings& found, TimePoint now) {
  lock_.version = found.lock.stat.version;
  if (contender.node.empty()) {
    // Its node was removed and privateLock left: the lock is broken, and the rest of it is removed.
    const bool held = contender.state == ContenderState::held || contender.stepping_aside;
    if (held && !contender.abandoned) engine_.lose(contender, LossReason::removed);
    if (contender.state == ContenderState::releasing && !contender.abandoned) {
      engine_.finish_release(contender, ReleaseOutcome::gone);
    }
    // Begins anew, or is forgotten, when that is answered; not before, although it may have been about to.
    idle_.erase({contender.arrival, &contender});
    contender.move_to(ContenderState::resolving);
    contender.proof_requested = contender.claimed_at_creation = false;
    contender.position.reset();
    send({.kind = FlightKind::remove_lock, .contender = contender.id}, Delete{lock_path_, lock_.version}, now);
    return;
  }
  owner_ = &contender;
  switch (contender.state) {
    case ContenderState::held:
      // Its watch went with the connection, or was due while there was none.
      if (contender.hold.watch_at == never) watch_held_lock(contender, now);
      return;
    case ContenderState::releasing:
    case ContenderState::yielding:
      return;  // settle() goes on with it
    default:
      break;
  }
  contender.move_to(ContenderState::claiming);
  contender.proof_requested = true;
  contender.token = found.lock.stat.mzxid;
  contender.claimed_at_creation = found.nodes.at(contender.node).stat.czxid == found.lock.stat.czxid;
  engine_.explain(contender, CourseStep::resolved_owner);
  if (contender.abandoned) return;
  const bool before = another_process_before_claim(contender);
  if (!before) engine_.explain(contender, CourseStep::resolved_first);
  judge(contender, before, now);
}

// privateLock is not this contender's.
void Monitor::conclude_other(Contender& contender, const Findings& found, TimePoint now) {
  const bool has_node = !contender.node.empty();
  if (!contender.abandoned) {
    const bool stepped_aside = contender.release_unknown && has_node;
    if (contender.state == ContenderState::held || (contender.stepping_aside && !stepped_aside)) {
      engine_.lose(contender, LossReason::removed);
    } else if (contender.state == ContenderState::releasing) {
      // Both went in one transaction: if it was ours, neither is left.
      const bool ours = !has_node && contender.release_unknown;
      engine_.finish_release(contender, ours ? ReleaseOutcome::released : ReleaseOutcome::gone);
      if (mutated(Mutation::late_release_blind)) {
        send({.kind = FlightKind::remove_lock}, Delete{lock_path_}, now);
      }
    }
  }
  // A single attempt has a node only with a lock, which has been removed by hand: it does not wait.
  const bool would_wait = !contender.abandoned && has_node && contender.spec.try_once;
  if (would_wait) engine_.refuse(contender, {.reason = RefusalReason::unavailable});
  if (contender.abandoned) {
    contender.move_to(ContenderState::waiting);
    if (has_node) return remove_node(contender, now);
    return engine_.forget(contender);
  }
  contender.proof_requested = contender.claimed_at_creation = false;
  if (contender.state == ContenderState::resolving) {
    engine_.explain(contender, has_node ? CourseStep::resolved_queued : CourseStep::resolved_not_there, contender.node);
  }
  if (mutated(Mutation::unknown_claim_assumed_granted)) {
    if (contender.state == ContenderState::resolving && has_node) {
      contender.token = found.lock.stat.mzxid;
      owner_ = &contender;
      return engine_.grant(contender, now);
    }
  }
  if (has_node) return back_to_queue(contender);
  if (contender.state == ContenderState::idle) return;
  // A quorum has confirmed a write of the session each time since; one such answer alone says nothing.
  if (contender.told_expired > 1) return reject(contender, ReplyCode::no_ephemerals, now);
  contender.move_to(ContenderState::idle);
  contender.position.reset();
  start_anew(contender);
  idle_.insert({contender.arrival, &contender});
}

}  // namespace forelock::lock
