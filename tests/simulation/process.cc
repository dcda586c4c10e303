#include "process.h"

#include <algorithm>
#include <utility>

#include "describe.h"
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

Process::Process(World& world, std::size_t index)
    : world_(world), index_(index), name_("process" + std::to_string(index)) {
  for (const PlannedThread& plan : world.plan().threads) {
    if (plan.process != index || plan.calls.empty()) continue;
    threads_.push_back({});
    threads_.back().plan = &plan;
  }
  threads_open_ = threads_.size();
}

Process::~Process() = default;

void Process::start() {
  new_engine();
  connect();
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    timer(threads_[i].plan->start + call_of(threads_[i]).think, begin_call, i);
  }
  if (world_.plan().probes) world_.timeline().after(world_.plan().session_timeout / 4, *this, probe);
}

Instant Process::now() const {
  return world_.timeline().now();
}
bool Process::tracing() const {
  return world_.trace().on();
}
void Process::trace(const std::string& text) const {
  world_.trace().add(name_, text);
}

Instant Process::calm_since() const {
  if (!connected_ || down_) return now();
  return std::max(connected_at_, world_.disturbed_until());
}

void Process::new_engine() {
  if (!budget_) {
    budget_ = std::make_unique<retry::RetryBudget>(world_.plan().budget_burst, world_.plan().budget_per_second);
  }
  if (engine_) former_.push_back(std::move(engine_));
  engine_ = std::make_unique<lock::Engine>(world_.plan().engine, *this);
  grouping_ = std::make_unique<grouping::GroupingSession>(world_.plan().grouping, engine_listener_);
  linger_ = std::make_unique<linger::LingerMachine>(world_.plan().linger);
  unanswered_.clear();
  last_sent_ = sent_before_collision_ = 0;
  giving_up_.clear();
  down_since_ = now();
}

void Process::connect() {
  connected_ = false;
  session_ = &world_.new_session(*this, world_.plan().homes[index_]);
  grouping_->use(&wire_);
}

// --- timers ---

void Process::timer(Span delay, What what, std::size_t thread) {
  world_.timeline().after(delay, *this, what, (static_cast<std::uint64_t>(threads_[thread].serial) << 16) | thread);
}

void Process::fire(std::uint32_t what, std::uint64_t detail) {
  if (what == restart) {
    down_ = false;
    awake_since_ = now();
    if (tracing()) trace("starts anew");
    new_engine();
    connect();
    for (std::size_t i = 0; i < threads_.size(); ++i) {
      if (!threads_[i].over) timer(call_of(threads_[i]).think, begin_call, i);
    }
    return;
  }
  // The disk goes on while the process stands still.
  if (what == letter_written) {
    if (life_ == detail >> 32) world_.operations().letter_written(detail & 0xffffffff);
    return;
  }
  if (paused_until_ > now()) {
    const Span late = world_.random().between(Span{}, world_.plan().latest_tick);
    return world_.timeline().at(paused_until_ + late, *this, what, detail);
  }
  if (what == tick) {
    if (down_ || next_tick_ != Instant(Span(static_cast<Span::rep>(detail)))) return;
    next_tick_ = lock::never;
    world_.checker().before_call(*this);
    engine_->tick(now());
    linger_->tick(now());
    return settle();
  }
  if (what == probe) {
    if (!down_ && connected_) {
      const auto tag = probe_bit | next_probe_++;
      probes_[tag] = now();
      if (is_write_probe(tag)) {
        session_->submit(tag, coordination::Transaction{{coordination::Check{"/"}}});
      } else {
        session_->submit(tag, coordination::Sync{"/"});
      }
    }
    return world_.timeline().after(world_.plan().session_timeout / 4, *this, probe);
  }
  if (what == new_session) {
    if (!down_) connect();
    return;
  }
  if (what == stop_operation) {
    stop_requested(detail & 0xffff, detail >> 16);
    if (!down_) settle();
    return;
  }
  const std::size_t index = detail & 0xffff;
  if (down_ || threads_[index].serial != detail >> 16) return;
  if (what == begin_call || what == cancel_call || what == end_hold) world_.checker().before_call(*this);
  switch (what) {
    case begin_call:
      begin(index);
      break;
    case cancel_call: {
      if (threads_[index].set) {
        threads_[index].set->machine.cancel();
        follow_set(index);
        break;
      }
      const bool begun = engine_->cancel(threads_[index].contender, now());
      if (tracing()) trace("cancel " + std::to_string(threads_[index].contender) + (begun ? "" : ": no"));
      world_.checker().cancel_called(threads_[index].contender, begun);
      break;
    }
    case mid_hold:
      middle_of_hold(index);
      break;
    case operation_due:
    case letter_answered:
      operation_timer(static_cast<What>(what), index);
      break;
    default:
      finish_hold(index);
  }
  settle();
}

