
#include "plan.h"

namespace forelock::simulation {

std::string_view name_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::cut:
      return "cut";
    case FaultKind::request_lost:
      return "request_lost";
    case FaultKind::reply_lost:
      return "reply_lost";
    case FaultKind::request_late:
      return "request_late";
    case FaultKind::silent_both:
      return "silent_both";
    case FaultKind::silent_up:
      return "silent_up";
    case FaultKind::silent_down:
      return "silent_down";
    case FaultKind::pause:
      return "pause";
    case FaultKind::crash:
      return "crash";
    case FaultKind::shutdown:
      return "shutdown";
    case FaultKind::expiry:
      return "expiry";
    case FaultKind::refusal:
      return "refusal";
    case FaultKind::false_error:
      return "false_error";
    case FaultKind::lag:
      return "lag";
    case FaultKind::cut_off:
      return "cut_off";
    case FaultKind::election:
      return "election";
    case FaultKind::deposed:
      return "deposed";
    case FaultKind::divided:
      return "divided";
    case FaultKind::wished:
      return "wished";
    case FaultKind::waiter_removed:
      return "waiter_removed";
    case FaultKind::holder_removed:
      return "holder_removed";
    case FaultKind::lock_removed:
      return "lock_removed";
    case FaultKind::member_removed:
      return "member_removed";
    case FaultKind::private_removed:
      return "private_removed";
    case FaultKind::monitor_removed:
      return "monitor_removed";
    case FaultKind::pings_only:
      return "pings_only";
    case FaultKind::foreign_child:
      return "foreign_child";
    case FaultKind::foreign_monitor:
      return "foreign_monitor";
    case FaultKind::count_:
      break;
  }
  return "?";
}

namespace {

double ms(Span span) {
  return std::chrono::duration<double, std::milli>(span).count();
}

void describe(std::ostream& out, const PlannedOperation& operation) {
  out << ", operation with " << operation.retries << " retries";
  if (operation.deadline > Span{}) out << " deadline " << ms(operation.deadline);
  if (operation.stop_after > Span{}) out << " stop after " << ms(operation.stop_after);
  if (!operation.handler_ends.empty()) out << " handler";
  for (const HandlerEnd end : operation.handler_ends) {
    out << (end == HandlerEnd::succeeds        ? " succeeds"
            : end == HandlerEnd::fails_for_now ? " fails"
                                               : " fails for good");
  }
  if (operation.sink_refuses) out << " sink refuses";
  if (operation.begun_anew) out << " begun anew after a crash";
}

void describe(std::ostream& out, const PlannedCall& call) {
  out << "    after " << ms(call.think) << "  ";
  if (call.set.empty()) out << monitor_names[call.monitor];
  for (const std::size_t member : call.set) out << monitor_names[member];
  out << (call.priority == Priority::foreground ? " foreground" : " background");
  if (call.try_once) out << " once";
  if (call.patience > Span{}) out << " patience " << ms(call.patience);
  if (call.cancel_after > Span{}) out << " cancel after " << ms(call.cancel_after);
  out << " hold " << ms(call.hold);
  if (call.step_asides > 0) out << " step aside x" << call.step_asides;
  if (call.guarded_writes > 0) out << " guarded writes x" << call.guarded_writes;
  if (call.updates_record) out << " updates record";
  if (call.inner) {
    out << " with " << monitor_names[*call.inner] << " inside, patience " << ms(call.inner_patience) << ", held "
        << ms(call.inner_hold);
  }
  if (call.changes_after > Span{}) out << " changes class after " << ms(call.changes_after);
  if (call.wants_position) out << " wants position";
  if (call.wants_contention) out << " wants contention";
  if (call.queue_max > 0) out << " behind " << call.queue_max << " at most";
  if (call.refuse_in_vain) out << " not in vain";
  if (call.operation) describe(out, *call.operation);
  out << "\n";
}

}  // namespace

std::string describe(const Plan& plan) {
  std::ostringstream out;
  out << "seed " << plan.seed << ": " << plan.processes << " processes, " << plan.servers << " servers, session "
      << plan.session_timeout.count() << " ms, sync limit " << ms(plan.sync_limit) << " ms, watch "
      << (plan.engine.watch_mode == WatchMode::parent ? "parent" : "predecessor") << ", safety poll "
      << ms(plan.engine.safety_poll) << " ms, give up after " << ms(plan.engine.give_up_after) << " ms, watches in "
      << plan.engine.watched_bytes << " bytes, hold watch after " << ms(plan.engine.hold_watch_delay)
      << " ms, back-off " << plan.backoff_initial.count() << " to " << plan.backoff_cap.count() << " ms, retry budget "
      << plan.budget_burst << " + " << plan.budget_per_second << "/s";
  if (plan.linger.time > Span{}) {
    out << ", locks linger for " << ms(plan.linger.time) << " ms, " << plan.linger.locks << " at a time"
        << (plan.linger.reused ? ", if used before" : "");
  }
  if (plan.callers_stop_late) out << ", callers stop late";
  if (plan.linger.delay > Span{}) out << ", releases are delayed by " << ms(plan.linger.delay) << " ms";
  for (std::size_t i = 0; i < plan.ages.size(); ++i) {
    if (plan.ages[i]) out << ", process " << i << " ages after " << ms(plan.engine.background_max_wait) << " ms";
  }
  out << "\n";
  for (std::size_t i = 0; i < plan.homes.size(); ++i) {
    if (plan.homes[i] >= 0) out << "  process " << i << " prefers server " << plan.homes[i] << "\n";
  }
  for (std::size_t i = 0; i < plan.threads.size(); ++i) {
    const PlannedThread& thread = plan.threads[i];
    if (thread.calls.empty()) continue;
    out << "  thread " << i << " of process " << thread.process << ", from " << ms(thread.start)
        << (thread.polls ? ", again and again" : "") << "\n";
    for (const PlannedCall& call : thread.calls) describe(out, call);
  }
  for (const PlannedLiteral& literal : plan.literals) {
    out << "  literal client from " << ms(literal.start) << "  " << monitor_names[literal.monitor]
        << (literal.priority == Priority::foreground ? " foreground" : " background") << " hold " << ms(literal.hold)
        << " x" << literal.rounds << (literal.own_node_first ? ", own node first" : ", privateLock first")
        << (literal.to_the_letter ? ", to the letter" : "") << "\n";
  }
  for (const PlannedFault& fault : plan.faults) {
    out << "  fault " << name_of(fault.kind) << " process " << fault.process << " monitor "
        << monitor_names[fault.monitor];
    if (fault.request > 0) {
      out << " at its request " << fault.request;
    } else {
      out << " at " << ms(fault.at);
    }
    out << " for " << ms(fault.duration);
    if (fault.server >= 0) out << ", server " << fault.server << (fault.lags ? " lagging" : "");
    if (fault.kind == FaultKind::refusal) out << ", " << coordination::name_of(fault.code);
    out << "\n";
  }
  return out.str();
}

}  // namespace forelock::simulation
