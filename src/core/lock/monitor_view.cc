// What the listing and the watches tell.
#include <algorithm>
#include <limits>
#include <string_view>
#include <unordered_set>
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
using coordination::WatchEvent;

namespace {

// A turn takes two writes at least, the claim and the release.
constexpr Duration shortest_turn = std::chrono::milliseconds(1);
constexpr Duration longest_patience = std::chrono::milliseconds(5);

}  // namespace

// A single attempt has looked before it claims.
void Monitor::judge_look(const Flight& flight, bool listed) {
  Contender* contender = flight.contender == 0 ? nullptr : engine_.find(flight.contender);
  if (contender == nullptr || contender->state != ContenderState::idle) return;
  contender->proof_requested = false;  // also if it need not look any more: it may have to again before it claims
  if (!listed || !looks_first(*contender)) return;
  looks_.outranked = would_be_outranked(contender->rank);
  if (!looks_.outranked) return;  // settle() goes on with it
  engine_.refuse(*contender, {.reason = RefusalReason::unavailable});
  engine_.forget(*contender);
}

// What the look behind it shows may be older than the attempt: the claim asks the server itself.
void Monitor::on_caught_up(Contender* contender, const Reply& reply) {
  if (reply.ok()) return;
  looks_.outranked = false;
  if (contender && contender->state == ContenderState::idle) contender->proof_requested = false;
}

void Monitor::on_list(const Flight& flight, Reply reply, TimePoint now) {
  listing_.answered();
  if (!reply.ok()) judge_look(flight, false);
  if (reply.code == ReplyCode::no_node) {
    monitor_missing();
    const auto waiting = queue_;
    for (Contender* contender : waiting) own_node_gone(*contender);
    if (!nodes_.empty()) need_resolve(now);  // a claim or a lock has gone with its monitor
    return;
  }
  if (!reply.ok()) {
    if (effect_of(reply.code) == Effect::unknown) return need_resolve(now + look_again_after);
    listing_.set_refused();
    return reject_all(reply.code, now);
  }
  if (flight.watch) listing_.watch_answered(flight.watched);
  if (!listing_.children_watched() && (listing_.unwatched() || engine_.watch_mode() == WatchMode::predecessor)) {
    // Fresh for the contender whose predecessor is watched next; without waiters, nothing keeps it fresh.
    listing_.keep_fresh_for(owner_ || queue_.empty() ? 0 : queue_.front().id);
  }
  const bool all_there = take_listing(reply.children, reply.stat);
  note_age(flight.sent, now);
  judge_look(flight, true);
  if (node_.blocked && listing_.shows_nothing()) {
    send({.kind = FlightKind::remove_monitor}, coordination::Delete{path_}, now);
  }
  const bool proof = is_proof(flight);
  const bool holds = owner_ && owner_->state == ContenderState::held && !owner_->abandoned && !lock_.in_flight &&
                     flight.sent >= looks_.held_since;
  if (!proof && !holds) return;
  const auto& names = reply.children;
  const bool own_there = all_there || std::find(names.begin(), names.end(), owner_->node) != names.end();
  // Made since the grant: nodes that are called like ours are others'.
  const bool made_anew = reply.stat.czxid > owner_->token;
  if (!listing_.lock_seen() || !own_there || made_anew) return need_resolve(now);  // it was deleted by hand
  if (!proof) return;
  const bool before = another_process_before_claim(*owner_);
  if (!before) engine_.explain(*owner_, CourseStep::listed_first);
  judge(*owner_, before, now);
}

void Monitor::on_watch_parent(const Flight& flight, const Reply& reply, TimePoint now) {
  headcount_.watch_answered(reply.ok() && flight.watched);
  if (reply.ok()) {
    headcount_.saw(reply.stat);
    if (owner_ && reply.stat.czxid > owner_->token) headcount_.others_seen();  // what was counted was a former one
    looked_at(reply);
    if (node_.removable) made_by_us(now);
  } else if (reply.code == ReplyCode::no_node) {
    node_.removable = false;  // what is there later may be another program's
  }
  if (!is_proof(flight)) return;
  // No child came or went since the claim, and there are but two, its own node and privateLock: there is no other
  // contender. Anything else needs names.
  bool unchanged = reply.stat.pzxid == owner_->token;
  if (mutated(Mutation::count_taken_late)) unchanged = true;
  bool only_ours = reply.stat.children == 2;
  if (mutated(Mutation::others_not_counted)) only_ours = true;
  if (!reply.ok() || !unchanged || !only_ours) return list(false, flight.contender, now);
  headcount_.was_alone(reply.stat.created_children());
  engine_.explain(*owner_, CourseStep::counted_first);
  judge(*owner_, false, now);
}

