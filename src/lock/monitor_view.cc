// What the listing and the watches tell.
#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "lock/engine_core.h"
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

void Monitor::on_list(const Flight& flight, Reply reply, TimePoint now) {
  --listings_in_flight_;
  if (reply.code == ReplyCode::no_node) {
    monitor_missing();
    const auto waiting = queue_;
    for (Contender* contender : waiting) own_node_gone(*contender);
    if (!nodes_.empty()) need_resolve(now);  // a claim or a lock has gone with its monitor
    return;
  }
  if (!reply.ok()) {
    if (effect_of(reply.code) == Effect::unknown) return need_resolve(now + look_again_after);
    return reject_all(reply.code, now);
  }
  note_watch(flight);
  if (!children_watched_ && (unwatched_ || core_.options().watch_mode == WatchMode::predecessor)) {
    // Fresh for whoever will have its predecessor watched next; with nobody waiting, nothing keeps it fresh.
    fresh_for_ = owner_ || queue_.empty() ? 0 : queue_.front().id;
  }
  const bool all_there = take_listing(reply.children, reply.stat);
  if (blocked_ && children_seen_ == 0) {
    send({.kind = FlightKind::remove_monitor}, coordination::Delete{path_}, now);
  }
  if (!is_proof(flight)) return;
  const auto& names = reply.children;
  const bool own_there = all_there || std::find(names.begin(), names.end(), owner_->node) != names.end();
  if (!lock_seen_ || !own_there) return need_resolve(now);  // somebody has deleted it by hand
  judge(*owner_, somebody_before_grant(*owner_), now);
}

void Monitor::on_watch_parent(const Flight& flight, const Reply& reply, TimePoint now) {
  parent_watch_in_flight_ = false;
  const bool watched = reply.ok() && flight.watched;
  if (watched) parent_watch_trusted_ = parent_watch_registered_ = true;
  if (!watched) alone_next_.reset();
  if (reply.ok()) note_parent(reply.stat);
  if (!is_proof(flight)) return;
  // No child came or went since the claim, and there are but two, its own node and privateLock: nobody else is there.
  // Anything else needs names.
  bool unchanged = reply.stat.pzxid == owner_->token;
  if (mutated(Mutation::count_taken_late)) unchanged = true;
  bool only_ours = reply.stat.children == 2;
  if (mutated(Mutation::others_not_counted)) only_ours = true;
  if (!reply.ok() || !unchanged || !only_ours) return list(false, flight.contender, now);
  if (watched && reply.stat.created_children() < counter_alarm) alone_next_ = reply.stat.created_children();
  judge(*owner_, false, now);
}

// \returns whether it shows every node of ours.
bool Monitor::take_listing(const std::vector<std::string>& children, const coordination::Stat& parent) {
  listed_ = true;
  lock_seen_ = false;
  children_seen_ = children.size();
  listed_count_ = parent.created_children();
  note_parent(parent);
  foreign_.clear();
  std::size_t own = 0;
  for (const std::string& child : children) {
    if (child == private_lock_name) {
      lock_seen_ = true;
    } else if (nodes_.contains(child)) {
      ++own;
    } else if (const auto name = parse_contender_name(child)) {
      foreign_.push_back({child, std::string(name->prefix), name->number});
      note_number(name->number);
    }
  }
  std::sort(foreign_.begin(), foreign_.end(),
            [](const ForeignContender& a, const ForeignContender& b) { return goes_before(a.child(), b.child()); });
  // Nobody else at this moment: from here on, counting our own creates tells whether that is still so.
  const bool only_ours = foreign_.empty() && (!lock_seen_ || owner_);
  bool told_of_its_end = parent_watch_trusted_;
  if (mutated(Mutation::number_proof_across_recreation)) told_of_its_end = true;
  if (only_ours && told_of_its_end && listed_count_ < counter_alarm) {
    alone_next_ = listed_count_;
  } else if (!only_ours) {
    alone_next_.reset();
  }
  if (own == nodes_.size()) return true;
  // Some of our waiting contenders were removed by somebody.
  const std::unordered_set<std::string_view> present(children.begin(), children.end());
  const auto waiting = queue_;
  for (Contender* contender : waiting) {
    if (!present.contains(contender->node)) own_node_gone(*contender);
  }
  return false;
}