// --- threads ---

void Process::begin(std::size_t index) {
  if (call_of(threads_[index]).operation) return begin_operation(index);
  if (!call_of(threads_[index]).set.empty()) return begin_set(index);
  contend(index);
}

void Process::contend(std::size_t index) {
  Thread& thread = threads_[index];
  const PlannedCall& call = call_of(thread);
  Instant deadline = call.patience > Span{} ? now() + call.patience : lock::never;
  if (call.operation) deadline = std::min(deadline, thread.operation_deadline);
  ++thread.serial;
  thread.step_asides = call.step_asides;
  thread.guarded_writes = call.guarded_writes;
  if (call.cancel_after > Span{}) timer(call.cancel_after, cancel_call, index);
  thread.contender = ask(index, call, deadline);
}

std::uint64_t Process::ask(std::size_t index, const PlannedCall& call, Instant deadline) {
  ++world_.statistics().acquisitions;
  if (const std::uint64_t id = take_lingering(index, call); id != 0) return id;
  const std::uint64_t id = world_.checker().add(this, call, deadline);
  thread_by_contender_[id] = index;
  lists_at_call_[id] = lists_;
  if (tracing()) {
    trace("acquire " + std::to_string(id) + " " + monitor_names[call.monitor] +
          (call.priority == Priority::foreground ? " foreground" : " background") + (call.try_once ? " once" : "") +
          (deadline == lock::never ? "" : " patience " + std::to_string(call.patience / microseconds(1)) + " us"));
  }
  lock::AcquireSpec spec;
  spec.monitor = std::string(1, monitor_names[call.monitor]);
  spec.priority = call.priority;
  spec.guid = guid_of(id);
  spec.record = [id](lock::RecordUse use, const std::string&) {
    return record_of(use == lock::RecordUse::holding ? 'h' : 'n', id);
  };
  spec.deadline = deadline;
  spec.try_once = call.try_once;
  spec.wants_position = call.wants_position;
  if (linger_->ask(id, {spec.monitor, call.priority}, spec.guid, now()) || call.wants_contention) {
    spec.contention = lock::ContentionScope::all;
  } else if (threads_[index].set && call.priority == Priority::background) {
    spec.contention = lock::ContentionScope::this_process;
  }
  engine_->acquire(id, std::move(spec), now());
  return id;
}

void Process::next_call(std::size_t index) {
  Thread& thread = threads_[index];
  ++thread.serial;
  thread.contender = 0;
  if (++thread.next == thread.plan->calls.size()) {
    thread.over = true;
    --threads_open_;
  } else if (!down_) {
    timer(call_of(thread).think, begin_call, index);
  }
}

void Process::held(std::size_t index) {
  Thread& thread = threads_[index];
  ++thread.serial;
  const PlannedCall& call = call_of(thread);
  if (thread.guarded_writes > 0 || call.updates_record) {
    timer(world_.random().between(Span{}, call.hold), mid_hold, index);
  }
  timer(call.hold, end_hold, index);
}

