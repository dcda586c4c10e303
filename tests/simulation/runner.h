// Runs many schedules on several threads, and tells a failure so that it can be understood.
#pragma once

#include "invariant.h"
#include "plan.h"
#include "statistics.h"

#ifdef FORELOCK_MUTATION_BUILD
#include "agent/mutation.h"
#include "grouping/mutation.h"
#include "linger/mutation.h"
#include "lock/mutation.h"
#include "retry/mutation.h"
#include "sets/mutation.h"
#endif

namespace forelock::simulation {

struct RunOptions {
  std::uint64_t first_seed = 1;
  std::uint64_t schedules = 100000;
  unsigned threads = 2;
  std::size_t most_failures = 1;  // the run stops there
#ifdef FORELOCK_MUTATION_BUILD
  lock::Mutation mutation = lock::Mutation::none;
  retry::Mutation retry_mutation = retry::Mutation::none;
  sets::Mutation sets_mutation = sets::Mutation::none;
  grouping::Mutation grouping_mutation = grouping::Mutation::none;
  linger::Mutation linger_mutation = linger::Mutation::none;
  agent::Mutation agent_mutation = agent::Mutation::none;
#endif
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

struct Outcome {
  Violation violation;
  Statistics statistics;
  std::string timeline;  // if traced
};

Outcome run_plan(const Plan& plan, bool traced = false);

// Seed, plan, timeline and the violated invariant, after shrinking.
std::string explain(const Failure& failure);

}  // namespace forelock::simulation