void Monitor::on_watch_predecessor(const Flight& flight, const Reply& reply, TimePoint now) {
  if (watched_child_ != flight.name) return;
  if (!reply.ok()) return on_watched_child_changed(reply.code == ReplyCode::no_node, now);
  unwatched_ = !flight.watched;
  if (unwatched_) core_.set_poll(*this, now + unwatched_interval);
}

void Monitor::on_watch_lock(const Flight& flight, const Reply& reply, TimePoint now) {
  const bool ours = reply.ok() && reply.stat.ephemeral_owner == core_.session();
  if (!reply.ok() || !flight.watched) lock_watch_armed_ = false;
  const bool holds = owner_ && owner_->state == ContenderState::held && !owner_->abandoned;
  if (holds && !ours && effect_of(reply.code) != Effect::unknown) need_resolve(now);
}

void Monitor::on_watch_node(const Flight& flight, Contender& contender, const Reply& reply, TimePoint now) {
  if (reply.ok() && flight.watched) return;
  contender.node_watched = false;
  if (reply.code == ReplyCode::no_node) on_own_node_removed(contender, now);
}

// Not by a request of ours, unless one is under way: then its reply tells.
void Monitor::on_own_node_removed(Contender& contender, TimePoint now) {
  contender.node_watched = false;
  if (contender.abandoned || !core_.connected()) return;
  if (resolve_) return need_resolve(now);  // what it has read already may be older
  if (needs_resolve_) return;
  if (contender.state == ContenderState::held && owner_ == &contender) need_resolve(now);
  if (contender.state == ContenderState::waiting) look_again();  // the next listing shows that it is gone
}

void Monitor::barrier_lost() {
  if (resolve_) resolve_->failed = true;
  if (resolve_ || needs_resolve_) barrier_needed_ = true;
}

void Monitor::on_disconnected() {
  if (!mutated(Mutation::number_proof_across_reconnect)) {
    alone_next_.reset();
    parent_watch_trusted_ = false;
  }
  lock_watch_armed_ = false;
  forget_listing();
  resolve_.reset();
  needs_resolve_ = !all_.empty() || stray_;
  barrier_needed_ = false;  // the first write of the next connection is one
  unwatched_ = false;
  resolve_not_before_ = {};
}

void Monitor::on_parent_event(WatchEvent::Kind kind, TimePoint now) {
  switch (kind) {
    case WatchEvent::Kind::deleted:
      monitor_missing();
      // Its nodes went before it. In a new monitor the same names may be somebody else's.
      if (owner_ && owner_->state == ContenderState::held && !owner_->abandoned) {
        core_.lose(*owner_, LossReason::removed);
      }
      if (!nodes_.empty()) need_resolve(now);
      break;
    case WatchEvent::Kind::data_changed:
      parent_watch_trusted_ = parent_watch_registered_ = false;
      alone_next_.reset();
      if (!all_.empty() && core_.connected() && !parent_watch_in_flight_) watch_parent(0, now);
      break;
    case WatchEvent::Kind::children_changed:
    case WatchEvent::Kind::created:
      if (!mutated(Mutation::watch_not_rechecked)) children_watched_ = false;
      look_not_before_ = now + patience();
      blocked_ = false;
      break;
  }
  settle(now);
}

// How long the line need not be looked at after a change: as long as those before our first contender take for their
// turns at least. Each change would be listed by every waiting process otherwise, three for a section.
Duration Monitor::patience() const {
  if (core_.options().watch_mode != WatchMode::parent || queue_.empty()) return {};
  const std::size_t before = foreign_before(queue_.front());
  return before < 2 ? Duration() : std::min<Duration>(shortest_turn * (before - 1), longest_patience);
}

