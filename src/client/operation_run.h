// Common part of a blocking and an asynchronous run: the operation, its stage, and its log lines.
#pragma once

#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <vector>

#include "client/client_core.h"
#include "forelock/operation_runner.h"
#include "retry/operation_machine.h"

namespace forelock::client {

// Tells the operation machine the time and the random numbers, and makes of its end what the caller gets. Not
// thread-safe.
class OperationRun {
 public:
  // \throws RequestRejectedException as checked().
  OperationRun(ClientCore& core, Operation operation, const BackoffOptions& backoff, retry::RetryBudget& budget,
               retry::TimePoint deadline);

  const Operation& operation() const { return operation_; }
  const retry::OperationMachine& machine() const { return machine_; }

  // --- events; after each of them the machine's stage is the next step ---

  void start();
  void due();
  // The lock is about to be waited for. Returns until when.
  lock::TimePoint begin_waiting();
  void granted();
  // \throws what it is given, unless that is an Error.
  void refused(const std::exception_ptr& error);
  void handler_succeeded(bool certain);
  void handler_failed(const std::exception_ptr& error);
  void sink_took() { machine_.sink_took(); }
  void sink_refused(std::exception_ptr error);
  void stop() { machine_.stop(); }
  // The client was closed while the operation waited: as stop(), with another reason.
  void client_closed();

  // --- what is said of it ---

  // The failed attempts that this was not called for yet.
  std::vector<FailedAttempt> take_news();
  // surrendering
  DeadLetter letter() const;
  // succeeded, queued
  OperationResult result() const;
  // failed: what the caller gets.
  std::exception_ptr error() const;

 private:
  void withdraw_with(const std::exception_ptr& error);
  retry::AttemptEnd end_of_attempt() const;
  // Of the statistics: it has failed, perhaps for the last time.
  void count_failure();
  std::string history() const;

  ClientCore& core_;
  const Operation operation_;
  const std::uint32_t retries_;
  const lock::TimePoint deadline_;
  const WallTime enqueued_at_;
  retry::OperationMachine machine_;
  lock::TimePoint waiting_since_{};
  std::chrono::milliseconds waited_{0};
  std::exception_ptr error_;  // the error with which it is left to the caller
  std::size_t told_ = 0;
};

}  // namespace forelock::client
