#include "operation_judge.h"

namespace forelock::simulation {

std::uint64_t OperationJudge::begun(const PlannedOperation& planned, Instant deadline) {
  ++statistics_.operations;
  records_.push_back({&planned, deadline});
  checker_.progress();
  return records_.size();
}

void OperationJudge::begun_anew(std::uint64_t id, Instant deadline) {
  if (!at(id).abandoned) fail(id, "is begun anew, but its process lives");
  at(id) = {at(id).planned, deadline};
  checker_.progress();
}

void OperationJudge::fail(std::uint64_t id, const std::string& text) {
  checker_.fail(Invariant::one_ending, "operation " + std::to_string(id) + " " + text);
}

void OperationJudge::attempt_begins(std::uint64_t id, std::uint32_t number, Instant now) {
  const Record& one = at(id);
  if (number > 1) ++statistics_.retries;
  if (one.ended) fail(id, "is tried again after its end");
  if (number > one.planned->retries + 1) fail(id, "is tried more often than it may be");
  if (now >= one.deadline) {
    checker_.fail(Invariant::in_time, "operation " + std::to_string(id) + " begins an attempt after its deadline");
  }
  checker_.progress();
}

void OperationJudge::end(std::uint64_t id) {
  Record& one = at(id);
  if (one.ended) fail(id, "ends twice");
  if (one.abandoned) fail(id, "ends although its process is gone");
  one.ended = true;
  checker_.progress();
}

void OperationJudge::succeeded(std::uint64_t id, bool held, bool certain) {
  end(id);
  ++statistics_.operations_succeeded;
  if (!certain) fail(id, "counts as succeeded, but its lock was not certain");
  if (!held) fail(id, "counts as succeeded, but its lock was not held when the handler returned");
  if (at(id).given) fail(id, "succeeds after its letter was given away");
}

void OperationJudge::queued(std::uint64_t id) {
  end(id);
  ++statistics_.operations_dead_lettered;
  if (!at(id).written) fail(id, "counts as queued, but the queue does not have it");
}

void OperationJudge::left_to_caller(std::uint64_t id) {
  end(id);
  ++statistics_.operations_left;
  at(id).left = true;
  if (at(id).written) fail(id, "is left to its caller, and it is in the queue");
}

void OperationJudge::abandoned(std::uint64_t id) {
  if (at(id).ended) return;
  at(id).abandoned = true;
  ++statistics_.operations_abandoned;
}

void OperationJudge::letter_given(std::uint64_t id, const std::vector<FailedAttempt>& attempts) {
  Record& one = at(id);
  if (one.given) fail(id, "is given to the queue twice");
  if (one.ended) fail(id, "is given to the queue after its end");
  one.given = true;
  if (attempts.empty()) fail(id, "is given to the queue without a failed attempt");
  for (std::size_t i = 0; i < attempts.size(); ++i) {
    if (attempts[i].number != i + 1) fail(id, "has a letter whose attempts are not all there");
  }
  checker_.progress();
}

void OperationJudge::letter_written(std::uint64_t id) {
  at(id).written = true;
  if (at(id).left) fail(id, "was left to its caller, and now it is in the queue");
}

void OperationJudge::nothing_lost() {
  for (std::size_t i = 0; i < records_.size(); ++i) {
    if (!records_[i].ended && !records_[i].abandoned) fail(i + 1, "never ends");
  }
}

}  // namespace forelock::simulation