void Monitor::looked_at(const Reply& node) {
  node_.removable = carries_mark(node);
  node_.mark = UnusedMonitors::Mark::seen;
}

// \returns whether it shows every node of ours.
bool Monitor::take_listing(const std::vector<std::string>& children, const coordination::Stat& parent) {
  const std::size_t own = listing_.take(children, parent, nodes_);
  headcount_.saw(parent);
  for (const ForeignContender& other : listing_.others()) note_number(other.number);
  // No other contender at this moment: from here on, counting our own creates tells whether that is still so.
  bool only_ours = listing_.others().empty() && (!listing_.lock_seen() || owner_);
  if (mutated(Mutation::count_kept_behind_others)) only_ours = true;
  if (only_ours) {
    headcount_.was_alone(parent.created_children());
  } else {
    headcount_.others_seen();
  }
  if (own == nodes_.size()) return true;
  // Some of our waiting contenders were removed by others.
  const std::unordered_set<std::string_view> present(children.begin(), children.end());
  const auto waiting = queue_;
  for (Contender* contender : waiting) {
    if (!present.contains(contender->node)) own_node_gone(*contender);
  }
  return false;
}

void Monitor::on_watch_predecessor(const Flight& flight, const Reply& reply, TimePoint now) {
  if (listing_.watched_node() != flight.name) return;
  const bool gone = reply.code == ReplyCode::no_node;
  if (gone && flight.old_listing) return listing_.expire();  // it went long ago, perhaps
  const bool may_not_read = !gone && effect_of(reply.code) == Effect::not_applied;
  if (!reply.ok() && !may_not_read) return on_watched_child_changed(gone, now);
  listing_.set_unwatched(may_not_read || !flight.watched);
  if (listing_.unwatched()) look_in_turn(now);
}

void Monitor::on_watch_lock(const Flight& flight, const Reply& reply, TimePoint now) {
  const bool ours = reply.ok() && reply.stat.ephemeral_owner == engine_.session();
  if (!reply.ok() || !flight.watched) lock_.watched = false;
  const bool holds = owner_ && owner_->state == ContenderState::held && !owner_->abandoned;
  if (holds && !ours && effect_of(reply.code) != Effect::unknown) need_resolve(now);
}

void Monitor::on_watch_node(const Flight& flight, Contender& contender, const Reply& reply, TimePoint now) {
  if (reply.ok()) on_record(flight, contender, reply, now);
  if (!flight.watch || (reply.ok() && flight.watched)) return;
  contender.node_watched = false;
  if (reply.code == ReplyCode::no_node) on_own_node_removed(contender, now);
}

// Not by a request of ours, unless one is under way: then its reply tells.
void Monitor::on_own_node_removed(Contender& contender, TimePoint now) {
  contender.node_watched = false;
  if (contender.abandoned || !engine_.connected()) return;
  if (resolving_.findings) return need_resolve(now);  // what it has read already may be older
  if (resolving_.needed) return;
  if (contender.state == ContenderState::held && owner_ == &contender) need_resolve(now);
  if (contender.state == ContenderState::waiting) listing_.expire();  // the next listing shows that it is gone
}

void Monitor::barrier_lost() {
  if (resolving_.findings) resolving_.findings->failed = true;
  if (resolving_.busy()) resolving_.barrier_needed = true;
}

void Monitor::on_disconnected() {
  headcount_.disconnected();
  lock_.watched = false;
  listing_.forget();
  resolving_.findings.reset();
  resolving_.needed = !all_.empty() || lock_.stray;
  resolving_.barrier_needed = false;  // the first write of the next connection is one
  listing_.set_unwatched(false);
  resolving_.not_before = {};
  node_.mark = UnusedMonitors::Mark::doubtful;
  looks_.outranked = false;
}

