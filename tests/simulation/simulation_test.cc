// The lock keeps its promises in every schedule that the simulator can think of.
#include "runner.h"
#include "support/test.h"

namespace forelock::simulation {
namespace {

std::uint64_t schedules_wanted() {
  const char* wanted = std::getenv("FORELOCK_SCHEDULES");
  return wanted == nullptr ? 100000 : std::strtoull(wanted, nullptr, 10);
}

TEST(SimulationTest, NoScheduleBreaksAnInvariant) {
  RunOptions options;
  options.schedules = schedules_wanted();
  options.threads = std::max(1U, std::thread::hardware_concurrency());
  const RunResult result = run_schedules(options);
  std::cout << result.statistics.json(result.seconds, result.failures.size()) << std::endl;
  if (!result.failures.empty()) FAIL() << explain(result.failures.front());
  EXPECT_EQ(result.statistics.schedules, options.schedules);
}

TEST(SimulationTest, TheSameSeedIsTheSameSchedule) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const Outcome first = run_plan(make_plan(seed), true);
    const Outcome second = run_plan(make_plan(seed), true);
    EXPECT_EQ(first.timeline, second.timeline) << seed;
  }
}

// What a schedule is worth depends on what happens in it: nothing that is planned may have become unreachable.
TEST(SimulationTest, EverythingHappensNowAndThen) {
  RunOptions options;
  options.schedules = 2000;
  options.threads = std::max(1U, std::thread::hardware_concurrency());
  const Statistics seen = run_schedules(options).statistics;
  for (std::size_t kind = 0; kind < seen.faults.size(); ++kind) {
    EXPECT_GT(seen.faults[kind], 0u) << name_of(static_cast<FaultKind>(kind));
  }
  EXPECT_GT(seen.grants, 0u);
  EXPECT_GT(seen.refusals, 0u);
  EXPECT_GT(seen.not_admitted, 0u);
  EXPECT_GT(seen.losses, 0u);
  EXPECT_GT(seen.hand_overs, 0u);
  EXPECT_GT(seen.yields, 0u);
  EXPECT_GT(seen.step_asides, 0u);
  EXPECT_GT(seen.aged, 0u);
  EXPECT_GT(seen.changed_class, 0u);
  EXPECT_GT(seen.inherited, 0u);
  EXPECT_GT(seen.wishes_obeyed, 0u);
  EXPECT_GT(seen.number_proofs, 0u);
  EXPECT_GT(seen.literal_grants, 0u);
  EXPECT_GT(seen.renewed_monitors, 0u);
  EXPECT_GT(seen.forgotten_watches, 0u);
  EXPECT_GT(seen.guarded_writes, 0u);
  EXPECT_GT(seen.guarded_writes_refused, 0u);
  EXPECT_GT(seen.expired_sessions, 0u);
  EXPECT_GT(seen.operations_succeeded, 0u);
  EXPECT_GT(seen.operations_dead_lettered, 0u);
  EXPECT_GT(seen.operations_left, 0u);
  EXPECT_GT(seen.operations_abandoned, 0u);
  EXPECT_GT(seen.retries, 0u);
  EXPECT_GT(seen.sets_held, 0u);
  EXPECT_GT(seen.sets_refused, 0u);
  EXPECT_GT(seen.sets_lost, 0u);
  EXPECT_GT(seen.set_waits, 0u);
  EXPECT_GT(seen.set_gave_way, 0u);
  EXPECT_GT(seen.set_knocks, 0u);
  EXPECT_GT(seen.withdrawn, 0u);
  EXPECT_GT(seen.lingered, 0u);
  EXPECT_GT(seen.taken_again, 0u);
}

}  // namespace
}  // namespace forelock::simulation
