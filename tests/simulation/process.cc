#include "process.h"

#include "process_calls.h"
#include "world.h"

namespace forelock::simulation {

Process::Process(World& world, std::size_t index)
    : world_(world), index_(index), name_("process" + std::to_string(index)), link_(world, *this) {
  for (const PlannedThread& plan : world.plan().threads) {
    if (plan.process != index || plan.calls.empty()) continue;
    threads_.push_back({});
    threads_.back().plan = &plan;
    if (!plan.polls) ++calls_open_;
  }
  threads_open_ = threads_.size();
}

Process::~Process() = default;

void Process::start() {
  connect();
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    timer(threads_[i].plan->start + call_of(threads_[i]).think, begin_call, i);
  }
  if (world_.plan().probes) link_.probe_from_now_on();
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

bool Process::tidy() const {
  return link_.tidy();
}

void Process::connect() {
  budget_ = std::make_unique<retry::RetryBudget>(world_.plan().budget_burst, world_.plan().budget_per_second);
  link_.new_agent();
  link_.connect();
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
  if (const auto later = after_pause()) return world_.timeline().at(*later, *this, what, detail);
  if (what == tick) {
    if (down_ || next_tick_ != Instant(Span(static_cast<Span::rep>(detail)))) return;
    next_tick_ = lock::never;
    link_.agent().tick();
    return settle();
  }
  if (what == stop_operation) {
    stop_requested(detail & 0xffff, detail >> 16);
    if (!down_) settle();
    return;
  }
  const std::size_t index = detail & 0xffff;
  if (down_ || threads_[index].serial != detail >> 16) return;
  switch (what) {
    case begin_call:
      begin(index);
      break;
    case cancel_call:
      if (const auto set = threads_[index].set) {
        set->cancel();
      } else {
        link_.agent().cancel(threads_[index].contender);
      }
      break;
    case change_class: {
      const std::uint64_t id = threads_[index].contender;
      const auto set = threads_[index].set;
      if (id == 0 && !set) break;
      const Priority now_is = set ? set->priority() : world_.checker().at(id).priority;
      const Priority other = now_is == Priority::foreground ? Priority::background : Priority::foreground;
      if (!(set ? set->set_priority(other) : link_.agent().set_priority(id, other))) break;
      if (world_.random().chance(0.5)) timer(call_of(threads_[index]).changes_after, change_class, index);
      break;
    }
    case mid_hold:
      middle_of_hold(index);
      break;
    case begin_inner:
      if (threads_[index].inner == 0) lock_inner(index);
      break;
    case end_inner:
      leave_inner(index);
      break;
    case set_due:
      check_set(index);
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

std::optional<Instant> Process::after_pause() {
  if (paused_until_ <= now()) return std::nullopt;
  return paused_until_ + world_.random().between(Span{}, world_.plan().latest_tick);
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
  if (call.changes_after > Span{}) timer(call.changes_after, change_class, index);
  thread.caller = std::make_shared<Caller>(*this, index);
  thread.contender = ask(thread.caller, call, deadline);
}

std::uint64_t Process::ask(const std::shared_ptr<Caller>& caller, const PlannedCall& call, Instant deadline) {
  ++world_.statistics().acquisitions;
  const std::uint64_t id = link_.expect(call, deadline);
  lock::AcquireSpec spec;
  spec.monitor = std::string(1, monitor_names[call.monitor]);
  spec.priority = call.priority;
  spec.deadline = deadline;
  spec.try_once = call.try_once;
  spec.wants_position = call.wants_position;
  spec.queue_max = call.queue_max;
  spec.refuse_in_vain = call.refuse_in_vain;
  if (call.wants_contention) spec.contention = lock::ContentionScope::all;
  Link::fill_in(id, spec);
  return link_.agent().acquire(caller, std::move(spec), link_.may_linger(id));
}

void Process::next_call(std::size_t index) {
  Thread& thread = threads_[index];
  ++thread.serial;
  thread.contender = 0;
  const bool last = thread.next + 1 == thread.plan->calls.size();
  const bool again = thread.plan->polls && thread.polls < thread.plan->most_polls && world_.anybody_calls();
  if (!last || !again) {
    ++thread.next;
  } else {
    ++thread.polls;
  }
  if (thread.next == thread.plan->calls.size()) {
    thread.over = true;
    --threads_open_;
    if (!thread.plan->polls) --calls_open_;
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
  if (call.inner) timer(call.inner_after, begin_inner, index);
  timer(call.hold, end_hold, index);
}

void Process::lock_inner(std::size_t index) {
  Thread& thread = threads_[index];
  PlannedCall call;
  call.monitor = *call_of(thread).inner;
  call.priority = world_.checker().at(thread.contender).priority;
  thread.inner_caller = std::make_shared<Caller>(*this, index);
  thread.inner = ask(thread.inner_caller, call, now() + call_of(thread).inner_patience);
  link_.agent().inside(thread.inner, {thread.contender});
}

void Process::leave_inner(std::size_t index) {
  const std::uint64_t inner = std::exchange(threads_[index].inner, 0);
  if (inner == 0) return;
  if (link_.agent().holds(inner)) {
    end_section_of(inner);
  } else if (!world_.checker().ended(inner)) {
    link_.agent().cancel(inner);
  }
}

void Process::middle_of_hold(std::size_t index) {
  Thread& thread = threads_[index];
  if (call_of(thread).updates_record) {
    const char kind = world_.checker().at(thread.contender).told ? aware_update : unaware_update;
    link_.agent().update_record(thread.contender, record_of(kind, thread.contender));
  }
  if (thread.guarded_writes == 0) return;
  --thread.guarded_writes;
  link_.write_guarded(*thread.caller, thread.contender);
  if (thread.guarded_writes > 0) timer(world_.random().between(Span{}, milliseconds(5)), mid_hold, index);
}

void Process::finish_hold(std::size_t index) {
  Thread& thread = threads_[index];
  if (thread.operation) return end_handler(index);
  if (thread.set) return finish_hold_of_set(index);
  leave_inner(index);
  const std::uint64_t id = thread.contender;
  if (thread.step_asides > 0) {
    --thread.step_asides;
    const Instant deadline =
        world_.random().chance(0.5) ? lock::never : now() + world_.random().between(milliseconds(1), milliseconds(60));
    link_.agent().step_aside(id, deadline);
    return;
  }
  // The caller's guarded write may still be on its way when it releases: the order of requests protects it.
  if (thread.guarded_writes > 0 && world_.random().chance(0.5)) link_.write_guarded(*thread.caller, id);
  end_section_of(id);
}

bool Process::end_section_of(std::uint64_t id) {
  return link_.agent().release(id);
}

// --- from the link ---

bool Process::Caller::begin(lock::ContenderId contender) {
  process_.thread_by_contender_[contender] = thread_;
  return true;
}

lock::Duration Process::Caller::granted(lock::ContenderId contender, const lock::Grant&) {
  process_.happened({.what = Happening::granted, .contender = contender, .thread = thread_});
  return process_.link_.danger_margin(contender);
}

std::optional<lock::Duration> Process::Caller::taken(const linger::Lock& lock) {
  begin(lock.contender);
  return granted(lock.contender, {lock.token, {}});
}

void Process::Caller::refused(lock::ContenderId contender, const lock::Refusal& refusal) {
  process_.happened({.what = Happening::refused, .contender = contender, .refusal = refusal, .thread = thread_});
}

void Process::Caller::lost(lock::ContenderId contender, LossReason reason) {
  process_.happened({.what = Happening::lost, .contender = contender, .loss = reason, .thread = thread_});
}

void Process::Caller::released(lock::ContenderId contender, lock::ReleaseOutcome outcome) {
  process_.happened({.what = Happening::released, .contender = contender, .outcome = outcome, .thread = thread_});
}

void Process::Caller::record_changed(lock::ContenderId contender, const std::string& record) {
  const std::optional<Priority> wish = wish_in(record);
  if (!wish || *wish == process_.world_.checker().at(contender).priority) return;
  if (process_.link_.agent().set_priority(contender, *wish)) ++process_.world_.statistics().wishes_obeyed;
}

void Process::Caller::in_danger(lock::ContenderId contender) {
  const Span margin = process_.link_.danger_margin(contender);
  if (process_.link_.valid_until() - process_.now() <= margin) return;
  process_.world_.checker().fail(Invariant::told_of_loss, "a holder is told of danger too early");
}

// Threads act when a step has told everything; what sets do at its end may lead to more.
void Process::settle() {
  link_.release_given_up();
  do {
    for (std::size_t i = 0; i < reactions_.size(); ++i) {
      react(Reaction(reactions_[i]));
      link_.release_given_up();
    }
    reactions_.clear();
    link_.end_step();
  } while (!reactions_.empty());
  world_.checker().check_beliefs(link_);
  world_.sets().check_waits();
  const Instant next = link_.next_timer();
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
  if (reaction.contender == threads_[index].inner) {
    if (reaction.what != Happening::granted) threads_[index].inner = 0;
    if (reaction.what == Happening::granted) timer(call_of(threads_[index]).inner_hold, end_inner, index);
    return;
  }
  if (threads_[index].contender != reaction.contender) return;
  if (threads_[index].operation) return react_in_operation(index, reaction);
  if (reaction.what == Happening::granted) {
    held(index);
  } else {
    leave_inner(index);
    next_call(index);
  }
}

// --- faults ---

void Process::pause(Instant until) {
  if (down_) return;
  if (tracing()) trace("stands still");
  paused_until_ = std::max(paused_until_, until);
  awake_since_ = paused_until_ + world_.plan().latest_tick;
  link_.pause(paused_until_);
}

void Process::crash(Instant at) {
  if (down_) return;
  if (tracing()) trace("crashes");
  link_.crash();
  go_down(at, false);
}

void Process::shutdown(Instant at) {
  if (down_ || paused_until_ > now()) return;
  if (tracing()) trace("shuts down");
  for (const auto& [contender, thread] : thread_by_contender_) world_.checker().closing(contender);
  link_.agent().close();
  reactions_.clear();
  link_.close_session();
  go_down(at, true);
}

void Process::go_down(Instant at, bool in_good_order) {
  down_ = true;
  ++life_;
  paused_until_ = {};
  next_tick_ = lock::never;
  link_.go_down();
  for (const auto& [contender, thread] : thread_by_contender_) {
    if (!world_.checker().at(contender).forgotten) world_.checker().abandoned(contender);
  }
  thread_by_contender_.clear();
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    if (threads_[i].over) continue;
    ++threads_[i].serial;
    threads_[i].inner = 0;
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
