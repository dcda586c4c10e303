// forelock_simulate: runs schedules, or one of them with its timeline.
#include "runner.h"
#include "world.h"

namespace {

constexpr std::string_view usage =
    "usage: forelock_simulate [--schedules N] [--seed S] [--threads T] [--failures N] [--trace] [--no-shrink] "
    "[--mutation NAME]\n"
    "  --seed S        the first seed; alone, or with --trace: only this one, with its timeline\n"
    "  --failures N    go on until so many schedules have failed, and list them (1)\n"
    "  --trace         tell the timeline of one schedule, whether it fails or not\n"
    "  --no-shrink     tell a failure as it happened\n"
    "  --mutation NAME a deliberate bug of a room (forelock_simulate_mutation alone knows them)\n";

struct Arguments {
  forelock::simulation::RunOptions run;
  bool one = false;
  bool trace = false;
  bool shrink = true;
};

bool parse(int count, char** words, Arguments& arguments) {
  bool seed = false;
  bool schedules = false;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    const auto value = [&]() -> std::string_view { return i + 1 < count ? words[++i] : ""; };
    const auto number = [&] { return std::strtoull(std::string(value()).c_str(), nullptr, 10); };
    if (word == "--schedules") {
      arguments.run.schedules = number();
      schedules = true;
    } else if (word == "--seed") {
      arguments.run.first_seed = number();
      seed = true;
    } else if (word == "--threads") {
      arguments.run.threads = static_cast<unsigned>(number());
    } else if (word == "--failures") {
      arguments.run.most_failures = number();
    } else if (word == "--trace") {
      arguments.trace = true;
    } else if (word == "--no-shrink") {
      arguments.shrink = false;
    } else if (word == "--mutation") {
      arguments.run.mutation = value();
      const auto all = forelock::simulation::all_mutations();
      if (std::find(all.begin(), all.end(), arguments.run.mutation) == all.end()) return false;
    } else {
      return false;
    }
  }
  arguments.one = arguments.trace || (seed && !schedules);
  if (arguments.one) arguments.run.schedules = 1;
  if (arguments.run.threads == 0) arguments.run.threads = 1;
  return true;
}

}  // namespace

int main(int count, char** words) {
  using namespace forelock::simulation;
  Arguments arguments;
  arguments.run.threads = std::max(1U, std::thread::hardware_concurrency());
  if (!parse(count, words, arguments)) {
    std::cerr << usage;
    return 2;
  }
  switch_on(arguments.run.mutation);
  if (arguments.trace) {
    const Plan plan = make_plan(arguments.run.first_seed);
    std::cout << describe(plan) << "\n" << run_plan(plan, true).timeline;
  }
  const RunResult result = run_schedules(arguments.run);
  if (result.failures.size() > 1) {
    for (const Failure& failure : result.failures) {
      std::cout << failure.seed << ": " << name_of(failure.violation.invariant) << ": " << failure.violation.text
                << "\n";
    }
  } else if (!result.failures.empty() && !arguments.trace) {
    if (arguments.shrink) {
      std::cout << explain(result.failures.front()) << "\n";
    } else {
      const Plan plan = make_plan(result.failures.front().seed);
      std::cout << describe(plan) << "\n" << run_plan(plan, true).timeline << "\n";
    }
  }
  std::cout << result.statistics.json(result.seconds, result.failures.size()) << std::endl;
  return result.failures.empty() ? 0 : 1;
}
