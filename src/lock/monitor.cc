// Decisions and the requests that follow from them.
#include "lock/monitor.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "lock/engine_core.h"
#include "lock/limits.h"
#include "lock/mutation.h"

namespace forelock::lock {

using coordination::Check;
using coordination::Create;
using coordination::CreateMode;
using coordination::Delete;
using coordination::Exists;
using coordination::List;
using coordination::Operation;
using coordination::SetData;
using coordination::Transaction;

namespace {

// While creates of our own are under way, each of them fires the watch of the listing before: looking again at once
// would list the whole line for every contender that joins it.
constexpr Duration listing_interval = std::chrono::milliseconds(5);

// A holder looks at the line only after this time, and then ever more rarely: shorter sections do without, and in long
// ones the two writes that a look can spare matter little.
constexpr Duration short_hold = std::chrono::milliseconds(2);
constexpr int rarer = 8;  // the next look comes after this part of the time so far

// An initializer list would copy the operations, and with them the records.
template <class... Operations>
Transaction transaction_of(Operations... operations) {
  Transaction transaction;
  transaction.operations.reserve(sizeof...(operations));
  (transaction.operations.emplace_back(std::move(operations)), ...);
  return transaction;
}

}  // namespace

bool Monitor::QueueOrder::operator()(const Contender* a, const Contender* b) const {
  const ChildName first = a->monitor->child_of(*a);
  const ChildName second = b->monitor->child_of(*b);
  if (goes_before(first, second)) return true;
  if (goes_before(second, first)) return false;
  return a->arrival < b->arrival;
}

Monitor::Monitor(EngineCore& core, std::string name, std::uint64_t ordinal)
    : core_(core),
      name_(std::move(name)),
      path_("/" + name_),
      lock_path_(path_ + "/" + std::string(private_lock_name)),
      ordinal_(ordinal) {}

std::string Monitor::child_path(std::string_view child) const {
  std::string path;
  path.reserve(path_.size() + 1 + child.size());
  return path.append(path_).append("/").append(child);
}

// What the server appends a sequence number to.
std::string Monitor::new_node_path(const Contender& contender) const {
  const std::string& prefix = core_.prefix(contender.spec.priority);
  std::string path;
  path.reserve(path_.size() + 1 + prefix.size() + 1);
  return path.append(path_).append("/").append(prefix).append("-");
}

ChildName Monitor::child_of(const Contender& contender) const {
  return {core_.prefix(contender.spec.priority), contender.number};
}

// --- callers ---

void Monitor::add(Contender& contender, TimePoint) {
  all_.emplace(contender.arrival, &contender);
  idle_.insert({contender.arrival, &contender});
  if (contender.spec.wants_position) ++position_watchers_;
}

void Monitor::drop(Contender& contender) {
  all_.erase(contender.arrival);
  idle_.erase({contender.arrival, &contender});
  queue_.erase(&contender);
  if (const auto node = nodes_.find(contender.node); node != nodes_.end() && node->second == &contender) {
    nodes_.erase(node);
  }
  if (owner_ == &contender) owner_ = nullptr;
  if (releasing_ == &contender) releasing_ = nullptr;
  if (contender.spec.wants_position) --position_watchers_;
}

void Monitor::release(Contender& contender, TimePoint now) {
  core_.end_hold(contender);
  contender.state = ContenderState::releasing;
  settle(now);
}

void Monitor::step_aside(Contender& contender, TimePoint now) {
  contender.state = ContenderState::yielding;
  contender.stepping_aside = true;
  contender.spec.try_once = false;  // it has a place in the line now
  contender.proof_requested = false;
  contender.claimed_at_creation = false;
  contender.told_foreground_waits = contender.told_background_waits = false;
  contender.position.reset();
  settle(now);
}

void Monitor::update_record(Contender& contender, std::string record, TimePoint now) {
  if (!core_.connected() || needs_resolve_ || resolve_ || lock_flight_ || owner_ != &contender) return;
  const std::int32_t version = lock_version_++;
  send({.kind = FlightKind::update_record, .contender = contender.id},
       transaction_of(Check{child_path(contender.node)}, SetData{lock_path_, std::move(record), version}), now);
}

std::vector<Operation> Monitor::guard(const Contender& contender) const {
  if (needs_resolve_ || resolve_) return {};  // the nodes that we know of may not be ours any more
  return {Check{child_path(contender.node)}, Check{lock_path_, lock_version_}};
}

void Monitor::abandon(Contender& contender, TimePoint now) {
  switch (contender.state) {
    case ContenderState::idle:
      core_.forget(contender);
      break;
    case ContenderState::waiting:
      queue_.erase(&contender);
      if (mutated(Mutation::no_cleanup_after_timeout)) {
        core_.forget(contender);
      } else if (core_.connected()) {
        remove_node(contender, now);
      }
      break;
    case ContenderState::held:
      // Its deadline has passed. What bears the names of its nodes by now may be somebody else's, in a monitor that was
      // made anew, and the news of that still on their way.
      need_resolve(now);
      break;
    default:
      break;  // something is under way; its reply will find the contender abandoned
  }
  settle(now);
}

std::optional<Position> Monitor::position_of(const Contender& contender) const {
  const auto self = queue_.find(const_cast<Contender*>(&contender));
  if (self == queue_.end()) return std::nullopt;
  Position position;
  position.place = static_cast<std::size_t>(std::distance(queue_.begin(), self)) + 1;
  position.behind = private_lock_name;
  if (self != queue_.begin()) position.behind = (*std::prev(self))->node;
  if (const ForeignContender* last = last_foreign_before(contender)) {
    position.place += static_cast<std::size_t>(last - foreign_.data()) + 1;
    if (self == queue_.begin() || goes_before(child_of(**std::prev(self)), last->child())) position.behind = last->name;
    // The holder keeps its node, which is no place in the line. It is before us, unless it is of the lower class.
    const bool only_foreground = foreign_.back().prefix == core_.options().foreground_prefix;
    const bool holder_before = lock_seen_ && !owner_ && (!contender.foreground() || only_foreground);
    if (holder_before && --position.place == 1) position.behind = private_lock_name;
  }
  return position;
}

// --- decisions ---

void Monitor::settle(TimePoint now) {
  if (!core_.connected() || resolve_) return;
  if (all_.empty() && !stray_) needs_resolve_ = false;
  if (needs_resolve_) {
    if (outstanding_ == 0 && now >= resolve_not_before_) {
      begin_resolve(now);
    } else if (poll_at == never && now < resolve_not_before_) {
      core_.set_poll(*this, resolve_not_before_);
    }
    return;
  }
  if (owner_) settle_owner(now);
  settle_idle(now);
  settle_queue(now);
  advise_contention(now);
  advise_positions();
}

void Monitor::settle_owner(TimePoint now) {
  Contender& owner = *owner_;
  if (lock_flight_ || releasing_ == &owner) return;
  if (owner.state == ContenderState::yielding) {
    yield(owner, now);
  } else if (owner.abandoned || owner.state == ContenderState::releasing) {
    give_back(owner, now);
  }
}

// The lock goes to the next of this process, if it is known that nobody else ranks before it: privateLock stays ours.
void Monitor::give_back(Contender& owner, TimePoint now) {
  Contender* next = queue_.empty() ? nullptr : *queue_.begin();
  if (next && last_foreign_before(*next)) next = nullptr;
  if (next && !next->foreground() && enqueueing_foreground_ > 0) next = nullptr;
  if (next) {
    hand_over(owner, *next, now);
  } else {
    release_lock(owner, now);
  }
}

bool Monitor::can_claim_at_once() const {
  // A release that is under way and leaves the lock free is applied before whatever is sent now.
  const bool ours = owner_ && owner_ != releasing_;
  return !ours && !lock_flight_ && queue_.empty() && enqueueing_ == 0;
}

// Who claims the lock with the creation of its own node: the first, but foreground before background. Where others are
// known or to be expected that would fail, so whoever may wait joins the line at once. A single attempt asks the server
// all the same: what is known here may have ended, and its caller may know that.
Contender* Monitor::claimant() const {
  const auto find = [this](const auto& wanted) -> Contender* {
    const auto found = std::find_if(idle_.begin(), idle_.end(), [&](const auto& one) { return wanted(*one.second); });
    return found == idle_.end() ? nullptr : found->second;
  };
  const bool busy = listed_ && children_watched_ && !releasing_ && (lock_seen_ || !foreign_.empty());
  if (busy || line_expected_) return find([](const Contender& one) { return one.spec.try_once; });
  Contender* foreground = find([](const Contender& one) { return one.foreground(); });
  return foreground ? foreground : idle_.begin()->second;
}

void Monitor::settle_idle(TimePoint now) {
  if (idle_.empty()) return;
  if (blocked_) {
    if (!children_watched_ && listings_in_flight_ == 0) list(true, 0, now);
    return;
  }
  if (Contender* chosen = can_claim_at_once() ? claimant() : nullptr) {
    idle_.erase({chosen->arrival, chosen});
    fast_claim(*chosen, now);
  }
  bool enqueued = false;
  for (auto next = idle_.begin(); next != idle_.end();) {
    Contender& contender = *next->second;
    if (contender.spec.try_once) {
      ++next;
      const bool held = owner_ && owner_ != releasing_ && owner_->state == ContenderState::held && !owner_->abandoned;
      if (!held && queue_.empty() && (lock_flight_ || owner_)) continue;  // soon known
      core_.refuse(contender, {.reason = RefusalReason::unavailable});
      core_.forget(contender);
      continue;
    }
    next = idle_.erase(next);
    enqueue(contender, now);
    enqueued = true;
  }
  // In the same breath: this listing shows the new contenders, and its watch is not fired by them.
  const bool lock_is_ours = owner_ && owner_ != releasing_;
  if (enqueued && !lock_is_ours && !lock_flight_ && listings_in_flight_ == 0) {
    list(core_.options().watch_mode == WatchMode::parent, 0, now);
  }
}

void Monitor::settle_queue(TimePoint now) {
  if (owner_ || lock_flight_ || queue_.empty()) {
    if (blocked_) return;
    core_.set_poll(*this, never);
    return look_while_held(now);
  }
  Contender& first = **queue_.begin();
  if (!view_fresh_for(first)) {
    const bool burst = enqueueing_ > 0 && now - last_listing_ < listing_interval;
    if (listings_in_flight_ > 0 || burst) return;
    if (now < look_not_before_) return core_.set_poll(*this, look_not_before_);
    return list(core_.options().watch_mode == WatchMode::parent, 0, now);
  }
  if (lock_seen_ || last_foreign_before(first)) {
    first.waited = true;
    if (poll_at == never || poll_at == look_not_before_) core_.set_poll(*this, now + core_.options().safety_poll);
    const bool next = foreign_before(first) <= 1;  // the holder, if anybody
    if (next || core_.options().watch_mode == WatchMode::predecessor) watch_predecessor(first, now);
    return;
  }
  if (!first.foreground() && enqueueing_foreground_ > 0) return;  // its reply is on the way
  claim(first, now);
}

// To whom the lock goes after the holder is decided by what is known then. If another process's contender has come that
// goes before ours, handing over to ours would cost two writes more: it, and giving back. So while somebody of ours
// waits, a holder that takes its time looks at the line, and again when that changes.
void Monitor::look_while_held(TimePoint now) {
  if (!owner_ || owner_->state != ContenderState::held || owner_->abandoned || lock_flight_ || queue_.empty()) return;
  const Contender& next = **queue_.begin();
  if (children_watched_ || listings_in_flight_ > 0 || last_foreign_before(next) || is_clear(next)) return;
  const TimePoint last = std::max(last_listing_, held_since_);
  const Duration pause = std::max<Duration>(short_hold, (last - held_since_) / rarer);
  const TimePoint due = last + std::min(pause, core_.options().safety_poll);
  if (now < due) return core_.set_poll(*this, due);
  list(true, 0, now);
}

bool Monitor::view_fresh_for(const Contender& first) const {
  const bool coming_and_going = position_watchers_ > 0 && core_.options().watch_mode == WatchMode::parent;
  return listed_ && (children_watched_ || (fresh_for_ == first.id && !coming_and_going));
}

void Monitor::poll(TimePoint now) {
  look_again();
  blocked_ = false;
  settle(now);
}

void Monitor::granted(Contender& contender, TimePoint now) {
  held_since_ = now;
  if (contender.spec.wants_contention && !children_watched_ && listings_in_flight_ == 0) list(true, 0, now);
  advise_contention(now);
}

void Monitor::watch_held_lock(Contender& contender, TimePoint now) {
  if (owner_ == &contender && core_.connected() && !needs_resolve_ && !resolve_) watch_lock(now);
}

void Monitor::advise_contention(TimePoint now) {
  if (!owner_ || owner_->state != ContenderState::held || owner_->abandoned || !owner_->spec.wants_contention) return;
  if (!children_watched_ && listings_in_flight_ == 0) list(true, 0, now);
  const auto tell = [this](Priority priority) {
    bool& told = priority == Priority::foreground ? owner_->told_foreground_waits : owner_->told_background_waits;
    if (std::exchange(told, true)) return;
    core_.output().contended(owner_->id, priority);
  };
  for (const Contender* waiting : queue_) {
    if (owner_->told_foreground_waits && owner_->told_background_waits) break;
    tell(waiting->spec.priority);
  }
  for (const ForeignContender& waiting : foreign_) {
    if (waiting.prefix == core_.options().foreground_prefix) tell(Priority::foreground);
    if (waiting.prefix == core_.options().background_prefix) tell(Priority::background);
  }
}

void Monitor::advise_positions() {
  if (position_watchers_ == 0) return;
  for (Contender* contender : queue_) {
    if (!contender->spec.wants_position) continue;
    const std::optional<Position> position = position_of(*contender);
    if (position == contender->position) continue;
    contender->position = position;
    core_.output().queued(contender->id, *position);
  }
}

// --- requests ---

void Monitor::send(Flight flight, coordination::Request request, TimePoint now) {
  flight.monitor = this;
  flight.creation = creations_;
  ++outstanding_;
  core_.became_busy(*this);  // the reply must still find it
  core_.send(std::move(flight), std::move(request), now);
}

void Monitor::ensure_monitor(TimePoint now) {
  if (exists_) return;
  exists_ = true;  // harmless if it was there already; the reply tells if it could not be made
  // A watch that is set, or on its way, may be another monitor's, which has been deleted.
  parent_watch_trusted_ = parent_watch_in_flight_ = false;
  ++creations_;
  send({.kind = FlightKind::create_monitor}, Create{path_, "", CreateMode::container}, now);
}

void Monitor::fast_claim(Contender& contender, TimePoint now) {
  ensure_monitor(now);
  contender.state = ContenderState::claiming;
  lock_flight_ = true;
  send({.kind = FlightKind::fast_claim, .contender = contender.id},
       transaction_of(Create{new_node_path(contender), contender.spec.record, CreateMode::ephemeral_sequential},
                      Create{lock_path_, "", CreateMode::ephemeral},
                      SetData{lock_path_, contender.spec.holder_record(), coordination::any_version}),
       now);
  contender.proof_requested = !alone_next_ || shared_;
  if (!parent_watch_trusted_ && !parent_watch_in_flight_) {
    forget_listing();                 // unwatched, it may be of a monitor that was here before this one
    watch_parent(contender.id, now);  // its answer also tells whether anybody else is there
  } else if (contender.proof_requested) {
    list(false, contender.id, now);
  }
}

void Monitor::enqueue(Contender& contender, TimePoint now) {
  ensure_monitor(now);
  contender.state = ContenderState::enqueueing;
  ++enqueueing_;
  if (contender.foreground()) ++enqueueing_foreground_;
  send({.kind = FlightKind::enqueue, .contender = contender.id},
       Create{new_node_path(contender), contender.spec.record, CreateMode::ephemeral_sequential}, now);
  if (!parent_watch_trusted_ && !parent_watch_in_flight_) watch_parent(0, now);
}

void Monitor::claim(Contender& contender, TimePoint now) {
  queue_.erase(&contender);
  contender.state = ContenderState::claiming;
  contender.claimed_at_creation = false;
  lock_flight_ = true;
  Transaction transaction;
  if (!mutated(Mutation::own_node_not_checked)) transaction.operations.push_back(Check{child_path(contender.node)});
  transaction.operations.push_back(Create{lock_path_, "", CreateMode::ephemeral});
  transaction.operations.push_back(SetData{lock_path_, contender.spec.holder_record(), coordination::any_version});
  send({.kind = FlightKind::claim, .contender = contender.id}, std::move(transaction), now);
  contender.clear = is_clear(contender);
  if (mutated(Mutation::claim_unproved)) contender.clear = true;
  contender.proof_requested = !contender.clear;
  if (contender.proof_requested) list(core_.options().watch_mode == WatchMode::parent, contender.id, now);
}

void Monitor::hand_over(Contender& leaver, Contender& next, TimePoint now) {
  queue_.erase(&next);
  next.state = ContenderState::claiming;
  next.claimed_at_creation = false;
  lock_flight_ = true;
  send({.kind = FlightKind::hand_over, .contender = leaver.id, .next = next.id},
       transaction_of(Delete{child_path(leaver.node)}, Check{child_path(next.node)},
                      SetData{lock_path_, next.spec.holder_record(), lock_version_}),
       now);
  next.clear = is_clear(next);
  if (mutated(Mutation::hand_over_unproved)) next.clear = true;
  next.proof_requested = !next.clear;
  if (next.proof_requested) list(false, next.id, now);
}

void Monitor::release_lock(Contender& owner, TimePoint now) {
  releasing_ = &owner;
  const Flight flight{.kind = FlightKind::release, .contender = owner.id};
  if (mutated(Mutation::release_order_swapped)) {
    send({.kind = FlightKind::remove_lock}, Delete{lock_path_}, now);
    send(flight, Delete{child_path(owner.node)}, now);
  } else if (mutated(Mutation::late_release_blind)) {
    send({.kind = FlightKind::remove_lock}, Delete{child_path(owner.node)}, now);
    send(flight, Delete{lock_path_}, now);
  } else {
    // Own node first: if that is gone, so is our right to privateLock, and nothing is deleted.
    send(flight, transaction_of(Delete{child_path(owner.node)}, Delete{lock_path_, lock_version_}), now);
  }
  if (!queue_.empty()) list(core_.options().watch_mode == WatchMode::parent, 0, now);
}

void Monitor::yield(Contender& owner, TimePoint now) {
  lock_flight_ = true;
  owner.state = ContenderState::yielding;
  send({.kind = FlightKind::yield, .contender = owner.id},
       transaction_of(Check{child_path(owner.node)}, Delete{lock_path_, lock_version_}), now);
  list(core_.options().watch_mode == WatchMode::parent, 0, now);
}

void Monitor::remove_node(Contender& contender, TimePoint now) {
  if (needs_resolve_ || resolve_) return;  // the name may be somebody else's by now; resolving comes back to it
  if (std::exchange(contender.removing, true)) return;
  send({.kind = FlightKind::remove_node, .contender = contender.id}, Delete{child_path(contender.node)}, now);
}

void Monitor::list(bool watch, ContenderId proof_for, TimePoint now) {
  ++listings_in_flight_;
  last_listing_ = now;
  send({.kind = FlightKind::list, .contender = proof_for, .watch = watch}, List{path_, watch}, now);
}

void Monitor::watch_parent(ContenderId proof_for, TimePoint now) {
  parent_watch_in_flight_ = true;
  send({.kind = FlightKind::watch_parent, .contender = proof_for}, Exists{path_, true}, now);
}

void Monitor::watch_lock(TimePoint now) {
  if (mutated(Mutation::removed_holder_not_noticed)) return;
  if (lock_watch_armed_) return;
  lock_watch_armed_ = true;
  send({.kind = FlightKind::watch_lock}, Exists{lock_path_, true}, now);
}

// The node directly before our first contender, or privateLock if there is none.
void Monitor::watch_predecessor(const Contender& first, TimePoint now) {
  const ForeignContender* before = last_foreign_before(first);
  const std::string child = before ? before->name : std::string(private_lock_name);
  fresh_for_ = first.id;
  if (watched_child_ == child) return;
  watched_child_ = child;
  send({.kind = FlightKind::watch_predecessor, .name = child}, Exists{child_path(child), true}, now);
}

}  // namespace forelock::lock
