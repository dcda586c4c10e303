#include "runner.h"

#include "shrinker.h"
#include "world.h"

namespace forelock::simulation {

Outcome run_plan(const Plan& plan, bool traced) {
  World world(plan);
  if (traced) world.trace().switch_on();
  Outcome outcome;
  try {
    outcome.violation = world.run();
  } catch (const std::exception& exception) {
    world.checker().fail(Invariant::no_exception, exception.what());
    outcome.violation = world.checker().violation();
  }
  outcome.statistics = world.statistics();
  if (traced) {
    std::ostringstream text;
    for (const std::string& line : world.trace().lines()) text << line << "\n";
    outcome.timeline = text.str();
  }
  return outcome;
}

namespace {

#ifdef FORELOCK_MUTATION_BUILD
void switch_on(const RunOptions& options) {
  lock::active_mutation() = options.mutation;
  retry::active_mutation() = options.retry_mutation;
  sets::active_mutation() = options.sets_mutation;
  grouping::active_mutation() = options.grouping_mutation;
  linger::active_mutation() = options.linger_mutation;
  agent::active_mutation() = options.agent_mutation;
}
#endif

// Whether it is not the deliberate bug that breaks this schedule.
bool fails_anyway([[maybe_unused]] std::uint64_t seed, [[maybe_unused]] const RunOptions& options) {
#ifdef FORELOCK_MUTATION_BUILD
  const bool mutated =
      options.mutation != lock::Mutation::none || options.retry_mutation != retry::Mutation::none ||
      options.sets_mutation != sets::Mutation::none || options.grouping_mutation != grouping::Mutation::none ||
      options.linger_mutation != linger::Mutation::none || options.agent_mutation != agent::Mutation::none;
  if (!mutated) return false;
  switch_on({});
  const bool fails = static_cast<bool>(run_plan(make_plan(seed)).violation);
  switch_on(options);
  return fails;
#else
  return false;
#endif
}

}  // namespace

RunResult run_schedules(const RunOptions& options) {
  const auto began = std::chrono::steady_clock::now();
  std::atomic<std::uint64_t> next{0};
  std::atomic<bool> stop{false};
  std::mutex mutex;
  RunResult result;
  const auto work = [&] {
#ifdef FORELOCK_MUTATION_BUILD
    switch_on(options);
#endif
    Statistics statistics;
    while (!stop) {
      const std::uint64_t index = next++;
      if (index >= options.schedules) break;
      const std::uint64_t seed = options.first_seed + index;
      const Outcome outcome = run_plan(make_plan(seed));
      statistics.add(outcome.statistics);
      if (!outcome.violation || fails_anyway(seed, options)) continue;
      std::lock_guard lock(mutex);
      result.failures.push_back({seed, outcome.violation});
      if (result.failures.size() >= options.most_failures) stop = true;
    }
    std::lock_guard lock(mutex);
    result.statistics.add(statistics);
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < options.threads; ++i) threads.emplace_back(work);
  for (auto& thread : threads) thread.join();
  std::sort(result.failures.begin(), result.failures.end(),
            [](const Failure& a, const Failure& b) { return a.seed < b.seed; });
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return result;
}

std::string explain(const Failure& failure) {
  const Plan plan = shrink(make_plan(failure.seed), failure.violation.invariant);
  const Outcome outcome = run_plan(plan, true);
  std::ostringstream text;
  text << "Violated by seed " << failure.seed << ": " << name_of(failure.violation.invariant) << ": "
       << failure.violation.text << "\n\nReduced to:\n"
       << describe(plan) << "\n"
       << outcome.timeline;
  return text.str();
}

}  // namespace forelock::simulation
