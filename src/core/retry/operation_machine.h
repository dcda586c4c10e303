// One operation from its first attempt to its one end.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/time_point.h"
#include "forelock/dead_letter_sink.h"
#include "forelock/error.h"
#include "retry/backoff.h"
#include "retry/retry_budget.h"

namespace forelock::retry {

// What the driver is to do:
//
//   stage         the driver                                      leaves by
//   -----------   ---------------------------------------------   ---------------------------------------------------
//   fresh         start() at once                                 start → locking, failed
//   locking       takes the lock, not waiting for it past the     granted → working, failed
//                 deadline; withdraws that when it calls stop()   refused → waiting, surrendering, failed
//   working       calls the handler, then releases the lock       handler_succeeded → succeeded, or as handler_failed
//                                                                 handler_failed → waiting, surrendering, failed
//   waiting       due() at wake_at()                              due → locking, waiting (for longer), surrendering
//                                                                 stop → failed
//   surrendering  gives the letter to the sink                    sink_took → queued; sink_refused → failed
//   succeeded     tells the caller                                –
//   queued        tells the caller: the letter is in the queue    –
//   failed        tells the caller why: it owns the operation     –
//
// The last three are the ends; none is ever left. stop() is welcome in every stage.
enum class OperationStage { fresh, locking, working, waiting, surrendering, succeeded, queued, failed };

std::string_view name_of(OperationStage stage);

// Why an operation was left to its caller.
enum class CallerCause {
  none,          // it was not
  withdrawn,     // stop() was called
  too_late,      // its deadline had passed before anything was tried
  refused,       // the client is closed or belongs to another process: nothing can be tried, now or later
  sink_refused,  // the sink did not take its letter
};

struct OperationLimits {
  std::uint32_t retries = 0;
  TimePoint deadline = never;  // no attempt begins at this instant or later
  Backoff backoff;
};

// What the machine cannot know of the end of an attempt.
struct AttemptEnd {
  TimePoint now{};                      // by the clock that decides
  WallTime at{};                        // by the clock for people
  std::chrono::milliseconds waited{0};  // for the lock
  std::uint64_t random = 0;             // what the jitter is made of
};

// Pure: no I/O, threads, clock or randomness. Not thread-safe; the budget is, and may be shared. An event that the
// table above does not have is a defect of the driver: Error(internal), and nothing has changed.
class OperationMachine {
 public:
  // Messages of failed attempts are cut to this.
  static constexpr std::size_t max_message_bytes = 1000;

  // The budget outlives the machine.
  OperationMachine(const OperationLimits& limits, RetryBudget& budget);

  // --- events; each returns the stage after it ---

  OperationStage start(TimePoint now);
  // The time of wake_at() has come. Too early is harmless.
  OperationStage due(TimePoint now);
  OperationStage granted();
  // The lock was not obtained. Whether it is tried again says is_retryable(code).
  OperationStage refused(ErrorCode code, std::string_view message, const AttemptEnd& end);
  // `certain`: the lock was held until the handler returned.
  OperationStage handler_succeeded(bool certain, const AttemptEnd& end);
  OperationStage handler_failed(std::string_view code, std::string_view message, bool retryable, const AttemptEnd& end);
  OperationStage sink_took();
  OperationStage sink_refused();
  // The caller takes the operation back: at once while it waits, else at the end of the attempt, unless that is a
  // success. A letter that is being given to the sink is not held back.
  OperationStage stop();

  // --- what is known ---

  OperationStage stage() const { return stage_; }
  bool over() const;
  bool stop_requested() const { return stop_requested_; }
  // The number of the attempt under way, or of the last one; 0 before the first.
  std::uint32_t attempt() const { return attempt_; }
  // waiting: until when.
  TimePoint wake_at() const { return wake_at_; }
  // Those that failed, oldest first.
  const std::vector<FailedAttempt>& attempts() const { return attempts_; }
  CallerCause cause() const { return cause_; }

 private:
  void expect(OperationStage stage, const char* event) const;
  OperationStage attempt_failed(std::string_view code, std::string_view message, bool retryable, const AttemptEnd& end);
  OperationStage begin_attempt();
  OperationStage wait_until(TimePoint time);
  OperationStage surrender();
  OperationStage fail(CallerCause cause);
  void give_token_back();
  bool past_deadline(TimePoint time) const;

  const OperationLimits limits_;
  RetryBudget& budget_;
  OperationStage stage_ = OperationStage::fresh;
  CallerCause cause_ = CallerCause::none;
  std::uint32_t attempt_ = 0;
  std::vector<FailedAttempt> attempts_;
  TimePoint wake_at_{};
  bool has_token_ = false;  // for the next retry
  bool stop_requested_ = false;
};

}  // namespace forelock::retry
