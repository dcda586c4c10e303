#include "client/operation_run.h"

#include <algorithm>
#include <random>
#include <string>
#include <utility>

#include "client/attempt_failure.h"
#include "client/clock.h"
#include "client/operation_check.h"
#include "records/wall_time.h"

namespace forelock::client {

using retry::CallerCause;
using retry::OperationStage;

namespace {

std::uint64_t random_number() {
  thread_local std::mt19937_64 generator{std::random_device{}()};
  return generator();
}

}  // namespace

OperationRun::OperationRun(ClientCore& core, Operation operation, const BackoffOptions& backoff,
                           retry::RetryBudget& budget, retry::TimePoint deadline)
    : core_(core),
      operation_(checked(std::move(operation))),
      retries_(static_cast<std::uint32_t>(core.settings().request_retry_count())),
      deadline_(deadline),
      enqueued_at_(records::wall_time_now()),
      machine_({retries_, deadline, retry::Backoff(backoff.initial, backoff.cap)}, budget) {}

// --- events ---

void OperationRun::start() {
  machine_.start(now());
}

void OperationRun::due() {
  machine_.due(now());
}

lock::TimePoint OperationRun::begin_waiting() {
  waiting_since_ = now();
  waited_ = {};
  if (!machine_.attempts().empty()) core_.count_retry();
  return std::min(deadline_after(core_.settings().timeout(operation_.priority)), deadline_);
}

void OperationRun::granted() {
  waited_ = std::chrono::duration_cast<std::chrono::milliseconds>(now() - waiting_since_);
  machine_.granted();
}

void OperationRun::refused(const std::exception_ptr& error) {
  waited_ = std::chrono::duration_cast<std::chrono::milliseconds>(now() - waiting_since_);
  const AttemptFailure failure = describe_failure(error);
  if (!failure.known) std::rethrow_exception(error);
  machine_.refused(*failure.known, failure.message, end_of_attempt());
  count_failure();
  if (machine_.cause() == CallerCause::refused) error_ = error;
}

void OperationRun::handler_succeeded(bool certain) {
  machine_.handler_succeeded(certain, end_of_attempt());
  count_failure();
}

void OperationRun::handler_failed(const std::exception_ptr& error) {
  const AttemptFailure failure = describe_failure(error);
  // That is no failure of the handler: nothing can be tried here any more.
  const bool unusable = failure.known == ErrorCode::closed || failure.known == ErrorCode::forked;
  if (unusable && !core_.usable()) withdraw_with(error);
  machine_.handler_failed(failure.code, failure.message, failure.retryable, end_of_attempt());
  count_failure();
}

void OperationRun::sink_refused(std::exception_ptr error) {
  machine_.sink_refused();
  error_ = std::move(error);
}

void OperationRun::client_closed() {
  withdraw_with(std::make_exception_ptr(
      RequestRejectedException(ErrorCode::closed, operation_.monitor, "the client is closed" + history())));
}

void OperationRun::withdraw_with(const std::exception_ptr& error) {
  if (!machine_.stop_requested()) error_ = error;
  machine_.stop();
}

void OperationRun::count_failure() {
  const bool last = machine_.attempts().size() > retries_;
  if (machine_.stage() == OperationStage::surrendering && last) core_.count_exhausted();
}

retry::AttemptEnd OperationRun::end_of_attempt() const {
  return {now(), records::wall_time_now(), waited_, random_number()};
}

// --- what is said of it ---

std::vector<FailedAttempt> OperationRun::take_news() {
  const auto& attempts = machine_.attempts();
  std::vector<FailedAttempt> news(attempts.begin() + static_cast<std::ptrdiff_t>(told_), attempts.end());
  told_ = attempts.size();
  return news;
}

DeadLetter OperationRun::letter() const {
  const FailedAttempt& last = machine_.attempts().back();
  DeadLetter letter;
  letter.id = operation_.id;
  letter.type = operation_.type;
  letter.monitor = operation_.monitor;
  letter.priority = operation_.priority;
  letter.lock_info = operation_.lock_info;
  letter.payload = operation_.payload;
  letter.reason = last.code;
  letter.attempts = machine_.attempts();
  letter.max_attempts = retries_ + 1;
  letter.enqueued_at = enqueued_at_;
  letter.failed_at = last.at;
  letter.replay_count = operation_.replay_count;
  letter.client = letter_origin(core_.instance());
  letter.traceparent = operation_.traceparent;
  return letter;
}

OperationResult OperationRun::result() const {
  OperationResult result;
  result.id = operation_.id;
  result.attempts = machine_.attempts();
  if (machine_.stage() == OperationStage::queued) {
    result.status = OperationResult::Status::dead_lettered;
    result.reason = result.attempts.back().code;
  }
  return result;
}

std::exception_ptr OperationRun::error() const {
  const std::string& monitor = operation_.monitor;
  if (machine_.cause() == CallerCause::too_late) {
    return std::make_exception_ptr(InstanceLockException(
        ErrorCode::lock_timeout, monitor,
        "the deadline of operation " + operation_.id + " on " + monitor + " had passed before it could begin"));
  }
  if (error_) return error_;
  return std::make_exception_ptr(InstanceLockException(
      ErrorCode::cancelled, monitor, "operation " + operation_.id + " on " + monitor + " was cancelled" + history(),
      "it is not in the dead-letter queue: its caller owns it"));
}

std::string OperationRun::history() const {
  const auto& attempts = machine_.attempts();
  if (attempts.empty()) return "";
  return " after " + std::to_string(attempts.size()) + " failed attempt" + (attempts.size() == 1 ? "" : "s") +
         ", the last with " + attempts.back().code + ": " + attempts.back().message;
}

}  // namespace forelock::client
