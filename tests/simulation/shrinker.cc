#include "shrinker.h"

#include "runner.h"

namespace forelock::simulation {
namespace {

// Fewer things draw fewer random numbers, so everything that follows shifts: some other luck may do.
constexpr std::uint64_t most_lucks = 40;

std::optional<Plan> still_fails(Plan plan, Invariant invariant) {
  const std::uint64_t luck = plan.luck;
  for (std::uint64_t i = 0; i < most_lucks; ++i) {
    plan.luck = luck + i;
    if (run_plan(plan).violation.invariant == invariant) return plan;
  }
  return std::nullopt;
}

// Tries without chunks of the list, the large ones first.
template <typename Items>
bool thin_out(Plan& plan, Items items, Invariant invariant) {
  bool progress = false;
  for (std::size_t chunk = std::max<std::size_t>(items(plan).size() / 2, 1); chunk > 0; chunk /= 2) {
    for (std::size_t begin = 0; begin < items(plan).size();) {
      Plan candidate = plan;
      auto& list = items(candidate);
      const auto from = list.begin() + static_cast<std::ptrdiff_t>(begin);
      list.erase(from, from + static_cast<std::ptrdiff_t>(std::min(chunk, list.size() - begin)));
      if (auto smaller = still_fails(std::move(candidate), invariant)) {
        plan = std::move(*smaller);
        progress = true;
      } else {
        begin += chunk;
      }
    }
  }
  return progress;
}

template <typename Change>
void simplify(Plan& plan, Change change, Invariant invariant) {
  Plan candidate = plan;
  change(candidate);
  if (auto simpler = still_fails(std::move(candidate), invariant)) plan = std::move(*simpler);
}

void simplify_calls(Plan& plan, Invariant invariant) {
  for (std::size_t i = 0; i < plan.threads.size(); ++i) {
    for (std::size_t k = 0; k < plan.threads[i].calls.size(); ++k) {
      const auto call = [i, k](Plan& one) -> PlannedCall& { return one.threads[i].calls[k]; };
      simplify(
          plan,
          [&](Plan& one) {
            PlannedCall& c = call(one);
            c.wants_position = c.wants_contention = c.updates_record = false;
            c.guarded_writes = c.step_asides = 0;
            c.queue_max = 0;
            c.refuse_in_vain = false;
          },
          invariant);
      if (!call(plan).set.empty())
        simplify(
            plan, [&](Plan& one) { call(one).set.clear(); }, invariant);
      if (call(plan).operation) {
        simplify(
            plan, [&](Plan& one) { call(one).operation.reset(); }, invariant);
      }
      if (call(plan).operation) {
        simplify(
            plan,
            [&](Plan& one) {
              call(one).operation->deadline = call(one).operation->stop_after = {};
              call(one).operation->begun_anew = false;
            },
            invariant);
        simplify(
            plan, [&](Plan& one) { call(one).operation->retries = 0; }, invariant);
      }
      if (call(plan).cancel_after > Span{})
        simplify(
            plan, [&](Plan& one) { call(one).cancel_after = {}; }, invariant);
      if (call(plan).patience > Span{})
        simplify(
            plan, [&](Plan& one) { call(one).patience = {}; }, invariant);
    }
  }
}

}  // namespace

Plan shrink(Plan plan, Invariant invariant) {
  simplify(
      plan, [](Plan& one) { one.literals.clear(); }, invariant);
  simplify(
      plan, [](Plan& one) { one.faults.clear(); }, invariant);
  simplify(
      plan, [](Plan& one) { one.linger.time = one.linger.delay = {}; }, invariant);
  simplify(
      plan, [](Plan& one) { one.servers = 1; }, invariant);
  simplify(
      plan, [](Plan& one) { one.probes = false; }, invariant);
  bool progress = true;
  for (int round = 0; progress && round < 4; ++round) {
    progress = thin_out(
        plan, [](Plan & one) -> auto& { return one.threads; }, invariant);
    for (std::size_t i = 0; i < plan.threads.size(); ++i) {
      progress |= thin_out(
          plan, [i](Plan & one) -> auto& { return one.threads[i].calls; }, invariant);
    }
    progress |= thin_out(
        plan, [](Plan & one) -> auto& { return one.literals; }, invariant);
    progress |= thin_out(
        plan, [](Plan & one) -> auto& { return one.faults; }, invariant);
  }
  simplify_calls(plan, invariant);
  return plan;
}

}  // namespace forelock::simulation
