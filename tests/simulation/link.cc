// A link's session, and the calls of its process.
#include "link.h"

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

void Link::new_agent() {
  if (agent_) former_.push_back(std::move(agent_));
  const Plan& plan = world_.plan();
  lock::EngineOptions engine = plan.engine;
  if (!ages()) engine.background_max_wait = {};
  agent_ = std::make_unique<agent::Agent>(agent::AgentOptions{engine, plan.grouping, plan.linger}, *this);
  unanswered_.clear();
  world_.requests().disconnected(*this);
  last_sent_ = sent_before_collision_ = 0;
  giving_up_.clear();
  guarded_.clear();
  down_since_ = now();
}

void Link::connect() {
  connected_ = false;
  session_ = &world_.new_session(*this, world_.plan().homes[process_.index()]);
  agent_->use(&wire_);
}

model::ModelSession* Link::session_or_null() {
  return process_.is_down() ? nullptr : session_;
}

agent::Agent& Link::agent() {
  world_.checker().before_call(*this);
  return *agent_;
}

void Link::end_step() {
  agent_->end_step();
  to_let_go_.clear();
}

// --- Believer ---

Instant Link::awake_since() const {
  return process_.awake_since();
}

bool Link::ages() const {
  const std::vector<bool>& ages = world_.plan().ages;
  return !ages.empty() && ages[process_.index()];
}

Instant Link::calm_since() const {
  if (!connected_ || process_.is_down()) return now();
  return std::max(connected_at_, world_.disturbed_until(process_.index()));
}

Instant Link::connected_since() const {
  return connected_ && !process_.is_down() ? connected_at_ : lock::never;
}

// --- timers ---

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
    agent().on_answered(sent, is_write_probe(tag));
  } else if ((tag & guard_bit) != 0) {
    if (!reply.ok()) ++world_.statistics().guarded_writes_refused;
    if (const auto write = guarded_.extract(tag)) {
      --world_.checker().at(write.mapped()).open_writes;
      agent_->end_guarded_write({write.mapped()});
    }
    if (tracing()) trace("guarded write: " + describe(reply));
    return;
  } else {
    if ((tag & grouping::GroupingSession::group_tag) != 0 && !reply.ok()) ++world_.statistics().groups_failed;
    agent().on_answer(tag, std::move(reply));
  }
  process_.settle();
}

void Link::answered(coordination::RequestTag tag, const coordination::Reply& reply) {
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
}

void Link::on_watch(const coordination::WatchEvent& event) {
  if (tracing()) trace("<- watch: " + describe(event));
  world_.checker().watch_delivered(*this, event);
  world_.requests().watch_delivered(*this, event);
  agent().on_watch_event(event);
  process_.settle();
}

void Link::on_session(const coordination::SessionEvent& event) {
  if (tracing()) trace("<- session: " + describe(event));
  using Kind = coordination::SessionEvent::Kind;
  if (connected_ && event.kind != Kind::connected) down_since_ = now();
  connected_ = event.kind == Kind::connected;
  if (connected_) connected_at_ = now();
  if (!connected_) world_.requests().disconnected(*this);
  agent().on_session_event(event);
  // What contends from now on does so in the next session.
  if (event.kind == Kind::expired) world_.checker().session_ended(*this);
  process_.settle();
  if (event.kind != Kind::expired) return;
  world_.timeline().after(world_.random().between(Span{}, milliseconds(5)), *this, new_session);
}

// --- calls ---

std::uint64_t Link::expect(const PlannedCall& call, Instant deadline) {
  expected_ = call;
  expected_deadline_ = deadline;
  return world_.checker().contenders() + 1;
}

lock::ContenderId Link::new_contender() {
  return world_.checker().add(this, expected_, expected_deadline_);
}

void Link::fill_in(std::uint64_t id, lock::AcquireSpec& spec) {
  spec.guid = guid_of(id);
  spec.record = [id](lock::RecordUse use, const std::string&) {
    return record_of(use == lock::RecordUse::holding ? 'h' : 'n', id);
  };
}

// Some of the calls are such that their record says what ends with the section.
bool Link::may_linger(std::uint64_t id) const {
  return world_.plan().linger.time > Span{} && id % 5 != 0;
}

Span Link::danger_margin(std::uint64_t id) const {
  const bool wanted = world_.plan().linger.time > Span{} && id % 3 == 0;
  return wanted ? Span(world_.plan().session_timeout) / 4 : Span{};
}

void Link::write_guarded(const agent::ContenderListener& caller, std::uint64_t id) {
  const char kind = world_.checker().at(id).told ? aware_write : unaware_write;
  auto write = agent_->begin_guarded_write(caller, {id}, {coordination::SetData{"/D", record_of(kind, id)}});
  if (!write) return;
  if (tracing()) trace("guarded write of " + std::to_string(id) + ": " + describe(coordination::Request(*write)));
  const auto tag = guard_bit | next_guard_++;
  guarded_[tag] = id;
  ++world_.checker().at(id).open_writes;
  session_->submit(tag, *std::move(write));
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
