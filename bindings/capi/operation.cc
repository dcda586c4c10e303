#include "forelock/operation.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <string>
#include <vector>

#include "capi/handles.h"
#include "capi/lock_arguments.h"
#include "capi/operation_objects.h"
#include "capi/structure.h"
#include "client/attempt_failure.h"
#include "client/operation_check.h"
#include "forelock/c.h"

namespace forelock::capi {

std::exception_ptr OpenAttempts::closed_error() const {
  return std::make_exception_ptr(OperationFailure("cancelled", why_, false));
}

std::uint64_t OpenAttempts::begin(std::stop_source operation) {
  const std::lock_guard guard(mutex_);
  if (closed_) operation.request_stop();  // nothing listens to it yet
  operations_.emplace(++last_operation_, std::move(operation));
  return last_operation_;
}

void OpenAttempts::end(std::uint64_t operation) {
  const std::lock_guard guard(mutex_);
  operations_.erase(operation);
}

bool OpenAttempts::add(Handle attempt) {
  const std::lock_guard guard(mutex_);
  if (!closed_) attempts_.insert(attempt);
  return !closed_;
}

void OpenAttempts::remove(Handle attempt) {
  const std::lock_guard guard(mutex_);
  attempts_.erase(attempt);
}

void OpenAttempts::close() {
  std::unordered_set<Handle> open;
  std::unordered_map<std::uint64_t, std::stop_source> operations;
  {
    const std::lock_guard guard(mutex_);
    closed_ = true;
    open.swap(attempts_);
    operations.swap(operations_);
  }
  // First: else the end of its attempt would make a dead letter of one whose work may still succeed.
  for (auto& [number, operation] : operations) operation.request_stop();
  for (const Handle handle : open) {
    // Where it is there no more, its end is on the way.
    if (const auto use = HandleTable::instance().remove(handle)) {
      static_cast<const AttemptObject&>(use.object()).end(closed_error());
    }
  }
}

void RunnerObject::submit(Operation operation, std::uint64_t tag, OperationRunOptions options,
                          const std::stop_source& stop) {
  const auto events = client_->events;
  const std::uint64_t number = attempts_->begin(stop);
  const std::string monitor = operation.monitor;
  options.on_failure = [events, tag, monitor](const FailedAttempt& failed, bool will_retry) {
    Event event{.kind = FL_EVENT_FAILURE, .tag = tag, .value = will_retry ? 1 : 0, .name = failed.code};
    event.failure.monitor = monitor;
    event.failure.message = failed.message;
    events->notify(std::move(event));
  };
  auto begin = [client = client_, attempts = attempts_, tag, monitor, stop](std::shared_ptr<OperationAttempt> attempt,
                                                                            OperationRunner::Done done) {
    const auto attempt_number = static_cast<std::int64_t>(attempt->number);
    const Handle handle =
        capi::add(std::make_unique<AttemptObject>(client, attempt->lock, attempt, std::move(done), attempts));
    if (!attempts->add(handle)) {
      stop.request_stop();  // as close() does, which may not have come to this one yet
      capi::remove<AttemptObject>(handle)->end(attempts->closed_error());
      return;
    }
    Event event{.kind = FL_EVENT_ATTEMPT, .source = handle, .tag = tag, .value = attempt_number};
    event.failure.monitor = monitor;
    client->events->complete(std::move(event), false);
  };
  auto completed = [events, tag, monitor, number, attempts = attempts_](const OperationResult& result,
                                                                        const std::exception_ptr& error) {
    attempts->end(number);
    Event event{.kind = FL_EVENT_OPERATION, .tag = tag};
    if (error) {
      event.failure = failure_of(error);
    } else {
      event.value = result.status == OperationResult::Status::succeeded ? FL_SUCCEEDED : FL_DEAD_LETTERED;
      event.name = result.reason;
      event.failure.hint = result.id;
    }
    event.failure.monitor = monitor;
    events->complete(std::move(event));
  };
  try {
    EventQueue::Reservation room(*events);
    runner_.run_async(std::move(operation), std::move(begin), std::move(completed), std::move(options));
    room.keep();
  } catch (...) {
    attempts_->end(number);
    throw;
  }
}

}  // namespace forelock::capi