void Monitor::on_parent_event(WatchEvent::Kind kind, TimePoint now) {
  switch (kind) {
    case WatchEvent::Kind::deleted:
      monitor_missing();
      // Its nodes went before it. In a new monitor the same names may belong to others.
      if (owner_ && owner_->state == ContenderState::held && !owner_->abandoned) {
        engine_.lose(*owner_, LossReason::removed);
      }
      if (!nodes_.empty()) need_resolve(now);
      break;
    case WatchEvent::Kind::data_changed:
      node_.mark = UnusedMonitors::Mark::doubtful;  // the event may tell of another program's node in its place
      headcount_.watch_fired();
      if (!all_.empty() && engine_.connected() && !headcount_.watch_in_flight()) watch_parent(0, now);
      break;
    case WatchEvent::Kind::children_changed:
    case WatchEvent::Kind::created:
      if (!mutated(Mutation::watch_not_rechecked)) listing_.children_changed();
      if (owner_ && owner_->state == ContenderState::held && !owner_->abandoned && owner_->hold.watch_at == never) {
        watch_held_lock(*owner_, now);
      }
      looks_.not_before = now + patience();
      node_.blocked = false;
      break;
  }
  settle(now);
}

// How long the queue need not be looked at after a change: as long as those before our first contender take for their
// turns at least. Each change would be listed by every waiting process otherwise, three for a section. (Eight
// processes, sections without work: 11.1 requests for a section, 13.2 without patience; four: 7.1 and 7.5.)
Duration Monitor::patience() const {
  if (engine_.watch_mode() != WatchMode::parent || queue_.empty()) return {};
  const std::size_t before = listing_.count_before(child_of(queue_.front()));
  return before < 2 ? Duration() : std::min<Duration>(shortest_turn * (before - 1), longest_patience);
}

void Monitor::on_child_event(const std::string& child, WatchEvent::Kind kind, TimePoint now) {
  if (child == private_lock_name) {
    lock_.watched = false;
    const bool holds = owner_ && owner_->state == ContenderState::held && !owner_->abandoned && !lock_.in_flight;
    if (holds && kind == WatchEvent::Kind::deleted) need_resolve(now);
    const bool watches = holds && owner_->hold.watch_at == never;
    if (watches && kind == WatchEvent::Kind::data_changed && engine_.connected() && !resolving_.findings)
      watch_lock(now);
  }
  const auto own = nodes_.find(child);
  if (own != nodes_.end() && kind == WatchEvent::Kind::deleted) on_own_node_removed(*own->second, now);
  if (own != nodes_.end() && kind == WatchEvent::Kind::data_changed) {
    own->second->node_watched = false;
    if (engine_.connected() && !resolving_.busy()) watch_node(*own->second, now);
  }
  if (child == listing_.watched_node()) on_watched_child_changed(kind == WatchEvent::Kind::deleted, now);
  settle(now);
}

// The node that our first contender has waited for is not any more what it was. If it is gone, so is the lock, nearly
// always: a release deletes both. So a foreground contender claims at once; should others still go before it, or the
// lock be held, then the claim fails or its proof does. A background contender looks first: a foreground contender may
// have joined the queue since, and would have to wait until what was taken before it is given back.
void Monitor::on_watched_child_changed(bool gone, TimePoint now) {
  const bool first_waits_for_it = !queue_.empty() && listing_.fresh_for(queue_.front().id);
  const std::string child = listing_.watched_node_changed();
  if (gone) listing_.children_changed();  // the event that says so may come a moment later
  if (!gone || !engine_.connected() || resolving_.busy() || owner_ || lock_.in_flight) return;
  if (listing_.in_flight() || !first_waits_for_it) return;
  Contender& first = queue_.front();
  if (!first.most_urgent()) return;
  listing_.remove(child);
  if (mutated(Mutation::vanished_neighbour_proves)) first.clear = true;
  claim(first, now);
}

// --- knowledge ---

// Whether a contender that joins the queue now would have another process's before it.
bool Monitor::would_be_outranked(Priority priority) const {
  return listing_.count_before({engine_.prefix(priority), std::numeric_limits<std::int64_t>::max()}) > 0;
}

bool Monitor::another_process_before(const Contender& contender) const {
  return listing_.count_before(child_of(contender)) > 0;
}

// Whether the listing shows a contender that goes before this one and was there when its claim was applied.
bool Monitor::another_process_before_claim(const Contender& contender) const {
  return listing_.shows_before_claim(child_of(contender), contender.claimed_at_creation);
}

// A foreground contender that was seen first of its class cannot be overtaken any more.
bool Monitor::is_clear(const Contender& contender) const {
  if (!contender.most_urgent()) return false;
  return contender.clear || listing_.shows_first(child_of(contender));
}

void Monitor::note_number(std::int64_t number) {
  if (headcount_.nears_end(number)) engine_.output().counter_high(name_, number);
}

}  // namespace forelock::lock