void Monitor::on_child_event(const std::string& child, WatchEvent::Kind kind, TimePoint now) {
  if (child == private_lock_name) {
    lock_watch_armed_ = false;
    const bool holds = owner_ && owner_->state == ContenderState::held && !owner_->abandoned && !lock_flight_;
    if (holds && kind == WatchEvent::Kind::deleted) need_resolve(now);
    const bool watches = holds && owner_->hold_watch_at == never;
    if (watches && kind == WatchEvent::Kind::data_changed && core_.connected() && !resolve_) watch_lock(now);
  }
  const auto own = nodes_.find(child);
  if (own != nodes_.end() && kind == WatchEvent::Kind::deleted) on_own_node_removed(*own->second, now);
  if (child == watched_child_) on_watched_child_changed(kind == WatchEvent::Kind::deleted, now);
  settle(now);
}

// The node that our first contender has waited for is not any more what it was. If it is gone, so is the lock, nearly
// always: a release deletes both. So a foreground contender claims at once; should others still go before it, or the
// lock be held, then the claim fails or its proof does. A background contender looks first: a foreground contender may
// have joined the line since, and would have to wait until what was taken before it is given back.
void Monitor::on_watched_child_changed(bool gone, TimePoint now) {
  const std::string child = std::exchange(watched_child_, {});
  const ContenderId waiting = std::exchange(fresh_for_, 0);
  if (!gone || !core_.connected() || needs_resolve_ || resolve_ || owner_ || lock_flight_) return;
  if (listings_in_flight_ > 0 || queue_.empty()) return;
  Contender& first = queue_.front();
  if (!first.foreground() || waiting != first.id) return;
  std::erase_if(foreign_, [&child](const ForeignContender& other) { return other.name == child; });
  lock_seen_ = false;
  if (mutated(Mutation::vanished_neighbour_proves)) first.clear = true;
  claim(first, now);
}

// --- knowledge ---

void Monitor::note_watch(const Flight& listing) {
  if (!listing.watch) return;
  children_watched_ = listing.watched;
  unwatched_ = !listing.watched;
}

void Monitor::note_parent(const coordination::Stat& parent) {
  const std::int64_t created = parent.created_children();
  if (count_known_.czxid != parent.czxid || count_known_.created < created) count_known_ = {parent.czxid, created};
}

std::size_t Monitor::foreign_before(const Contender& contender) const {
  const ChildName self = child_of(contender);
  const auto end = std::partition_point(foreign_.begin(), foreign_.end(), [&self](const ForeignContender& other) {
    return goes_before(other.child(), self);
  });
  return static_cast<std::size_t>(end - foreign_.begin());
}

const ForeignContender* Monitor::last_foreign_before(const Contender& contender) const {
  const std::size_t before = foreign_before(contender);
  return before == 0 ? nullptr : &foreign_[before - 1];
}

// Whether the listing shows somebody who goes before this contender and was there when its claim was applied.
bool Monitor::somebody_before_grant(const Contender& contender) const {
  const ChildName self = child_of(contender);
  return std::any_of(foreign_.begin(), foreign_.end(), [&](const ForeignContender& other) {
    if (!goes_before(other.child(), self)) return false;
    // Equal numbers exist only at the counter's end, where they tell nothing.
    return !contender.claimed_at_creation || other.number <= contender.number;
  });
}

// A foreground contender that was seen first of its class cannot be overtaken any more.
bool Monitor::is_clear(const Contender& contender) const {
  if (!contender.foreground()) return false;
  return contender.clear || (listed_ && listed_count_ > contender.number && !last_foreign_before(contender));
}

void Monitor::forget_listing() {
  listed_ = false;
  foreign_.clear();
  look_again();
}

void Monitor::look_again() {
  children_watched_ = false;
  fresh_for_ = 0;
  watched_child_.clear();
}

void Monitor::note_number(std::int64_t number) {
  if (number < counter_alarm && number >= 0) return;
  alone_next_.reset();
  if (!std::exchange(counter_told_, true)) core_.output().counter_high(name_, number);
}

}  // namespace forelock::lock
