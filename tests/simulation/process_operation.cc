// Threads whose calls are operations: what the runner does with the operation machine, under virtual time.
#include "process.h"
#include "world.h"

namespace forelock::simulation {

using retry::OperationStage;

namespace {

// How long the queue takes to write a letter, and to say so.
constexpr Span longest_writing = milliseconds(8);

ErrorCode code_of(coordination::ReplyCode code) {
  switch (code) {
    case coordination::ReplyCode::no_auth:
      return ErrorCode::not_authorized;
    case coordination::ReplyCode::quota_exceeded:
      return ErrorCode::quota_exceeded;
    default:
      return ErrorCode::server_error;
  }
}

ErrorCode code_of(const lock::Refusal& refusal) {
  switch (refusal.reason) {
    case lock::RefusalReason::timed_out:
      return ErrorCode::lock_timeout;
    case lock::RefusalReason::unavailable:
      return ErrorCode::lock_unavailable;
    case lock::RefusalReason::not_admitted:
      return ErrorCode::lock_refused;
    case lock::RefusalReason::cancelled:
      return ErrorCode::cancelled;
    case lock::RefusalReason::connection_lost:
      return ErrorCode::connection_loss;
    case lock::RefusalReason::session_expired:
      return ErrorCode::session_expired;
    case lock::RefusalReason::rejected:
      return code_of(refusal.code);
    case lock::RefusalReason::closed:
      break;
  }
  return ErrorCode::closed;
}

HandlerEnd handler_end(const PlannedOperation& planned, std::uint32_t attempt) {
  if (planned.handler_ends.empty()) return HandlerEnd::succeeds;
  return planned.handler_ends[std::min<std::size_t>(attempt, planned.handler_ends.size()) - 1];
}

}  // namespace

void Process::begin_operation(std::size_t index) {
  Thread& thread = threads_[index];
  const PlannedOperation& planned = *call_of(thread).operation;
  OperationJudge& judge = world_.operations();
  const Instant deadline = planned.deadline > Span{} ? now() + planned.deadline : retry::never;
  const std::uint64_t id = thread.again != 0 ? std::exchange(thread.again, 0) : judge.begun(planned, deadline);
  if (thread.operation_id == id) judge.begun_anew(id, deadline);
  thread.operation_id = id;
  thread.operation_deadline = deadline;
  const Plan& plan = world_.plan();
  thread.operation = std::make_unique<retry::OperationMachine>(
      retry::OperationLimits{planned.retries, deadline, retry::Backoff(plan.backoff_initial, plan.backoff_cap)},
      *budget_);
  if (tracing()) trace("begins operation " + std::to_string(id));
  if (planned.stop_after > Span{}) {
    world_.timeline().after(planned.stop_after, *this, stop_operation, (id << 16) | index);
  }
  thread.operation->start(now());
  follow(index);
}

// Does what the machine wants next.
void Process::follow(std::size_t index) {
  Thread& thread = threads_[index];
  retry::OperationMachine& machine = *thread.operation;
  OperationJudge& judge = world_.operations();
  const std::uint64_t id = thread.operation_id;
  if (tracing()) {
    trace("operation " + std::to_string(id) + " is " + std::string(name_of(machine.stage())) + ", attempt " +
          std::to_string(machine.attempt()));
  }
  switch (machine.stage()) {
    case OperationStage::locking:
      judge.attempt_begins(id, machine.attempt(), now());
      return contend(index);
    case OperationStage::waiting:
      ++thread.serial;
      thread.contender = 0;
      return timer(machine.wake_at() - now(), operation_due, index);
    case OperationStage::surrendering:
      ++thread.serial;
      thread.contender = 0;
      judge.letter_given(id, machine.attempts());
      return give_letter(index);
    case OperationStage::succeeded:
      judge.succeeded(id, thread.held_at_end, thread.certain);
      break;
    case OperationStage::queued:
      judge.queued(id);
      break;
    case OperationStage::failed:
      judge.left_to_caller(id);
      break;
    default:
      return;
  }
  thread.operation.reset();
  next_call(index);
}

// The letter is on its way to the disk from here on, whatever becomes of the thread; a crash may come before it is
// there.
void Process::give_letter(std::size_t index) {
  const Span writing = world_.random().between(Span{}, longest_writing);
  const Span answer = writing + world_.random().between(Span{}, longest_writing);
  if (!call_of(threads_[index]).operation->sink_refuses) {
    world_.timeline().after(writing, *this, letter_written, (life_ << 32) | threads_[index].operation_id);
  }
  timer(answer, letter_answered, index);
}

void Process::operation_timer(What what, std::size_t index) {
  Thread& thread = threads_[index];
  if (what == operation_due) {
    thread.operation->due(now());
  } else if (call_of(thread).operation->sink_refuses) {
    thread.operation->sink_refused();
  } else {
    thread.operation->sink_took();
  }
  follow(index);
}

void Process::stop_requested(std::size_t index, std::uint64_t id) {
  Thread& thread = threads_[index];
  if (down_ || !thread.operation || thread.operation_id != id) return;
  if (tracing()) trace("operation " + std::to_string(id) + " is to stop");
  if (thread.operation->stop() == OperationStage::failed) return follow(index);
  if (thread.operation->stage() != OperationStage::locking) return;
  link_.agent().cancel(thread.contender);
}

// --- the lock's answers ---

retry::AttemptEnd Process::attempt_end() {
  return {now(), WallTime{}, std::chrono::milliseconds(0), world_.random().next()};
}

void Process::react_in_operation(std::size_t index, const Reaction& reaction) {
  Thread& thread = threads_[index];
  retry::OperationMachine& machine = *thread.operation;
  switch (reaction.what) {
    case Happening::granted:
      if (machine.granted() == OperationStage::working) return held(index);
      end_section_of(thread.contender);
      return follow(index);
    case Happening::refused:
      machine.refused(code_of(reaction.refusal), "", attempt_end());
      return follow(index);
    case Happening::lost:
      return;  // the handler notices at its end, if not before
    case Happening::released:
      // Nobody waits for the release of an attempt that has failed.
      if (!std::exchange(thread.awaits_release, false)) return;
      thread.certain = reaction.outcome != lock::ReleaseOutcome::gone;
      machine.handler_succeeded(thread.certain, attempt_end());
      return follow(index);
  }
}

void Process::end_handler(std::size_t index) {
  Thread& thread = threads_[index];
  Checker& checker = world_.checker();
  const std::uint64_t id = thread.contender;
  const bool healthy = now() < link_.valid_until();
  // Who has been robbed by hand cannot know it; others hold what they believe to hold.
  const Contender& contender = checker.at(id);
  thread.held_at_end = checker.owner(contender.monitor) == id || contender.robbed || contender.deleted_by_hand;
  if (tracing()) trace("the handler ends");
  const bool begun = end_section_of(id);
  const HandlerEnd end = handler_end(*call_of(thread).operation, thread.operation->attempt());
  if (end != HandlerEnd::succeeds) {
    thread.operation->handler_failed("planned", "", end == HandlerEnd::fails_for_now, attempt_end());
    return follow(index);
  }
  thread.certain = begun && healthy;
  if (thread.certain) {
    thread.awaits_release = true;
    return;
  }
  thread.operation->handler_succeeded(false, attempt_end());
  follow(index);
}

// --- its process ends ---

void Process::abandon_operation(std::size_t index, bool in_good_order) {
  Thread& thread = threads_[index];
  const OperationStage stage = thread.operation->stage();
  const bool waits = stage == OperationStage::locking || stage == OperationStage::waiting;
  if (in_good_order && waits) {  // the client was closed under it
    if (thread.operation->stop() != OperationStage::failed) {
      thread.operation->refused(ErrorCode::closed, "", attempt_end());
    }
    world_.operations().left_to_caller(thread.operation_id);
  } else {
    world_.operations().abandoned(thread.operation_id);
    if (call_of(thread).operation->begun_anew) thread.again = thread.operation_id;
  }
  thread.operation.reset();
  thread.awaits_release = false;
}

}  // namespace forelock::simulation
