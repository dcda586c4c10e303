// The decisions.
#include "lock/monitor.h"

#include <algorithm>
#include <utility>

#include "lock/engine.h"
#include "lock/limits.h"
#include "lock/mutation.h"

namespace forelock::lock {

namespace {

// A holder looks at the queue only after this time, and then ever more rarely: shorter sections do without, and in long
// ones the two writes that a look can spare matter little. (Background sections of 10 ms in one process, foreground
// ones of another in between: 7.2 requests for a section, 7.7 without looks.)
constexpr Duration short_hold = std::chrono::milliseconds(2);
constexpr int rarer = 8;  // the next look comes after this part of the time so far

}  // namespace

bool Monitor::queued_before(const Contender* a, const Contender* b) {
  const ChildName first = a->monitor->child_of(*a);
  const ChildName second = b->monitor->child_of(*b);
  if (goes_before(first, second)) return true;
  if (goes_before(second, first)) return false;
  return a->arrival < b->arrival;
}

Monitor::Monitor(Engine& engine, std::string name, std::uint64_t ordinal)
    : engine_(engine),
      name_(std::move(name)),
      path_("/" + name_),
      lock_path_(path_ + "/" + std::string(private_lock_name)),
      ordinal_(ordinal),
      ageing_(engine.options().background_max_wait) {}

ChildName Monitor::child_of(const Contender& contender) const {
  return {engine_.prefix(contender.rank), contender.number};
}

void Monitor::settle(TimePoint now) {
  if (!engine_.connected() || resolving_.findings) return;
  if (all_.empty() && !lock_.stray) resolving_.needed = false;
  if (resolving_.needed) {
    if (outstanding_ == 0 && now >= resolving_.not_before) {
      begin_resolve(now);
    } else if (poll_at == never && now < resolving_.not_before) {
      engine_.set_poll(*this, resolving_.not_before);
    }
    return;
  }
  if (owner_) settle_owner(now);
  settle_idle(now);
  settle_queue(now);
  settle_moves(now);
  advise_contention(now);
  advise_positions();
  if (!applicants_.empty()) admit(now);
}

void Monitor::settle_owner(TimePoint now) {
  Contender& owner = *owner_;
  if (lock_.in_flight || releasing_ == &owner) return;
  if (owner.state == ContenderState::yielding) {
    yield(owner, now);
  } else if (owner.abandoned || owner.state == ContenderState::releasing) {
    give_back(owner, now);
  } else if (owner.hold.proof_wanted && owner.state == ContenderState::held) {
    prove_hold(owner, now);
  }
}

// The lock goes to the next of this process, if it is known that no other contender ranks before it: privateLock stays
// ours.
void Monitor::give_back(Contender& owner, TimePoint now) {
  Contender* next = queue_.empty() ? nullptr : &queue_.front();
  if (next && another_process_before(*next)) next = nullptr;
  if (next && another_may_go_before(*next)) next = nullptr;
  if (next) {
    hand_over(owner, *next, now);
  } else {
    release_lock(owner, now);
  }
}

bool Monitor::can_claim_at_once() const {
  // A release that is under way and leaves the lock free is applied before whatever is sent now.
  const bool ours = owner_ && owner_ != releasing_;
  return !ours && !lock_.in_flight && queue_.empty() && enqueueing() == 0;
}

// Who claims the lock with the creation of its own node: the first, but foreground before background. Where others are
// known or to be expected that would fail, so a contender that may wait joins the queue at once. A single attempt asks
// the server all the same: what is known here may have ended, and its caller may know that.
Contender* Monitor::claimant() const {
  const auto find = [this](const auto& wanted) -> Contender* {
    const auto found = std::find_if(idle_.begin(), idle_.end(), [&](const auto& one) { return wanted(*one.second); });
    return found == idle_.end() ? nullptr : found->second;
  };
  const bool busy = listing_.known() && listing_.children_watched() && !releasing_ &&
                    (listing_.lock_seen() || !listing_.others().empty());
  const bool may_wait = !busy && !node_.blocked && !looks_.queue_expected;
  Contender* chosen = nullptr;
  for (const Priority priority : all_priorities) {
    const auto may_claim = [&](const Contender& one) {
      return one.rank == priority && (one.spec.try_once ? !looks_first(one) : may_wait);
    };
    if (chosen == nullptr) chosen = find(may_claim);
  }
  return chosen;
}

bool Monitor::looks_first(const Contender& contender) const {
  if (mutated(Mutation::outranked_claims_again)) return false;
  return looks_.outranked && contender.spec.try_once;
}

// Thousands of background claims may be held back: a foreground contender does not wait behind the one of its monitor.
void Monitor::let_foreground_pass() {
  if (claiming_at_once_ == nullptr || claiming_at_once_->most_urgent()) return;
  Contender& claiming = *claiming_at_once_;
  const bool outranked = std::any_of(idle_.begin(), idle_.end(),
                                     [&claiming](const auto& one) { return one.second->rank < claiming.rank; });
  if (!outranked || !withdraw_claim(claiming)) return;
  if (claiming.abandoned) return engine_.forget(claiming);
  claiming.move_to(ContenderState::idle);
  idle_.insert({claiming.arrival, &claiming});
}

void Monitor::settle_idle(TimePoint now) {
  if (idle_.empty()) return;
  let_foreground_pass();
  if (Contender* chosen = can_claim_at_once() ? claimant() : nullptr) {
    idle_.erase({chosen->arrival, chosen});
    fast_claim(*chosen, now);
  }
  bool enqueued = false;
  for (auto next = idle_.begin(); next != idle_.end();) {
    Contender& contender = *next->second;
    if (contender.spec.try_once) {
      ++next;
      if (looks_first(contender) && can_claim_at_once()) {
        if (std::exchange(contender.proof_requested, true)) continue;
        send({.kind = FlightKind::catch_up, .contender = contender.id}, coordination::Sync{"/"}, now);
        list(false, contender.id, now);
        continue;
      }
      const bool held = owner_ && owner_ != releasing_ && owner_->state == ContenderState::held && !owner_->abandoned;
      if (!held && queue_.empty() && (lock_.in_flight || owner_)) continue;  // soon known
      engine_.refuse(contender, {.reason = RefusalReason::unavailable});
      engine_.forget(contender);
      continue;
    }
    if (node_.blocked) {
      ++next;
      continue;
    }
    next = idle_.erase(next);
    enqueue(contender, now);
    enqueued = true;
  }
  if (node_.blocked && !idle_.empty()) return keep_watched(now);
  // In the same breath: this listing shows the new contenders, and its watch is not fired by them.
  const bool lock_is_ours = owner_ && owner_ != releasing_;
  if (enqueued && !lock_is_ours && !lock_.in_flight && !listing_.in_flight()) {
    list(engine_.watch_mode() == WatchMode::parent, 0, now);
  }
}

void Monitor::settle_queue(TimePoint now) {
  if (owner_ || lock_.in_flight || queue_.empty()) {
    if (node_.blocked) return;
    engine_.set_poll(*this, never);
    return look_while_held(now);
  }
  Contender& first = queue_.front();
  if (!view_fresh_for(first)) {
    if (listing_.in_flight()) return;
    if (now < looks_.not_before) return engine_.set_poll(*this, looks_.not_before);
    return list(engine_.watch_mode() == WatchMode::parent, 0, now);
  }
  if (listing_.lock_seen() || another_process_before(first)) {
    first.waited = true;
    if (first.waiting_since == never) {
      first.waiting_since = now;
      const ForeignContender* before = listing_.last_before(child_of(first));
      engine_.explain(first, CourseStep::behind, before ? std::string_view(before->name) : private_lock_name);
    }
    const TimePoint look = now + look_interval(first);
    if (listing_.unwatched()) {
      look_in_turn(now);
    } else if (poll_at == looks_.not_before || poll_at > look) {
      engine_.set_poll(*this, look);
    }
    const bool next = listing_.count_before(child_of(first)) <= 1;  // the holder, if anybody
    const bool told_of_all = listing_.children_watched() && engine_.watch_mode() == WatchMode::parent;
    if (next || !told_of_all) watch_predecessor(first, false, now);
    return;
  }
  if (another_may_go_before(first)) return;  // its reply is on the way
  claim(first, now);
}

// Without a watch on what it waits for, a process looks in intervals: at all such queues in turn, so that thousands of
// them do not keep the servers busy.
void Monitor::look_in_turn(TimePoint now) {
  if (poll_at != never && poll_at == looks_.turn) return;
  looks_.turn = engine_.next_unwatched_look(now);
  engine_.set_poll(*this, looks_.turn);
}

// When to look at the queue again although no watch has fired.
Duration Monitor::look_interval(const Contender& first) const {
  const bool watched = first.node_watched || engine_.sparing_watches();
  return watched ? engine_.safety_poll() : engine_.options().node_watch_delay;
}

// Which contender gets the lock after the holder is decided by what is known then. If another process's contender has
// come that goes before ours, handing over to ours would cost two writes more: it, and giving back. So while one of
// ours waits, a holder that keeps the lock for long looks at the queue, and again when that changes.
void Monitor::look_while_held(TimePoint now) {
  if (!owner_ || owner_->state != ContenderState::held || owner_->abandoned || lock_.in_flight || queue_.empty())
    return;
  const Contender& next = queue_.front();
  if (listing_.children_watched() || listing_.in_flight() || another_process_before(next) || is_clear(next)) return;
  const TimePoint last = std::max(listing_.last_sent(), looks_.held_since);
  const Duration pause = std::max<Duration>(short_hold, (last - looks_.held_since) / rarer);
  const TimePoint due = last + std::min(pause, engine_.options().safety_poll);
  if (now < due) return engine_.set_poll(*this, due);
  list(true, 0, now);
}

bool Monitor::view_fresh_for(const Contender& first) const {
  const bool parent_mode = engine_.watch_mode() == WatchMode::parent;
  const bool coming_and_going = places_wanted() && parent_mode && !listing_.unwatched();
  return listing_.known() && (listing_.children_watched() || (listing_.fresh_for(first.id) && !coming_and_going));
}

// Once a listing has shown a contender, what goes before it in its own class can only become less. So the node directly
// before it can be watched without another look. (A foreground contender may have come before one of the background,
// which looks before it claims.)
bool Monitor::old_listing_serves(const Contender& first) const {
  return !places_wanted() && !listing_.unwatched() && listing_.shows(child_of(first)) && another_process_before(first);
}

void Monitor::poll(TimePoint now) {
  if (!owner_ && !queue_.empty() && engine_.connected() && !resolving_.busy()) {
    Contender& first = queue_.front();
    const bool long_wait =
        first.waiting_since != never && now - first.waiting_since >= engine_.options().node_watch_delay;
    if (long_wait) look_at_own_record(first, now);
  }
  listing_.expire();
  node_.blocked = false;
  settle(now);
}

void Monitor::granted(TimePoint now) {
  looks_.held_since = now;
  if (owner_) {
    applicants_.erase({owner_->arrival, owner_});
    note_wait(*owner_, 0, now);
  }
  advise_contention(now);
}

// A watch on the children, as a holder has that wants to know of all waiters, tells of a removal as well: the other two
// follow when it has fired. But by that on its own node those of its process that wait are told of wishes.
void Monitor::watch_held_lock(Contender& contender, TimePoint now) {
  if (owner_ != &contender || !engine_.connected() || resolving_.busy()) return;
  const bool told_of_all = contender.spec.contention == ContentionScope::all && listing_.children_watched();
  if (told_of_all && queue_.empty()) return;
  watch_lock(now);
  watch_node(contender, now);
}

// The line is listed with a watch whenever the last one has fired; without room for a watch, or when it may not be
// listed, at intervals.
void Monitor::keep_watched(TimePoint now) {
  if (listing_.children_watched() || listing_.in_flight()) return;
  const bool at_intervals = listing_.unwatched() || listing_.refused();
  const TimePoint due = at_intervals ? listing_.last_sent() + unwatched_interval : now;
  if (now < due) return engine_.set_poll(*this, std::min(poll_at, due));
  list(true, 0, now);
}

// One with another prefix counts as the class before which it goes, or else as the last one.
Priority Monitor::class_of(const ForeignContender& contender) const {
  const auto next = std::find_if(all_priorities.begin(), all_priorities.end(),
                                 [&](Priority priority) { return contender.prefix <= engine_.prefix(priority); });
  return next == all_priorities.end() ? all_priorities.back() : *next;
}

std::optional<Priority> Monitor::most_urgent_waiting() const {
  std::optional<Priority> first;
  if (!queue_.empty()) first = queue_.front().rank;
  const bool fresh = listing_.known() && (listing_.children_watched() || listing_.unwatched());
  if (!fresh || listing_.others().empty()) return first;
  const Priority of_others = class_of(listing_.others().front());
  return first ? std::min(*first, of_others) : of_others;
}

void Monitor::advise_contention(TimePoint now) {
  if (!owner_ || owner_->state != ContenderState::held || owner_->abandoned) return;
  const ContentionScope scope = owner_->spec.contention;
  if (scope == ContentionScope::none) return;
  if (scope == ContentionScope::all) keep_watched(now);
  const auto tell = [this](Priority priority) {
    if (std::exchange(owner_->told_waiting[priority], true)) return;
    engine_.output().contended(owner_->id, priority);
  };
  for (const Contender* waiting : queue_) {
    const auto& told = owner_->told_waiting.values;
    if (std::all_of(told.begin(), told.end(), [](bool one) { return one; })) break;
    tell(waiting->rank);
  }
  if (scope != ContentionScope::all) return;
  for (const ForeignContender& waiting : listing_.others()) tell(class_of(waiting));
}

void Monitor::advise_positions() {
  for (const auto& [arrival, contender] : position_watchers_) {
    const auto index = queue_.index_of(contender);
    if (!index || !position_known(*contender)) continue;
    QueuePosition position = position_at(*index);
    if (position == contender->position) continue;
    if (const auto wait = predicted_wait(contender->spec.priority, position.place)) {
      position.expected_wait = std::chrono::round<std::chrono::milliseconds>(*wait);
    }
    contender->position = std::move(position);
    engine_.output().queued(contender->id, *contender->position);
  }
}

}  // namespace forelock::lock