using namespace forelock;
using namespace forelock::capi;

namespace {

OperationRunnerOptions options_of(const fl_runner_options* given) {
  const fl_runner_options options = read_structure(given);
  OperationRunnerOptions result;
  if (options.backoff_initial_ms != 0) result.backoff.initial = std::chrono::milliseconds(options.backoff_initial_ms);
  if (options.backoff_cap_ms != 0) result.backoff.cap = std::chrono::milliseconds(options.backoff_cap_ms);
  if (options.max_operations != 0) result.max_operations = options.max_operations;
  if (options.retry_burst != 0) {
    constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
    result.budget.burst = static_cast<std::uint32_t>(std::min(options.retry_burst, most));
  }
  if (options.retries_per_second != 0) result.budget.retries_per_second = options.retries_per_second;
  return result;
}

Operation operation_of(const fl_operation_spec& spec) {
  require(spec.payload != nullptr || spec.payload_length == 0, "the payload is null");
  // Before it is copied: there may be no memory for it.
  if (spec.payload_length > Operation::max_payload_bytes) {
    throw RequestRejectedException(ErrorCode::request_too_large, text_or_empty(spec.monitor),
                                   "the operation's payload has " + std::to_string(spec.payload_length) +
                                       " bytes; at most " + std::to_string(Operation::max_payload_bytes) +
                                       " are possible",
                                   "keep it in a store, and its address in the payload");
  }
  Operation operation;
  operation.id = text_or_empty(spec.id);
  operation.type = text_of(spec.type, "type");
  operation.monitor = text_of(spec.monitor, "monitor");
  operation.priority = priority_of(spec.priority);
  if (spec.payload_length != 0) operation.payload.assign(static_cast<const char*>(spec.payload), spec.payload_length);
  operation.lock_info = text_or_empty(spec.lock_info);
  operation.traceparent = text_or_empty(spec.traceparent);
  return operation;
}

// As near to it as the text of a record can say: until the end of the year 9999.
WallTime time_of(std::int64_t since_1970_ms) {
  constexpr WallTime last{std::chrono::milliseconds(253'402'300'799'999)};
  return std::clamp(WallTime(std::chrono::milliseconds(since_1970_ms)), WallTime{}, last);
}

std::vector<FailedAttempt> attempts_of(const fl_failed_attempt* given, std::size_t count) {
  require(given != nullptr && count > 0, "there is no failed attempt");
  check_size(given);
  const std::size_t stride = given->size;  // the caller's, which may be older or newer
  std::vector<FailedAttempt> attempts;
  for (std::size_t i = 0; i < count; ++i) {
    const auto* place = reinterpret_cast<const char*>(given) + i * stride;
    const fl_failed_attempt failed = read_structure(reinterpret_cast<const fl_failed_attempt*>(place));
    // What makes a code fit, and a message short enough, is known there.
    const OperationFailure failure(text_of(failed.code, "code"), text_or_empty(failed.message), true);
    attempts.push_back({.number = static_cast<std::uint32_t>(i + 1),
                        .at = time_of(failed.at_ms),
                        .code = failure.code(),
                        .message = failure.what(),
                        .waited = duration_of(std::max(std::int64_t{0}, failed.waited_ms))});
  }
  return attempts;
}

DeadLetter letter_of(Operation operation, std::vector<FailedAttempt> attempts, const std::string& instance) {
  DeadLetter letter;
  letter.id = std::move(operation.id);
  letter.type = std::move(operation.type);
  letter.monitor = std::move(operation.monitor);
  letter.priority = operation.priority;
  letter.lock_info = std::move(operation.lock_info);
  letter.payload = std::move(operation.payload);
  letter.reason = attempts.back().code;
  letter.enqueued_at = attempts.front().at - attempts.front().waited;
  letter.failed_at = attempts.back().at;
  letter.attempts = std::move(attempts);
  letter.client = client::letter_origin(instance);
  letter.traceparent = std::move(operation.traceparent);
  return letter;
}

void end_attempt(fl_attempt handle, const std::exception_ptr& error) {
  const auto use = capi::remove<AttemptObject>(handle);
  use->open().remove(handle);
  use->end(error);
}

}  // namespace

