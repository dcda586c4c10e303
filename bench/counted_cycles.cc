// Cycles of the engine whose instructions are counted: bench_counted_cycles WORKLOAD CYCLES. What runs inside of
// counted_cycles() counts, the canned replies included; starting, connecting and warming up do not.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "bench/engine_cycles.h"

namespace forelock::bench {
namespace {

constexpr int warm_up = 100;

struct Workload {
  std::string_view name;
  std::size_t foreign;  // background contenders of other processes
  int waiting;          // contenders of this process that take turns; 0: one that finds the lock free
};

constexpr Workload workloads[] = {
    {"uncontended", 0, 0},
    {"uncontended-beside-100", 100, 0},
    {"hand-over-among-8", 0, 8},
    {"hand-over-among-1000", 0, 1000},
};

void run(EngineCycles& cycles, bool hand_over, int count) {
  for (int i = 0; i < count; ++i) {
    if (hand_over) {
      cycles.hand_over();
    } else {
      cycles.uncontended();
    }
  }
}

}  // namespace

// callgrind knows it by its name.
extern "C" [[gnu::noinline]] void counted_cycles(EngineCycles& cycles, bool hand_over, int count) {
  run(cycles, hand_over, count);
}

namespace {

int count(const Workload& workload, int cycles_counted) {
  EngineCycles cycles(workload.foreign);
  for (int i = 0; i < workload.waiting; ++i) cycles.acquire();
  cycles.server().answer_all(cycles.engine());
  run(cycles, workload.waiting > 0, warm_up);
  const auto grants = cycles.server().grants();
  counted_cycles(cycles, workload.waiting > 0, cycles_counted);
  const auto granted = cycles.server().grants() - grants;
  if (granted == static_cast<std::uint64_t>(cycles_counted)) return 0;
  std::fprintf(stderr, "%llu grants in %d cycles\n", static_cast<unsigned long long>(granted), cycles_counted);
  return 1;
}

}  // namespace
}  // namespace forelock::bench

int main(int argc, char** argv) {
  if (argc == 3) {
    for (const auto& workload : forelock::bench::workloads) {
      if (workload.name == argv[1]) return forelock::bench::count(workload, std::atoi(argv[2]));
    }
  }
  std::fprintf(stderr, "usage: bench_counted_cycles WORKLOAD CYCLES, where WORKLOAD is one of\n");
  for (const auto& workload : forelock::bench::workloads) std::fprintf(stderr, "  %s\n", workload.name.data());
  return 64;
}
