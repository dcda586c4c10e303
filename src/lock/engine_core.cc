#include "lock/engine_core.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "lock/monitor.h"
#include "lock/mutation.h"

namespace forelock::lock {

using coordination::ReplyCode;

namespace {

Reach reach_of(FlightKind kind) {
  switch (kind) {
    case FlightKind::heartbeat:
    case FlightKind::create_monitor:
    case FlightKind::fast_claim:
    case FlightKind::enqueue:
    case FlightKind::claim:
    case FlightKind::hand_over:
    case FlightKind::release:
    case FlightKind::yield:
    case FlightKind::update_record:
    case FlightKind::remove_node:
    case FlightKind::remove_lock:
    case FlightKind::remove_monitor:
    case FlightKind::resolve_barrier:
      return Reach::quorum;
    case FlightKind::ping:
      return Reach::leader;
    case FlightKind::list:
    case FlightKind::watch_parent:
    case FlightKind::watch_predecessor:
    case FlightKind::watch_lock:
    case FlightKind::watch_node:
    case FlightKind::unwatch:
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

EngineCore::EngineCore(EngineOptions options, EngineOutput& output)
    : options_(std::move(options)), output_(output), watches_(options_.watched_bytes, options_.root_bytes) {}

EngineCore::~EngineCore() = default;

Contender* EngineCore::find(ContenderId id) const {
  const auto found = contenders_.find(id);
  return found == contenders_.end() ? nullptr : found->second.get();
}

void EngineCore::acquire(ContenderId id, AcquireSpec spec, TimePoint now) {
  enforce_deadline(now);
  evict(now);
  auto owned = std::make_unique<Contender>();
  Contender& contender = *owned;
  contender.id = id;
  contender.arrival = next_arrival_++;
  contender.spec = std::move(spec);
  contenders_.emplace(id, std::move(owned));
  Monitor& monitor = monitor_of(contender.spec.monitor);
  contender.monitor = &monitor;
  became_busy(monitor);
  if (!started_) {
    started_ = true;
    if (!connected_ && down_since_ == never) down_since_ = now;
  }
  set_deadline(contender, contender.spec.deadline);
  monitor.add(contender, now);
  if (closed_) {
    refuse(contender, {.reason = RefusalReason::closed});
    monitor.abandon(contender, now);
  } else if (gave_up_ && !connected_) {
    refuse(contender, {.reason = RefusalReason::connection_lost});
    monitor.abandon(contender, now);
  } else {
    monitor.settle(now);
  }
}

void EngineCore::send(Flight flight, coordination::Request request, TimePoint now) {
  flight.sent = now;
  if (bool* watch = watch_of(request); watch != nullptr && *watch) {
    *watch = flight.watched = watches_.reserve(watch_kind(flight.kind), path_of(request));
  }
  const auto tag = next_tag_++;
  flights_.emplace(tag, std::move(flight));
  output_.send(tag, std::move(request));
}

// --- answers to callers ---

// After an outage of nearly a time-out there is still some left, but a lock that was granted then would be lost before
// the next proof can come, although nothing fails any more.
bool EngineCore::certain_for_a_while(TimePoint now) const {
  const TimePoint until = valid_until();
  const TimePoint next_proof = proof_.worth_asking();
  return now < until && (next_proof == never || next_proof < until - timeout_ / 16);
}

void EngineCore::grant(Contender& contender, TimePoint now) {
  bool alive = certain_for_a_while(now);
  if (mutated(Mutation::grant_after_deadline)) alive = true;
  if (!alive) {
    pending_grants_.insert(contender.id);  // until a heartbeat has proved that the session lives
    return;
  }
  pending_grants_.erase(contender.id);
  set_deadline(contender, never);
  contender.state = ContenderState::held;
  held_.insert(contender.id);
  contender.hold_watch_at = now + options_.hold_watch_delay;
  timers_.insert({contender.hold_watch_at, {contender.id, Timer::hold_watch}});
  output_.granted(contender.id, {contender.token, contender.node});
  contender.monitor->granted(now);
}

void EngineCore::grant_pending(TimePoint now) {
  if (!certain_for_a_while(now)) return;
  const std::vector<ContenderId> pending(pending_grants_.begin(), pending_grants_.end());
  for (const ContenderId id : pending) {
    pending_grants_.erase(id);
    if (Contender* contender = find(id); contender && !contender->abandoned) grant(*contender, now);
  }
}

void EngineCore::refuse(Contender& contender, Refusal refusal) {
  cancel_timers(contender);
  contender.abandoned = true;
  refusal.position = contender.monitor->position_of(contender);
  output_.refused(contender.id, refusal);
}

void EngineCore::lose(Contender& contender, LossReason reason) {
  end_hold(contender);
  contender.abandoned = true;
  output_.lost(contender.id, reason);
}

void EngineCore::finish_release(Contender& contender, ReleaseOutcome outcome) {
  cancel_timers(contender);
  contender.abandoned = true;
  output_.released(contender.id, outcome);
}

void EngineCore::forget(Contender& contender) {
  cancel_timers(contender);
  held_.erase(contender.id);
  Monitor& monitor = *contender.monitor;
  monitor.drop(contender);
  const ContenderId id = contender.id;
  contenders_.erase(id);
  output_.forgotten(id);
  if (monitor.idle()) became_idle(monitor);
}

void EngineCore::end_hold(Contender& contender) {
  held_.erase(contender.id);
  cancel_timers(contender);
}

void EngineCore::cancel_timers(Contender& contender) {
  if (contender.spec.deadline != never) timers_.erase({contender.spec.deadline, {contender.id, Timer::deadline}});
  if (contender.hold_watch_at != never) timers_.erase({contender.hold_watch_at, {contender.id, Timer::hold_watch}});
  contender.hold_watch_at = never;
  pending_grants_.erase(contender.id);
}

void EngineCore::set_deadline(Contender& contender, TimePoint deadline) {
  if (contender.spec.deadline != never) timers_.erase({contender.spec.deadline, {contender.id, Timer::deadline}});
  contender.spec.deadline = deadline;
  if (deadline != never) timers_.insert({deadline, {contender.id, Timer::deadline}});
}

void EngineCore::set_poll(Monitor& monitor, TimePoint at) {
  if (monitor.poll_at == at) return;
  if (monitor.poll_at != never) polls_.erase({monitor.poll_at, monitor.ordinal()});
  monitor.poll_at = at;
  if (at != never) polls_.insert({at, monitor.ordinal()});
}

// --- the session ---

void EngineCore::on_session(const coordination::SessionEvent& event, TimePoint now) {
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

void EngineCore::on_connected(const coordination::SessionEvent& event, TimePoint now) {
  const bool resumed = session_ == event.session;
  timeout_ = resumed ? std::min<Duration>(timeout_, event.timeout) : Duration(event.timeout);
  if (resumed) {
    proof_.resumed(timeout_);
  } else {
    proof_.opened(event.asked_at, timeout_);
  }
  session_ = event.session;
  connected_ = true;
  down_since_ = never;
  gave_up_ = false;
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

void EngineCore::on_disconnected(TimePoint now) {
  connected_ = false;
  if (down_since_ == never) down_since_ = now;
  pending_grants_.clear();  // proved again by the resolving
  for (auto& [name, monitor] : monitors_) monitor->on_disconnected();
}

void EngineCore::on_expired(TimePoint now) {
  connected_ = false;
  session_ = 0;
  proof_.ended();
  down_since_ = now;
  end_all(RefusalReason::session_expired, LossReason::session_expired, ReleaseOutcome::session_expired);
}

void EngineCore::close(TimePoint now) {
  enforce_deadline(now);
  closed_ = true;
  end_all(RefusalReason::closed, LossReason::closed, ReleaseOutcome::session_expired);
}

// Everything ended with the session: nothing is left on the server that would have to be removed.
void EngineCore::end_all(RefusalReason refusal, LossReason loss, ReleaseOutcome release) {
  flights_.clear();
  watches_.clear();
  heartbeat_in_flight_ = false;
  std::vector<ContenderId> ids;
  ids.reserve(contenders_.size());
  for (const auto& [id, contender] : contenders_) ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  for (const ContenderId id : ids) {
    Contender& contender = *find(id);
    if (!contender.abandoned) {
      if (contender.state == ContenderState::held) {
        if (mutated(Mutation::expired_holder_keeps_lock)) continue;
        lose(contender, loss);
      } else if (contender.state == ContenderState::releasing) {
        finish_release(contender, release);
      } else {
        refuse(contender, {.reason = refusal});
      }
    }
    forget(contender);
  }
  if (mutated(Mutation::expired_holder_keeps_lock)) return;
  if (mutated(Mutation::number_proof_across_reconnect)) return;
  idle_.clear();
  idle_bytes_ = 0;
  polls_.clear();
  by_ordinal_.clear();
  monitors_.clear();
}

void EngineCore::answered(TimePoint sent, Reach reach, TimePoint now) {
  if (reach != Reach::server) leader_asked_ = std::max(leader_asked_, sent);
  if (reach == Reach::quorum) written_ = std::max(written_, sent);
  proof_.answered(sent, reach, now);
  if (!pending_grants_.empty()) grant_pending(now);
}

void EngineCore::on_reply(coordination::RequestTag tag, coordination::Reply reply, TimePoint now) {
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
  } else if (flight.kind == FlightKind::unwatch) {
    if (!reply.ok()) watches_.restore(WatchLedger::Kind::data, flight.name);
  } else if (flight.monitor) {
    Monitor& monitor = *flight.monitor;
    monitor.on_reply(flight, std::move(reply), now);
    if (monitor.idle()) became_idle(monitor);
    evict(now);
  }
}

void EngineCore::on_watch(const coordination::WatchEvent& event, TimePoint now) {
  enforce_deadline(now);
  const bool children = event.kind == coordination::WatchEvent::Kind::children_changed;
  const bool both = event.kind == coordination::WatchEvent::Kind::deleted;
  if (!children) watches_.remove(WatchLedger::Kind::data, event.path);
  if (children || both) watches_.remove(WatchLedger::Kind::children, event.path);
  std::string child;
  Monitor* monitor = monitor_of_path(event.path, &child);
  if (!monitor) return;
  if (child.empty()) {
    monitor->on_parent_event(event.kind, now);
  } else {
    monitor->on_child_event(child, event.kind, now);
  }
}

void EngineCore::settle_all(TimePoint now) {
  std::vector<Monitor*> busy;
  for (const auto& [name, monitor] : monitors_) {
    if (!monitor->in_idle_list) busy.push_back(monitor.get());
  }
  std::sort(busy.begin(), busy.end(), [](const Monitor* a, const Monitor* b) { return a->ordinal() < b->ordinal(); });
  for (Monitor* monitor : busy) monitor->settle(now);
}

// --- time ---

void EngineCore::enforce_deadline(TimePoint now) {
  if (held_.empty() || now < valid_until()) return;
  const std::set<ContenderId> held = std::exchange(held_, {});
  for (const ContenderId id : held) {
    Contender& contender = *find(id);
    lose(contender, LossReason::deadline_passed);
    contender.monitor->abandon(contender, now);
  }
}

void EngineCore::heartbeat(bool write, TimePoint now) {
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
std::string EngineCore::heartbeat_path() const {
  for (const std::set<ContenderId>* ids : {&held_, &pending_grants_}) {
    const Contender* contender = ids->empty() ? nullptr : find(*ids->begin());
    if (contender && !contender->node.empty()) return contender->monitor->path() + "/" + contender->node;
  }
  return "/";
}

void EngineCore::on_heartbeat(const Flight& flight, ReplyCode code) {
  heartbeat_in_flight_ = false;
  if (flight.kind != FlightKind::heartbeat || effect_of(code) != coordination::Effect::unknown) return;
  for (auto& [name, monitor] : monitors_) monitor->barrier_lost();
}

// So that on a good connection the session is always certain to live for more than a third of its time-out: a proof is
// as old as two heartbeats, the leader's question in between, and the wait for the next heartbeat. Without a lock a
// sync will do, which costs no transaction; the claim that follows it is the write that completes the proof.
TimePoint EngineCore::next_heartbeat() const {
  if (!connected_ || closed_ || heartbeat_in_flight_) return never;
  if (!proof_wanted()) return leader_asked_ + timeout_ / 10;
  const TimePoint usual = written_ + timeout_ / 10;
  const bool enough_left = pending_grants_.empty() && valid_until() >= usual + timeout_ / 3;
  const TimePoint worth = proof_.worth_asking();
  return enough_left || worth == never ? usual : std::min(usual, std::max(worth, written_ + timeout_ / 64));
}

TimePoint EngineCore::next_timer() const {
  TimePoint next = next_heartbeat();
  if (!timers_.empty()) next = std::min(next, timers_.begin()->first);
  if (!polls_.empty()) next = std::min(next, polls_.begin()->first);
  if (!held_.empty()) next = std::min(next, valid_until());
  if (down_since_ != never && !gave_up_ && started_) next = std::min(next, down_since_ + options_.give_up_after);
  return next;
}

void EngineCore::tick(TimePoint now) {
  enforce_deadline(now);
  while (!timers_.empty() && timers_.begin()->first <= now) {
    const auto [id, timer] = timers_.begin()->second;
    timers_.erase(timers_.begin());
    Contender* contender = find(id);
    if (!contender || contender->abandoned) continue;
    if (timer == Timer::hold_watch) {
      contender->hold_watch_at = never;
      contender->monitor->watch_held_lock(*contender, now);
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
  if (down_since_ != never && !gave_up_ && started_ && down_since_ + options_.give_up_after <= now)
    give_up_waiting(now);
  evict(now);
}

// Whoever waits is told; holders stay suspect until their own deadline, and cleaning up goes on after a reconnect.
void EngineCore::give_up_waiting(TimePoint now) {
  gave_up_ = true;
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

TimePoint EngineCore::oldest_unanswered() const {
  TimePoint oldest = never;
  for (const auto& [tag, flight] : flights_) oldest = std::min(oldest, flight.sent);
  return oldest;
}

}  // namespace forelock::lock
