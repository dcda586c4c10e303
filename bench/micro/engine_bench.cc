// The pure engine: what a cycle costs besides network and disk. The canned replies are part of it.
#include <benchmark/benchmark.h>

#include "bench/allocation_counter.h"
#include "bench/engine_cycles.h"

namespace forelock::bench {
namespace {

// Runs `cycle` and says what it asked of the memory and of the server.
template <class Cycle>
void run(benchmark::State& state, CannedServer& server, const Cycle& cycle) {
  for (int i = 0; i < 100; ++i) cycle();
  const auto grants = server.grants();
  const auto requests = server.requests();
  const Allocations before = allocations_of_this_thread();
  for (auto _ : state) cycle();
  const Allocations after = allocations_of_this_thread();
  const auto per_cycle = [&](std::uint64_t count) {
    return static_cast<double>(count) / static_cast<double>(state.iterations());
  };
  state.counters["allocations"] = per_cycle(after.count - before.count);
  state.counters["bytes"] = per_cycle(after.bytes - before.bytes);
  state.counters["requests"] = per_cycle(server.requests() - requests);
  state.counters["grants"] = per_cycle(server.grants() - grants);
}

void engine_uncontended(benchmark::State& state) {
  EngineCycles cycles;
  run(state, cycles.server(), [&] { cycles.uncontended(); });
}
BENCHMARK(engine_uncontended);

// The contenders' specifications and the server's replies alone: to be taken off the cycle above.
void canned_replies_alone(benchmark::State& state) {
  struct Sink final : coordination::SessionListener {
    void on_reply(coordination::RequestTag, coordination::Reply reply) override { benchmark::DoNotOptimize(reply); }
    void on_watch(const coordination::WatchEvent&) override {}
    void on_session(const coordination::SessionEvent&) override {}
  };
  for (auto _ : state) {
    lock::AcquireSpec spec = typical_spec();
    std::string holder = spec.record(lock::RecordUse::holding, spec.guid);
    coordination::Reply claimed;
    claimed.operations.resize(3);
    claimed.operations[0].path = "/P1/A-0000000012";
    claimed.operations[1].path = "/P1/privateLock";
    coordination::Reply released;
    released.operations.resize(2);
    benchmark::DoNotOptimize(spec);
    benchmark::DoNotOptimize(holder);
    benchmark::DoNotOptimize(claimed);
    benchmark::DoNotOptimize(released);
  }
}
BENCHMARK(canned_replies_alone);

void engine_hand_over(benchmark::State& state) {
  EngineCycles cycles;
  for (std::int64_t i = 0; i < state.range(0); ++i) cycles.acquire();
  cycles.server().answer_all(cycles.engine());
  run(state, cycles.server(), [&] { cycles.hand_over(); });
}
BENCHMARK(engine_hand_over)->Arg(8)->Arg(1000);

// A foreground cycle while so many background contenders of other processes wait.
void engine_foreign_children(benchmark::State& state) {
  EngineCycles cycles(static_cast<std::size_t>(state.range(0)));
  run(state, cycles.server(), [&] { cycles.uncontended(); });
}
BENCHMARK(engine_foreign_children)->Arg(8)->Arg(1000);

}  // namespace
}  // namespace forelock::bench
