// Runs many schedules on several threads, and tells a failure so that it can be understood.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "invariant.h"
#include "plan.h"
#include "statistics.h"

#ifdef FORELOCK_MUTATION_BUILD
#include "lock/mutation.h"
#endif

namespace forelock::simulation {

struct RunOptions {
  std::uint64_t first_seed = 1;
  std::uint64_t schedules = 100000;
  unsigned threads = 2;
#ifdef FORELOCK_MUTATION_BUILD
  lock::Mutation mutation = lock::Mutation::none;
#endif
};

struct Failure {
  std::uint64_t seed = 0;
  Violation violation;
};

struct RunResult {
  Statistics statistics;
  std::optional<Failure> failure;  // the one with the lowest seed that was found; the run stops at the first
  std::uint64_t tried = 0;         // schedules until it was found
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
