#include "retry/operation_machine.h"

#include <string>

#include "retry/capped_text.h"
#include "retry/mutation.h"

namespace forelock::retry {
namespace {

// These say that nothing can be tried any more, not that an attempt has failed.
bool ends_all_trying(ErrorCode code) {
  return code == ErrorCode::closed || code == ErrorCode::forked;
}

}  // namespace

std::string_view name_of(OperationStage stage) {
  switch (stage) {
    case OperationStage::fresh:
      return "fresh";
    case OperationStage::locking:
      return "locking";
    case OperationStage::working:
      return "working";
    case OperationStage::waiting:
      return "waiting";
    case OperationStage::surrendering:
      return "surrendering";
    case OperationStage::succeeded:
      return "succeeded";
    case OperationStage::queued:
      return "queued";
    case OperationStage::failed:
      return "failed";
  }
  return "?";
}

OperationMachine::OperationMachine(const OperationLimits& limits, RetryBudget& budget)
    : limits_(limits), budget_(budget) {}

bool OperationMachine::over() const {
  return stage_ == OperationStage::succeeded || stage_ == OperationStage::queued || stage_ == OperationStage::failed;
}

bool OperationMachine::past_deadline(TimePoint time) const {
  if (mutated(Mutation::deadline_ignored)) return false;
  return time >= limits_.deadline;
}

void OperationMachine::expect(OperationStage stage, const char* event) const {
  if (stage_ == stage) return;
  throw Error(ErrorCode::internal, {},
              std::string("an operation that is ") + std::string(name_of(stage_)) + " cannot take the event " + event);
}

// --- events ---

OperationStage OperationMachine::start(TimePoint now) {
  if (stage_ == OperationStage::failed) return stage_;  // withdrawn before it could begin
  expect(OperationStage::fresh, "start");
  if (past_deadline(now)) return fail(CallerCause::too_late);
  return begin_attempt();
}

OperationStage OperationMachine::due(TimePoint now) {
  expect(OperationStage::waiting, "due");
  if (now < wake_at_) return stage_;
  if (!has_token_) {
    const TimePoint begin = budget_.take(now);
    has_token_ = true;
    if (begin > now && !past_deadline(begin)) return wait_until(begin);
    if (begin > now) return surrender();
  }
  if (past_deadline(now)) return surrender();
  has_token_ = false;
  return begin_attempt();
}

OperationStage OperationMachine::granted() {
  expect(OperationStage::locking, "granted");
  if (stop_requested_) return fail(CallerCause::withdrawn);
  return stage_ = OperationStage::working;
}

OperationStage OperationMachine::refused(ErrorCode code, std::string_view message, const AttemptEnd& end) {
  expect(OperationStage::locking, "refused");
  if (stop_requested_) return fail(CallerCause::withdrawn);
  if (ends_all_trying(code)) return fail(CallerCause::refused);
  return attempt_failed(name_of(code), message, is_retryable(code), end);
}

OperationStage OperationMachine::handler_succeeded(bool certain, const AttemptEnd& end) {
  expect(OperationStage::working, "handler_succeeded");
  if (mutated(Mutation::uncertain_success_counts)) certain = true;
  if (certain) return stage_ = OperationStage::succeeded;
  return handler_failed(name_of(ErrorCode::lock_unhealthy),
                        "the handler returned, but the lock may have been lost before that",
                        is_retryable(ErrorCode::lock_unhealthy), end);
}

OperationStage OperationMachine::handler_failed(std::string_view code, std::string_view message, bool retryable,
                                                const AttemptEnd& end) {
  expect(OperationStage::working, "handler_failed");
  return attempt_failed(code, message, retryable, end);
}

OperationStage OperationMachine::sink_took() {
  expect(OperationStage::surrendering, "sink_took");
  return stage_ = OperationStage::queued;
}

OperationStage OperationMachine::sink_refused() {
  expect(OperationStage::surrendering, "sink_refused");
  if (mutated(Mutation::refused_letter_forgotten)) return stage_ = OperationStage::queued;
  return fail(CallerCause::sink_refused);
}

OperationStage OperationMachine::stop() {
  if (over()) return stage_;
  stop_requested_ = true;
  const bool nothing_under_way = stage_ == OperationStage::fresh || stage_ == OperationStage::waiting;
  if (nothing_under_way) return fail(CallerCause::withdrawn);
  if (mutated(Mutation::withdrawn_while_given_up)) {
    if (stage_ == OperationStage::surrendering) return fail(CallerCause::withdrawn);
  }
  return stage_;
}

// --- decisions ---

OperationStage OperationMachine::attempt_failed(std::string_view code, std::string_view message, bool retryable,
                                                const AttemptEnd& end) {
  attempts_.push_back({attempt_, end.at, std::string(code), capped(message, max_message_bytes), end.waited});
  if (stop_requested_) return fail(CallerCause::withdrawn);
  std::uint32_t retries = limits_.retries;
  if (mutated(Mutation::one_retry_too_many)) ++retries;
  if (!retryable || attempt_ > retries) return surrender();
  const TimePoint next = later(end.now, limits_.backoff.wait(attempt_, end.random));
  // There is no use in waiting for a retry that will not begin.
  return past_deadline(next) ? surrender() : wait_until(next);
}

OperationStage OperationMachine::begin_attempt() {
  ++attempt_;
  return stage_ = OperationStage::locking;
}

OperationStage OperationMachine::wait_until(TimePoint time) {
  wake_at_ = time;
  return stage_ = OperationStage::waiting;
}

OperationStage OperationMachine::surrender() {
  give_token_back();
  return stage_ = OperationStage::surrendering;
}

OperationStage OperationMachine::fail(CallerCause cause) {
  give_token_back();
  cause_ = cause;
  return stage_ = OperationStage::failed;
}

void OperationMachine::give_token_back() {
  if (!has_token_) return;
  has_token_ = false;
  budget_.give_back();
}

}  // namespace forelock::retry