extern "C" {

int32_t fl_runner_new(fl_client client, fl_dlq dlq, const fl_runner_options* options, fl_runner* runner) {
  return capi::run([&] {
    const auto use = find<ClientObject>(client);
    const auto letters = find<DeadLettersObject>(dlq)->letters_for(*use->state());
    fl_runner& result = target(runner);
    result = add(std::make_unique<RunnerObject>(use->state(), letters, options_of(options)));
  });
}

int32_t fl_runner_submit(fl_runner runner, const fl_operation_spec* spec, uint64_t tag, fl_operation* operation) {
  return capi::run([&] {
    const auto use = find<RunnerObject>(runner);
    require(spec != nullptr, "the operation is null");
    const fl_operation_spec given = read_structure(spec);
    Operation wanted = operation_of(given);
    OperationRunOptions options;
    require(given.timeout_ms >= 0, "the time-out is negative");
    if (given.timeout_ms > 0) {
      const auto now = std::chrono::steady_clock::now();
      const auto most = std::chrono::floor<std::chrono::milliseconds>(options.deadline - now).count();
      options.deadline = now + std::chrono::milliseconds(std::min(given.timeout_ms, most));
    }
    std::stop_source stop;
    options.stop = stop.get_token();
    // Before it begins: a handle that cannot be made must not leave an operation behind.
    const fl_operation handle = operation == nullptr ? 0 : add(std::make_unique<OperationObject>(stop));
    try {
      use->submit(std::move(wanted), tag, std::move(options), stop);
    } catch (...) {
      if (handle != 0) capi::remove<OperationObject>(handle);
      throw;
    }
    if (operation != nullptr) *operation = handle;
  });
}

int32_t fl_operation_cancel(fl_operation operation) {
  return capi::run([&] { find<OperationObject>(operation)->cancel(); });
}

int32_t fl_operation_free(fl_operation operation) {
  return capi::run([&] { capi::remove<OperationObject>(operation); });
}

int32_t fl_attempt_succeed(fl_attempt attempt) {
  return capi::run([&] { end_attempt(attempt, nullptr); });
}

int32_t fl_attempt_fail(fl_attempt attempt, const char* code, const char* message, int32_t retryable) {
  return capi::run([&] {
    const OperationFailure failure(text_of(code, "code"), text_or_empty(message), retryable != 0);
    end_attempt(attempt, std::make_exception_ptr(failure));
  });
}

int32_t fl_dlq_accept(fl_client client, fl_dlq dlq, const fl_operation_spec* spec, const fl_failed_attempt* attempts,
                      size_t count, uint32_t max_attempts, const char** id) {
  return capi::run([&] {
    const auto use = find<ClientObject>(client);
    const auto letters = find<DeadLettersObject>(dlq)->letters_for(*use->state());
    require(spec != nullptr, "the operation is null");
    DeadLetter letter = letter_of(client::checked(operation_of(read_structure(spec))), attempts_of(attempts, count),
                                  use->client().instance());
    letter.max_attempts = std::max(max_attempts, static_cast<std::uint32_t>(count));
    letters->sink().accept(letter);
    thread_local std::string accepted;
    accepted = letter.id;
    if (id != nullptr) *id = accepted.c_str();
  });
}

int32_t fl_runner_free(fl_runner runner) {
  return capi::run([&] { capi::remove<RunnerObject>(runner)->close(); });
}
}
