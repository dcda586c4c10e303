// What the session says, what is sent to it, and when.
#include <algorithm>
#include <utility>
#include <vector>

#include "lock/engine.h"
#include "lock/monitor.h"
#include "lock/mutation.h"

namespace forelock::lock {

using coordination::ReplyCode;

namespace {

Reach reach_of(FlightKind kind) {
  switch (kind) {
    case FlightKind::heartbeat:
    case FlightKind::create_monitor:
    case FlightKind::fresh_claim:
    case FlightKind::fast_claim:
    case FlightKind::enqueue:
    case FlightKind::move:
    case FlightKind::claim:
    case FlightKind::hand_over:
    case FlightKind::release:
    case FlightKind::yield:
    case FlightKind::prove_hold:
    case FlightKind::knock:
    case FlightKind::update_record:
    case FlightKind::remove_node:
    case FlightKind::remove_lock:
    case FlightKind::remove_monitor:
    case FlightKind::remove_unused:
    case FlightKind::resolve_barrier:
      return Reach::quorum;
    case FlightKind::ping:
    case FlightKind::catch_up:
      return Reach::leader;
    case FlightKind::list:
    case FlightKind::watch_parent:
    case FlightKind::watch_predecessor:
    case FlightKind::watch_lock:
    case FlightKind::watch_node:
    case FlightKind::unwatch:
    case FlightKind::look_at_unused:
    case FlightKind::resolve_list:
    case FlightKind::resolve_lock:
    case FlightKind::resolve_node:
      return Reach::server;
  }
  return Reach::server;
}

// The request's demand for a watch, if it has one.
bool* watch_of(coordination::Request& request) {
  if (auto* list = std::get_if<coordination::List>(&request)) return &list->watch;
  if (auto* get = std::get_if<coordination::Get>(&request)) return &get->watch;
  return nullptr;
}

WatchLedger::Kind watch_kind(FlightKind kind) {
  const bool children = kind == FlightKind::list || kind == FlightKind::resolve_list;
  return children ? WatchLedger::Kind::children : WatchLedger::Kind::data;
}

const std::string& path_of(const coordination::Request& request) {
  if (const auto* list = std::get_if<coordination::List>(&request)) return list->path;
  return std::get<coordination::Get>(request).path;
}

}  // namespace

coordination::RequestTag Engine::send(Flight flight, coordination::Request request, TimePoint now) {
  flight.sent = now;
  if (bool* watch = watch_of(request); watch != nullptr && *watch) {
    const bool room = flight.kind != FlightKind::watch_parent || !watches_.last_room();
    *watch = flight.watched = room && watches_.reserve(watch_kind(flight.kind), path_of(request));
  }
  const auto tag = next_tag_++;
  flights_.emplace(tag, std::move(flight));
  output_.send(tag, std::move(request));
  return tag;
}

std::optional<FlightKind> Engine::withdraw(coordination::RequestTag tag) {
  const auto found = flights_.find(tag);
  if (found == flights_.end() || !output_.withdraw(tag)) return std::nullopt;
  const Flight& flight = found->second;
  const FlightKind kind = flight.kind;
  if (flight.watched) watches_.settle(watch_kind(kind), flight.monitor->watched_path(flight), false);
  flights_.erase(found);
  return kind;
}

// --- the session ---

void Engine::on_session(const coordination::SessionEvent& event, TimePoint now) {
  enforce_deadline(now);
  switch (event.kind) {
    case coordination::SessionEvent::Kind::connected:
      return on_connected(event, now);
    case coordination::SessionEvent::Kind::disconnected:
      return on_disconnected(now);
    case coordination::SessionEvent::Kind::expired:
    case coordination::SessionEvent::Kind::auth_failed:
      return on_expired(now);
  }
}

void Engine::on_connected(const coordination::SessionEvent& event, TimePoint now) {
  const bool resumed = session_ == event.session;
  timeout_ = resumed ? std::min<Duration>(timeout_, event.timeout) : Duration(event.timeout);
  if (resumed) {
    proof_.resumed(timeout_);
  } else {
    proof_.opened(event.asked_at, timeout_);
  }
  session_ = event.session;
  connected_ = true;
  if (outage_.since != never) outage_.before += now - outage_.since;
  outage_.since = never;
  outage_.gave_up = false;
  // As a write it is the barrier before everything that the resolving of busy monitors reads over this connection.
  const bool busy = monitors_.size() > idle_.size();
  const bool barrier = resumed && (busy || proof_wanted());
  if (mutated(Mutation::no_resync_before_resolving)) {
    leader_asked_ = written_ = now;
  } else {
    heartbeat(barrier, now);
  }
  settle_all(now);
}

void Engine::on_disconnected(TimePoint now) {
  connected_ = false;
  if (outage_.since == never) outage_.since = now;
  pending_grants_.clear();  // proved again by the resolving
  for (auto& [name, monitor] : monitors_) monitor->on_disconnected();
  unused_.disconnected();
}

void Engine::on_expired(TimePoint now) {
  connected_ = false;
  session_ = 0;
  proof_.ended();
  outage_.since = now;
  end_all(RefusalReason::session_expired, LossReason::session_expired, ReleaseOutcome::session_expired);
}

void Engine::on_answered(TimePoint sent, bool write, TimePoint now, ReplyCode code) {
  enforce_deadline(now);
  answered(sent, write && !coordination::decided_locally(code) ? Reach::quorum : Reach::server, now);
}

void Engine::answered(TimePoint sent, Reach reach, TimePoint now) {
  if (reach != Reach::server) leader_asked_ = std::max(leader_asked_, sent);
  if (reach == Reach::quorum) written_ = std::max(written_, sent);
  proof_.answered(sent, reach, now);
  if (!pending_grants_.empty()) grant_pending(now);
}

void Engine::on_reply(coordination::RequestTag tag, coordination::Reply reply, TimePoint now) {
  enforce_deadline(now);
  const auto found = flights_.find(tag);
  if (found == flights_.end()) return;  // of a session that has ended
  const Flight flight = std::move(found->second);
  flights_.erase(found);
  if (flight.watched) watches_.settle(watch_kind(flight.kind), flight.monitor->watched_path(flight), reply.ok());
  if (answered_by_server(reply.code)) {
    answered(flight.sent, decided_locally(reply.code) ? Reach::server : reach_of(flight.kind), now);
  }
  if (flight.kind == FlightKind::heartbeat || flight.kind == FlightKind::ping) {
    on_heartbeat(flight, reply.code);
  } else if (flight.kind == FlightKind::remove_unused) {
    on_removed_unused(flight, reply, now);
    remove_unused(now);
  } else if (flight.kind == FlightKind::knock) {
    on_knocked(flight, reply, now);
  } else if (flight.kind == FlightKind::look_at_unused) {
    on_looked_at_unused(flight.name, reply, now);
    remove_unused(now);
  } else if (flight.kind == FlightKind::unwatch) {
    if (!reply.ok()) watches_.restore(WatchLedger::Kind::data, flight.name);
  } else if (flight.monitor) {
    Monitor& monitor = *flight.monitor;
    monitor.on_reply(flight, std::move(reply), now);
    if (monitor.idle()) became_idle(monitor);
    evict(now);
  }
}

void Engine::on_watch(const coordination::WatchEvent& event, TimePoint now) {
  enforce_deadline(now);
  const bool children = event.kind == coordination::WatchEvent::Kind::children_changed;
  const bool both = event.kind == coordination::WatchEvent::Kind::deleted;
  if (!children) watches_.remove(WatchLedger::Kind::data, event.path);
  if (children || both) watches_.remove(WatchLedger::Kind::children, event.path);
  std::string child;
  Monitor* monitor = monitor_of_path(event.path, &child);
  if (!monitor) {
    if (!children) unused_.doubt(event.path.substr(1));
    return;
  }
  if (child.empty()) {
    monitor->on_parent_event(event.kind, now);
  } else {
    monitor->on_child_event(child, event.kind, now);
  }
}

void Engine::settle_all(TimePoint now) {
  std::vector<Monitor*> busy;
  for (const auto& [name, monitor] : monitors_) {
    if (!monitor->idle_position) busy.push_back(monitor.get());
  }
  std::sort(busy.begin(), busy.end(), [](const Monitor* a, const Monitor* b) { return a->ordinal() < b->ordinal(); });
  for (Monitor* monitor : busy) monitor->settle(now);
}

// --- time ---

void Engine::enforce_deadline(TimePoint now) {
  if (held_.empty() || now < valid_until()) return;
  const std::set<ContenderId> held = std::exchange(held_, {});
  for (const ContenderId id : held) {
    Contender& contender = *find(id);
    lose(contender, LossReason::deadline_passed);
    contender.monitor->abandon(contender, now);
  }
}

void Engine::heartbeat(bool write, TimePoint now) {
  heartbeat_in_flight_ = true;
  leader_asked_ = now;
  if (write) {
    written_ = now;
    coordination::Request request = coordination::Transaction{{coordination::Check{heartbeat_path()}}};
    if (mutated(Mutation::sync_proves)) request = coordination::Sync{"/"};
    if (mutated(Mutation::read_proves)) request = coordination::Exists{"/", false};
    send({.kind = FlightKind::heartbeat}, std::move(request), now);
  } else {
    send({.kind = FlightKind::ping}, coordination::Sync{"/"}, now);
  }
}

// A node of our own where there is one: the root may not be ours to read.
std::string Engine::heartbeat_path() const {
  for (const std::set<ContenderId>* ids : {&held_, &pending_grants_}) {
    const Contender* contender = ids->empty() ? nullptr : find(*ids->begin());
    if (contender && !contender->node.empty()) return contender->monitor->path() + "/" + contender->node;
  }
  return "/";
}

void Engine::on_heartbeat(const Flight& flight, ReplyCode code) {
  heartbeat_in_flight_ = false;
  if (flight.kind != FlightKind::heartbeat || effect_of(code) != coordination::Effect::unknown) return;
  for (auto& [name, monitor] : monitors_) monitor->barrier_lost();
}

// So that on a good connection the session is always certain to live for more than a third of its time-out: a proof is
// as old as two heartbeats, the leader's question in between, and the wait for the next heartbeat. Without a lock a
// sync will do, which costs no transaction; the claim that follows it is the write that completes the proof.
TimePoint Engine::next_heartbeat() const {
  if (!connected_ || closed_ || heartbeat_in_flight_) return never;
  if (!proof_wanted()) return leader_asked_ + timeout_ / 10;
  const TimePoint usual = written_ + timeout_ / 10;
  const bool enough_left = pending_grants_.empty() && valid_until() >= usual + timeout_ / 3;
  const TimePoint worth = proof_.worth_asking();
  return enough_left || worth == never ? usual : std::min(usual, std::max(worth, written_ + timeout_ / 64));
}

Duration Engine::patience() const {
  const bool first = timeout_ == Duration::zero();
  return first && options_.give_up_after == Duration::zero() ? options_.first_connection : options_.give_up_after;
}

TimePoint Engine::next_timer() const {
  TimePoint next = next_heartbeat();
  if (!timers_.empty()) next = std::min(next, timers_.begin()->first);
  if (!polls_.empty()) next = std::min(next, polls_.begin()->first);
  if (!held_.empty()) next = std::min(next, valid_until());
  if (outage_.since != never && !outage_.gave_up && started_) next = std::min(next, outage_.since + patience());
  if (connected_ && !closed_) next = std::min(next, unused_.next_timer());
  return next;
}

void Engine::tick(TimePoint now) {
  enforce_deadline(now);
  while (!timers_.empty() && timers_.begin()->first <= now) {
    const auto [id, timer] = timers_.begin()->second;
    timers_.erase(timers_.begin());
    Contender* contender = find(id);
    if (!contender || contender->abandoned) continue;
    if (timer == Timer::hold_watch) {
      contender->hold.watch_at = never;
      contender->monitor->watch_held_lock(*contender, now);
    } else if (timer == Timer::proof) {
      want_proof(*contender, now);
    } else if (timer == Timer::move) {
      contender->moving.at = never;
      contender->monitor->move_due(*contender, now);
    } else {
      contender->spec.deadline = never;
      if (mutated(Mutation::timeout_ignored_when_disconnected)) {
        if (!connected_) continue;
      }
      refuse(*contender, {.reason = connected_ ? RefusalReason::timed_out : RefusalReason::connection_lost});
      contender->monitor->abandon(*contender, now);
    }
  }
  while (!polls_.empty() && polls_.begin()->first <= now) {
    Monitor& monitor = *by_ordinal_.at(polls_.begin()->second);
    set_poll(monitor, never);
    monitor.poll(now);
  }
  if (next_heartbeat() <= now) heartbeat(proof_wanted(), now);
  if (outage_.since != never && !outage_.gave_up && started_ && outage_.since + patience() <= now) give_up_waiting(now);
  evict(now);
  remove_unused(now);
}

// Waiters are refused; holders stay suspect until their own deadline, and cleaning up continues after a reconnect.
void Engine::give_up_waiting(TimePoint now) {
  outage_.gave_up = true;
  std::vector<ContenderId> ids;
  for (const auto& [id, contender] : contenders_) {
    const ContenderState state = contender->state;
    if (!contender->abandoned && state != ContenderState::held && state != ContenderState::releasing) ids.push_back(id);
  }
  std::sort(ids.begin(), ids.end());
  for (const ContenderId id : ids) {
    Contender& contender = *find(id);
    refuse(contender, {.reason = RefusalReason::connection_lost});
    contender.monitor->abandon(contender, now);
  }
}

TimePoint Engine::oldest_unanswered() const {
  TimePoint oldest = never;
  for (const auto& [tag, flight] : flights_) oldest = std::min(oldest, flight.sent);
  return oldest;
}

}  // namespace forelock::lock