void Process::middle_of_hold(std::size_t index) {
  Thread& thread = threads_[index];
  if (call_of(thread).updates_record) {
    const char kind = world_.checker().at(thread.contender).told ? aware_update : unaware_update;
    linger_->bind_to_section(thread.contender);
    engine_->update_record(thread.contender, record_of(kind, thread.contender), now());
  }
  if (thread.guarded_writes == 0) return;
  --thread.guarded_writes;
  write_guarded(thread.contender);
  if (thread.guarded_writes > 0) timer(world_.random().between(Span{}, milliseconds(5)), mid_hold, index);
}

void Process::write_guarded(std::uint64_t contender) {
  auto guard = engine_->guard(contender);
  if (!guard) return;
  coordination::Transaction write{std::move(*guard)};
  const char kind = world_.checker().at(contender).told ? aware_write : unaware_write;
  write.operations.push_back(coordination::SetData{"/D", record_of(kind, contender)});
  if (tracing()) trace("guarded write of " + std::to_string(contender) + ": " + describe(write));
  session_->submit(guard_bit | contender, std::move(write));
}

void Process::finish_hold(std::size_t index) {
  Thread& thread = threads_[index];
  if (thread.operation) return end_handler(index);
  if (thread.set) return finish_hold_of_set(index);
  const std::uint64_t id = thread.contender;
  if (thread.step_asides > 0) {
    --thread.step_asides;
    const Instant deadline =
        world_.random().chance(0.5) ? lock::never : now() + world_.random().between(milliseconds(1), milliseconds(60));
    if (engine_->state(id) == lock::ContenderState::held) linger_->stepped_aside(id);
    const bool begun = engine_->step_aside(id, deadline, now());
    if (tracing()) trace("step aside " + std::to_string(id) + (begun ? "" : ": no"));
    return world_.checker().step_aside_called(id, begun, deadline);
  }
  // The caller's guarded write may still be on its way when it releases: the order of requests protects it.
  if (thread.guarded_writes > 0 && world_.random().chance(0.5)) write_guarded(id);
  end_section_of(index, id);
}

std::size_t Process::thread_of(std::uint64_t contender) const {
  return thread_by_contender_.at(contender);
}

void Process::settle() {
  release_given_up();
  for (std::size_t i = 0; i < reactions_.size(); ++i) {
    react(Reaction(reactions_[i]));
    release_given_up();
  }
  reactions_.clear();
  grouping_->flush();
  world_.checker().check_beliefs(*this);
  world_.sets().check_waits();
  const Instant next = std::min(engine_->next_timer(), linger_->next_timer());
  if (next == next_tick_) return;
  const bool serves = next_tick_ != lock::never && next <= tick_comes_;
  next_tick_ = next;
  if (next == lock::never) return;
  // Now and then on the instant.
  const Span late = world_.random().chance(0.2) ? Span{} : world_.random().between(Span{}, world_.plan().latest_tick);
  Instant when = std::max(next, now()) + late;
  if (serves) when = std::min(when, std::max(tick_comes_, now()));
  tick_comes_ = when;
  world_.timeline().at(when, *this, tick, static_cast<std::uint64_t>(next.time_since_epoch().count()));
}

void Process::react(const Reaction& reaction) {
  const std::size_t index = reaction.thread;
  if (threads_[index].set) return react_in_set(index, reaction);
  if (threads_[index].contender != reaction.contender) return;
  if (threads_[index].operation) return react_in_operation(index, reaction);
  if (reaction.what == Happening::granted) {
    held(index);
  } else {
    next_call(index);
  }
}

// --- the session ---

void Process::on_reply(coordination::RequestTag tag, coordination::Reply reply) {
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
  settle();
}

void Process::EngineListener::on_reply(coordination::RequestTag tag, coordination::Reply reply) {
  process_.engine_hears(tag, std::move(reply));
}

