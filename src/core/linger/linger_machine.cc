#include "linger/linger_machine.h"

#include <algorithm>
#include <chrono>

#include "linger/mutation.h"

namespace forelock::linger {

namespace {

// How long a monitor's use is remembered where locks do not linger.
constexpr lock::Duration use_counts = std::chrono::seconds(1);

}  // namespace

LingerMachine::Entry* LingerMachine::find(lock::ContenderId contender) {
  const auto found = entries_.find(contender);
  return found == entries_.end() ? nullptr : &found->second;
}

// The one place where states change: the monitor's knowledge and the list of lingering locks follow them.
void LingerMachine::move_to(Entry& entry, State state) {
  Monitor& monitor = entry.monitor->second;
  if (entry.state == State::asked_for) --monitor.waiting;
  if (monitor.holder == &entry) monitor.holder = nullptr;
  const bool stays_listed = state == State::in_use && mutated(Mutation::given_up_while_used);
  if (entry.place && !stays_listed) {
    places_of(entry.state).erase(*entry.place);
    entry.place.reset();
  }
  entry.state = state;
  if (state == State::asked_for) ++monitor.waiting;
  if (state == State::in_use || without_caller(entry)) monitor.holder = &entry;
  if (without_caller(entry)) entry.place = places_of(state).insert(places_of(state).end(), &entry);
}

// It is held all the same.
bool LingerMachine::without_caller(const Entry& entry) {
  return entry.state == State::lingering || entry.state == State::delayed;
}

void LingerMachine::give_up(Entry& entry) {
  move_to(entry, State::given_up);
  given_up_.push_back(entry.lock.contender);
}

void LingerMachine::erase(Entry& entry) {
  MonitorEntry& monitor = *entry.monitor;
  move_to(entry, State::given_up);
  entries_.erase(entry.lock.contender);
  if (--monitor.second.contenders == 0) monitors_.erase(monitors_.find(monitor.first));
}

// --- callers ---

const Lock* LingerMachine::take(const Wish& wish, bool certain, lock::TimePoint now) {
  if (lingering_.empty() && delayed_.empty()) return nullptr;
  const auto found = monitors_.find(wish.monitor);
  Entry* const entry = found == monitors_.end() ? nullptr : found->second.holder;
  if (entry == nullptr || !without_caller(*entry)) return nullptr;
  if (mutated(Mutation::handed_out_uncertain)) certain = true;
  const bool same_class = entry->priority == wish.priority || mutated(Mutation::class_ignored);
  const bool silent = wish.wants_place && !entry->tells_place;  // the engine does not tell the place of its contender
  const bool lingers = entry->state == State::lingering;
  if (!lingers || !certain || !same_class || !wish.may_linger || silent || entry->until <= now) {
    give_up(*entry);
    return nullptr;
  }
  if (!mutated(Mutation::handed_out_twice)) move_to(*entry, State::in_use);
  return &entry->lock;
}

bool LingerMachine::ask(lock::ContenderId contender, const Wish& wish, std::string guid, lock::TimePoint now) {
  if (!on()) return false;
  while (!delayed_.empty()) give_up(*delayed_.front());  // they go with the request for this one
  MonitorEntry& monitor = *monitors_.try_emplace(wish.monitor).first;
  ++monitor.second.contenders;
  ++monitor.second.waiting;
  Entry& entry = entries_[contender];
  entry.lock = {contender, 0, std::move(guid)};
  entry.monitor = &monitor;
  entry.priority = wish.priority;
  entry.tells_place = wish.wants_place;
  const bool worth_it = lingers() && (!limits_.reused || used_.contains(wish.monitor, now));
  entry.may_linger = wish.may_linger && worth_it && !wanted_.contains(wish.monitor, now);
  return entry.may_linger;
}

void LingerMachine::stepped_aside(lock::ContenderId contender) {
  Entry* const entry = find(contender);
  if (entry == nullptr) return;
  entry->bound = false;  // the next grant has a record of its own
  move_to(*entry, State::asked_for);
}

void LingerMachine::bind_to_section(lock::ContenderId contender) {
  if (Entry* const entry = find(contender)) entry->bound = true;
}

// As soon as its caller has finished.
void LingerMachine::release_at_end(Entry& entry) {
  entry.may_linger = entry.may_be_delayed = false;
}

void LingerMachine::moved(lock::ContenderId contender) {
  if (Entry* const entry = find(contender)) release_at_end(*entry);
}

void LingerMachine::given_back(lock::ContenderId contender) {
  Entry* const entry = find(contender);
  if (entry != nullptr && entry->state == State::in_use && !mutated(Mutation::unused_lingers)) erase(*entry);
}

std::uint64_t LingerMachine::section(lock::ContenderId contender) const {
  const auto found = entries_.find(contender);
  return found == entries_.end() ? 0 : found->second.section;
}

bool LingerMachine::end_section(lock::ContenderId contender, bool certain, bool may_wait, lock::TimePoint now) {
  Entry* const entry = find(contender);
  if (entry == nullptr || entry->state == State::asked_for) return false;
  ++entry->section;
  const bool delays = limits_.delay > lock::Duration::zero();
  const bool used_before = used_.contains(entry->monitor->first, now);
  if (limits_.reused || delays) used_.add(entry->monitor->first, now + (lingers() ? limits_.time : use_counts));
  const bool in_use = entry->state == State::in_use || mutated(Mutation::handed_out_twice);
  const bool awaited = entry->monitor->second.waiting > 0 && !mutated(Mutation::kept_before_waiters);
  const bool may_stay = in_use && certain && !awaited;
  if (may_stay && entry->may_linger && !entry->bound) {
    entry->until = now + limits_.time;
    move_to(*entry, State::lingering);
    const std::size_t most = mutated(Mutation::bound_off_by_one) ? limits_.locks + 1 : limits_.locks;
    if (lingering_.size() > most) give_up(*lingering_.front());
    return true;
  }
  // Who uses it again and again would wait for its release.
  if (may_stay && may_wait && entry->may_be_delayed && delays && !used_before) {
    entry->until = now + limits_.delay;
    move_to(*entry, State::delayed);
    if (delayed_.size() > most_delayed) give_up(*delayed_.front());
    return true;
  }
  erase(*entry);
  return false;
}

// --- the engine and the session ---

void LingerMachine::granted(lock::ContenderId contender, lock::Token token) {
  Entry* const entry = find(contender);
  if (entry == nullptr) return;
  entry->lock.token = token;
  move_to(*entry, State::in_use);
}

bool LingerMachine::ended(lock::ContenderId contender, bool had_queued) {
  Entry* const entry = find(contender);
  if (entry == nullptr) return false;
  if (entry->state == State::asked_for && had_queued) ++entry->monitor->second.withdrawn;
  const bool no_callers = without_caller(*entry) || entry->state == State::given_up;
  erase(*entry);
  return no_callers;
}

// A lock in use is released at the end of its section. Contenders of this process are seen, too, as far as they have
// nodes: they are no reason to leave the monitor alone.
void LingerMachine::want(Entry& entry, bool by_another, lock::TimePoint now) {
  if (by_another) wanted_.add(entry.monitor->first, now + limits_.time);
  if (without_caller(entry)) {
    if (!mutated(Mutation::kept_when_contended)) give_up(entry);
  } else if (!mutated(Mutation::wanted_in_use_forgotten)) {
    release_at_end(entry);
  }
}

void LingerMachine::contended(lock::ContenderId contender, lock::TimePoint now) {
  Entry* const entry = find(contender);
  if (entry == nullptr || entry->monitor->second.holder != entry) return;
  want(*entry, entry->monitor->second.waiting == 0, now);
}

void LingerMachine::changed(const std::string& monitor, lock::TimePoint now) {
  const auto found = monitors_.find(monitor);
  if (found == monitors_.end() || found->second.holder == nullptr) return;
  Monitor& changed = found->second;
  const bool ours = changed.waiting > 0 || changed.withdrawn > 0;
  if (changed.waiting == 0 && changed.withdrawn > 0) --changed.withdrawn;
  want(*changed.holder, !ours, now);
}

// The watches went with the connection, and what has become of a lock is found out only when there is one again.
void LingerMachine::disconnected() {
  if (mutated(Mutation::kept_over_outages)) return;
  for (Places* kept : {&lingering_, &delayed_}) {
    while (!kept->empty()) give_up(*kept->front());
  }
  for (auto& [contender, entry] : entries_) {
    if (entry.state == State::in_use) release_at_end(entry);
  }
}

// --- time ---

void LingerMachine::tick(lock::TimePoint now) {
  if (mutated(Mutation::time_never_ends)) return;
  for (Places* kept : {&lingering_, &delayed_}) {
    if (kept == &delayed_ && mutated(Mutation::delay_never_ends)) continue;
    while (!kept->empty() && kept->front()->until <= now) give_up(*kept->front());
  }
}

lock::TimePoint LingerMachine::next_timer() const {
  lock::TimePoint next = lock::never;
  for (const Places* kept : {&lingering_, &delayed_}) {
    if (!kept->empty()) next = std::min(next, kept->front()->until);
  }
  return next;
}

}  // namespace forelock::linger
