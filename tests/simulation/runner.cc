#include "runner.h"

#include "shrinker.h"
#include "world.h"

#ifdef FORELOCK_MUTATION_BUILD
#include "agent/mutation.h"
#include "grouping/mutation.h"
#include "linger/mutation.h"
#include "lock/mutation.h"
#include "retry/mutation.h"
#include "sets/mutation.h"
#endif

namespace forelock::simulation {

#ifdef FORELOCK_MUTATION_BUILD
std::vector<std::string_view> all_mutations() {
  std::vector<std::string_view> all;
  const auto add = [&](const auto& room) { all.insert(all.end(), std::begin(room), std::end(room)); };
  add(lock::all_mutations);
  add(retry::all_mutations);
  add(grouping::all_mutations);
  add(linger::all_mutations);
  add(agent::all_mutations);
  add(sets::all_mutations);
  return all;
}

void switch_on(std::string_view mutation) {
  base::active_mutation() = mutation;
}
#else
std::vector<std::string_view> all_mutations() {
  return {};
}

void switch_on(std::string_view) {}
#endif

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

// Whether it is not the deliberate bug that breaks this schedule.
bool fails_anyway(std::uint64_t seed, const RunOptions& options) {
  if (options.mutation.empty()) return false;
  switch_on({});
  const bool fails = static_cast<bool>(run_plan(make_plan(seed)).violation);
  switch_on(options.mutation);
  return fails;
}

}  // namespace

RunResult run_schedules(const RunOptions& options) {
  const auto began = std::chrono::steady_clock::now();
  std::atomic<std::uint64_t> next{0};
  std::atomic<bool> stop{false};
  std::mutex mutex;
  RunResult result;
  const auto work = [&] {
    switch_on(options.mutation);
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
