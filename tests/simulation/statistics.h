// Counts of what happened in the schedules.
#pragma once

#include "plan.h"

namespace forelock::simulation {

struct Statistics {
  std::uint64_t schedules = 0;
  std::uint64_t steps = 0;
  std::uint64_t acquisitions = 0;
  std::uint64_t grants = 0;
  std::uint64_t refusals = 0;
  std::uint64_t not_admitted = 0;
  std::uint64_t losses = 0;
  std::uint64_t releases = 0;
  std::uint64_t hand_overs = 0;
  std::uint64_t yields = 0;
  std::uint64_t step_asides = 0;
  std::uint64_t aged = 0;           // background contenders that have moved to the foreground's queue
  std::uint64_t inherited = 0;      // moves of those for which somebody waits behind what their caller holds
  std::uint64_t changed_class = 0;  // moves of those whose callers have made them another class
  std::uint64_t wishes_obeyed = 0;  // of operators
  std::uint64_t number_proofs = 0;  // grants without any listing
  std::uint64_t literal_grants = 0;
  std::uint64_t renewed_monitors = 0;        // at their counter's end
  std::uint64_t forgotten_watches = 0;       // of monitors that were not used for long
  std::uint64_t guarded_writes = 0;          // that were applied
  std::uint64_t guarded_writes_refused = 0;  // because the lock was gone
  std::uint64_t expired_sessions = 0;
  std::uint64_t operations = 0;
  std::uint64_t operations_succeeded = 0;
  std::uint64_t operations_dead_lettered = 0;
  std::uint64_t operations_left = 0;       // to their callers
  std::uint64_t operations_abandoned = 0;  // by processes that went down
  std::uint64_t retries = 0;
  std::uint64_t sets_held = 0;
  std::uint64_t sets_refused = 0;
  std::uint64_t sets_lost = 0;
  std::uint64_t groups = 0;  // of transactions, in one request
  std::uint64_t groups_failed = 0;
  std::uint64_t withdrawn = 0;     // claims that were not sent
  std::uint64_t lingered = 0;      // sections after which the lock was kept
  std::uint64_t taken_again = 0;   // sections that got such a lock
  std::uint64_t set_waits = 0;     // of a set, in the queue of one of its members
  std::uint64_t set_knocks = 0;    // at members that may linger elsewhere
  std::uint64_t set_gave_way = 0;  // members of a waiting set, to contenders that go before it
  std::array<std::uint64_t, static_cast<std::size_t>(FaultKind::count_)> faults{};

  void add(const Statistics& other);
  // One line, for the end of a run.
  std::string json(double seconds, std::uint64_t failures) const;
};

}  // namespace forelock::simulation
