// A link's session, and what its engine hears.
#include "link.h"

#include <algorithm>
#include <utility>

#include "describe.h"
#include "process.h"
#include "world.h"

namespace forelock::simulation {

namespace {

// Requests of the driver itself, not of the engine.
constexpr coordination::RequestTag probe_bit = std::uint64_t{1} << 63;
constexpr coordination::RequestTag guard_bit = std::uint64_t{1} << 62;
bool is_write_probe(coordination::RequestTag tag) {
  return tag % 2 == 0;
}
// Replies node_exists in a row: who is told that the lock is taken looks before trying again.
constexpr int most_collisions = 12;

}  // namespace

Link::Link(World& world, Process& process) : world_(world), process_(process), name_(process.name()) {}

Link::~Link() = default;

Instant Link::now() const {
  return world_.timeline().now();
}
bool Link::tracing() const {
  return world_.trace().on();
}
void Link::trace(const std::string& text) const {
  world_.trace().add(name_, text);
}

void Link::new_engine() {
  if (engine_) former_.push_back(std::move(engine_));
  engine_ = std::make_unique<lock::Engine>(world_.plan().engine, *this);
  grouping_ = std::make_unique<grouping::GroupingSession>(world_.plan().grouping, engine_listener_);
  linger_ = std::make_unique<linger::LingerMachine>(world_.plan().linger);
  unanswered_.clear();
  world_.requests().disconnected(*this);
  last_sent_ = sent_before_collision_ = 0;
  giving_up_.clear();
  down_since_ = now();
}

void Link::connect() {
  connected_ = false;
  session_ = &world_.new_session(*this, world_.plan().homes[process_.index()]);
  grouping_->use(&wire_);
}

model::ModelSession* Link::session_or_null() {
  return process_.is_down() ? nullptr : session_;
}

// --- Believer ---

Instant Link::awake_since() const {
  return process_.awake_since();
}

Instant Link::calm_since() const {
  if (!connected_ || process_.is_down()) return now();
  return std::max(connected_at_, world_.disturbed_until(process_.index()));
}

Instant Link::connected_since() const {
  return connected_ && !process_.is_down() ? connected_at_ : lock::never;
}

// --- timers ---

Instant Link::next_timer() const {
  return std::min(engine_->next_timer(), linger_->next_timer());
}

void Link::timer_due() {
  world_.checker().before_call(*this);
  engine_->tick(now());
  linger_->tick(now());
}

void Link::probe_from_now_on() {
  world_.timeline().after(world_.plan().session_timeout / 4, *this, probe);
}

void Link::fire(std::uint32_t what, std::uint64_t detail) {
  if (const auto later = process_.after_pause()) return world_.timeline().at(*later, *this, what, detail);
  if (what == probe) return send_probe();
  if (!process_.is_down()) connect();
}

void Link::send_probe() {
  if (!process_.is_down() && connected_) {
    const auto tag = probe_bit | next_probe_++;
    probes_[tag] = now();
    if (is_write_probe(tag)) {
      session_->submit(tag, coordination::Transaction{{coordination::Check{"/"}}});
    } else {
      session_->submit(tag, coordination::Sync{"/"});
    }
  }
  probe_from_now_on();
}

// --- the session ---

void Link::on_reply(coordination::RequestTag tag, coordination::Reply reply) {
  if ((tag & probe_bit) != 0) {
    const Instant sent = probes_[tag];
    probes_.erase(tag);
    if (!reply.ok()) return;
    world_.checker().before_call(*this);
    engine_->on_answered(sent, is_write_probe(tag), now());
  } else if ((tag & guard_bit) != 0) {
    if (!reply.ok()) ++world_.statistics().guarded_writes_refused;
    if (tracing()) trace("guarded write: " + describe(reply));
    return;
  } else {
    if ((tag & grouping::GroupingSession::group_tag) != 0 && !reply.ok()) ++world_.statistics().groups_failed;
    grouping_->on_reply(tag, std::move(reply));
  }
  process_.settle();
}

void Link::EngineListener::on_reply(coordination::RequestTag tag, coordination::Reply reply) {
  link_.engine_hears(tag, std::move(reply));
}

void Link::EngineListener::on_watch(const coordination::WatchEvent& event) {
  link_.world_.checker().before_call(link_);
  link_.engine_->on_watch(event, link_.now());
}

void Link::EngineListener::on_session(const coordination::SessionEvent& event) {
  link_.world_.checker().before_call(link_);
  link_.engine_->on_session(event, link_.now());
}

void Link::engine_hears(coordination::RequestTag tag, coordination::Reply reply) {
  if (tracing()) trace("<- #" + std::to_string(tag) + " " + describe(reply));
  if (unanswered_.erase(tag) == 0) {
    world_.checker().fail(Invariant::requests, name_ + " is answered request " + std::to_string(tag) + " twice");
  }
  if (reply.code != coordination::ReplyCode::node_exists) {
    collisions_ = 0;
  } else if (tag > sent_before_collision_) {
    ++collisions_;
    sent_before_collision_ = last_sent_;
  }
  if (collisions_ > most_collisions && !world_.plan().polled)
    world_.checker().fail(Invariant::no_lost_wakeup, name_ + " claims in a hot loop");
  if (const auto found = giving_up_.find(tag); found != giving_up_.end()) {
    if (effect_of(reply.code) == coordination::Effect::unknown) {
      world_.checker().at(found->second).giving_up_unknown = true;
    }
    giving_up_.erase(found);
  }
  world_.requests().answered(*this, tag, reply);
  world_.checker().before_call(*this);
  engine_->on_reply(tag, std::move(reply), now());
}

void Link::on_watch(const coordination::WatchEvent& event) {
  if (tracing()) trace("<- watch: " + describe(event));
  world_.checker().watch_delivered(*this, event);
  world_.requests().watch_delivered(*this, event);
  linger_->changed(event.path.substr(1, 1), now());
  if (event.kind == coordination::WatchEvent::Kind::children_changed) release_given_up();
  grouping_->on_watch(event);
  process_.settle();
}

void Link::on_session(const coordination::SessionEvent& event) {
  if (tracing()) trace("<- session: " + describe(event));
  using Kind = coordination::SessionEvent::Kind;
  if (connected_ && event.kind != Kind::connected) down_since_ = now();
  connected_ = event.kind == Kind::connected;
  if (connected_) connected_at_ = now();
  if (!connected_) world_.requests().disconnected(*this);
  grouping_->on_session(event);
  if (event.kind == Kind::disconnected) linger_->disconnected();
  // What contends from now on does so in the next session.
  if (event.kind == Kind::expired) world_.checker().session_ended(*this);
  if (event.kind == Kind::expired && !world_.plan().reuse_engine) {
    new_engine();
    process_.forget_tick();
  }
  process_.settle();
  if (event.kind != Kind::expired) return;
  world_.timeline().after(world_.random().between(Span{}, milliseconds(5)), *this, new_session);
}

// --- calls ---

bool Link::cancel(std::uint64_t id) {
  world_.checker().before_call(*this);
  return engine_->cancel(id, now());
}

void Link::update_record(std::uint64_t id, char kind) {
  world_.checker().before_call(*this);
  linger_->bind_to_section(id);
  engine_->update_record(id, record_of(kind, id), now());
}

void Link::write_guarded(std::uint64_t id) {
  auto guard = engine_->guard(id);
  if (!guard) return;
  coordination::Transaction write{std::move(*guard)};
  const char kind = world_.checker().at(id).told ? aware_write : unaware_write;
  write.operations.push_back(coordination::SetData{"/D", record_of(kind, id)});
  if (tracing()) trace("guarded write of " + std::to_string(id) + ": " + describe(write));
  session_->submit(guard_bit | id, std::move(write));
}

void Link::prove(std::uint64_t id) {
  world_.checker().before_call(*this);
  engine_->prove(id, now());
}

void Link::knock(std::vector<std::string> monitors) {
  world_.checker().before_call(*this);
  engine_->knock(std::move(monitors), now());
}

bool Link::step_aside(std::uint64_t id, Instant deadline) {
  world_.checker().before_call(*this);
  if (engine_->state(id) == lock::ContenderState::held) linger_->stepped_aside(id);
  return engine_->step_aside(id, deadline, now());
}

// --- faults of the process ---

void Link::crash() {
  session_->crash(world_.random().below(session_->underway() + 1));
}

void Link::close_session() {
  world_.checker().session_ended(*this);
  session_->begin_close();
  session_->crash(session_->underway());
}

void Link::go_down() {
  connected_ = false;
  probes_.clear();
}

}  // namespace forelock::simulation