void Process::EngineListener::on_watch(const coordination::WatchEvent& event) {
  process_.world_.checker().before_call(process_);
  process_.engine_->on_watch(event, process_.now());
}

void Process::EngineListener::on_session(const coordination::SessionEvent& event) {
  process_.world_.checker().before_call(process_);
  process_.engine_->on_session(event, process_.now());
}

void Process::engine_hears(coordination::RequestTag tag, coordination::Reply reply) {
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
  if (collisions_ > most_collisions) world_.checker().fail(Invariant::no_lost_wakeup, name_ + " claims in a hot loop");
  if (const auto found = giving_up_.find(tag); found != giving_up_.end()) {
    if (effect_of(reply.code) == coordination::Effect::unknown) {
      world_.checker().at(found->second).giving_up_unknown = true;
    }
    giving_up_.erase(found);
  }
  world_.checker().before_call(*this);
  engine_->on_reply(tag, std::move(reply), now());
}

void Process::on_watch(const coordination::WatchEvent& event) {
  if (tracing()) trace("<- watch: " + describe(event));
  world_.checker().watch_delivered(*this, event);
  grouping_->on_watch(event);
  linger_->changed(event.path.substr(1, 1), now());
  settle();
}

void Process::on_session(const coordination::SessionEvent& event) {
  if (tracing()) trace("<- session: " + describe(event));
  using Kind = coordination::SessionEvent::Kind;
  if (connected_ && event.kind != Kind::connected) down_since_ = now();
  connected_ = event.kind == Kind::connected;
  if (connected_) connected_at_ = now();
  grouping_->on_session(event);
  if (event.kind == Kind::disconnected) linger_->disconnected();
  // What contends from now on does so in the next session.
  if (event.kind == Kind::expired) world_.checker().session_ended(*this);
  if (event.kind == Kind::expired && !world_.plan().reuse_engine) {
    new_engine();
    next_tick_ = lock::never;
  }
  settle();
  if (event.kind != Kind::expired) return;
  world_.timeline().after(world_.random().between(Span{}, milliseconds(5)), *this, new_session);
}

// --- faults ---

void Process::pause(Instant until) {
  if (down_) return;
  if (tracing()) trace("stands still");
  paused_until_ = std::max(paused_until_, until);
  awake_since_ = paused_until_ + world_.plan().latest_tick;
  session_->pause(paused_until_);
}

void Process::crash(Instant at) {
  if (down_) return;
  if (tracing()) trace("crashes");
  session_->crash(world_.random().below(session_->underway() + 1));
  go_down(at, false);
}

void Process::shutdown(Instant at) {
  if (down_ || paused_until_ > now()) return;
  if (tracing()) trace("shuts down");
  for (const auto& [contender, thread] : thread_by_contender_) world_.checker().closing(contender);
  engine_->close(now());
  reactions_.clear();
  world_.checker().session_ended(*this);
  session_->begin_close();
  session_->crash(session_->underway());
  go_down(at, true);
}

void Process::go_down(Instant at, bool in_good_order) {
  down_ = true;
  ++life_;
  connected_ = false;
  paused_until_ = {};
  next_tick_ = lock::never;
  probes_.clear();
  for (const auto& [contender, thread] : thread_by_contender_) {
    if (!world_.checker().at(contender).forgotten) world_.checker().abandoned(contender);
  }
  thread_by_contender_.clear();
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    if (threads_[i].over) continue;
    ++threads_[i].serial;
    const bool busy = threads_[i].contender != 0 || threads_[i].operation || threads_[i].set;
    threads_[i].set.reset();
    if (threads_[i].operation) abandon_operation(i, in_good_order);
    if (threads_[i].again != 0) {
      threads_[i].contender = 0;
    } else if (busy) {
      next_call(i);
    }
  }
  budget_.reset();
  world_.timeline().at(at, *this, restart);
}

}  // namespace forelock::simulation
