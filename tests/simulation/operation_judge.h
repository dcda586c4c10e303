// Judges how operations end (invariant 9), with a dead-letter queue that forgets nothing.
//
// An operation ends as exactly one of: succeeded, left to its caller, in the queue. If its process is gone before that,
// it has not ended; its letter may be in the queue all the same, once, and its caller may begin it anew under its id.
#pragma once

#include "checker.h"
#include "plan.h"
#include "retry/operation_machine.h"
#include "statistics.h"

namespace forelock::simulation {

class OperationJudge {
 public:
  OperationJudge(Checker& checker, Statistics& statistics) : checker_(checker), statistics_(statistics) {}

  // --- what a runner says ---

  // Returns its id. The operation outlives the judge.
  std::uint64_t begun(const PlannedOperation& planned, Instant deadline);
  void begun_anew(std::uint64_t id, Instant deadline);
  void attempt_begins(std::uint64_t id, std::uint32_t number, Instant now);
  // `held`: whether the lock was, by the truth, when the handler ended; `certain`: what was told to the machine.
  void succeeded(std::uint64_t id, bool held, bool certain);
  void queued(std::uint64_t id);
  void left_to_caller(std::uint64_t id);
  // Its process is gone.
  void abandoned(std::uint64_t id);

  // --- what the queue says ---

  void letter_given(std::uint64_t id, const std::vector<FailedAttempt>& attempts);
  // From here on no crash loses it.
  void letter_written(std::uint64_t id);

  // --- at the end ---

  void nothing_lost();

 private:
  struct Record {
    const PlannedOperation* planned = nullptr;
    Instant deadline{};
    bool ended = false;      // in its present life
    bool abandoned = false;  // likewise
    bool given = false;      // likewise: to the queue
    bool written = false;    // likewise: the queue has it
    bool left = false;       // likewise: its end was the caller
  };

  Record& at(std::uint64_t id) { return records_[id - 1]; }
  void fail(std::uint64_t id, const std::string& text);
  void end(std::uint64_t id);

  Checker& checker_;
  Statistics& statistics_;
  std::vector<Record> records_;
};

}  // namespace forelock::simulation
