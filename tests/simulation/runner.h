// Runs many schedules on several threads, and tells a failure so that it can be understood.
#pragma once

#include "invariant.h"
#include "plan.h"
#include "statistics.h"

namespace forelock::simulation {

struct RunOptions {
  std::uint64_t first_seed = 1;
  std::uint64_t schedules = 100000;
  unsigned threads = 2;
  std::size_t most_failures = 1;  // the run stops there
  std::string_view mutation;      // a deliberate bug, if the build has them; empty: none
};

struct Failure {
  std::uint64_t seed = 0;
  Violation violation;
};

struct RunResult {
  Statistics statistics;
  std::vector<Failure> failures;  // by seed
  double seconds = 0;
};

RunResult run_schedules(const RunOptions& options);

// Those of all rooms; empty in a build that has none.
std::vector<std::string_view> all_mutations();
// For what runs on this thread beside run_schedules().
void switch_on(std::string_view mutation);

struct Outcome {
  Violation violation;
  Statistics statistics;
  std::string timeline;  // if traced
};

Outcome run_plan(const Plan& plan, bool traced = false);

// Seed, plan, timeline and the violated invariant, after shrinking.
std::string explain(const Failure& failure);

}  // namespace forelock::simulation
