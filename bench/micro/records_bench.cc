// What every acquisition computes besides the protocol, and what a start reads.
#include <benchmark/benchmark.h>

#include <string>

#include "bench/allocation_counter.h"
#include "config/properties.h"
#include "forelock/owner_record.h"
#include "lock/monitor_name.h"
#include "records/guid.h"
#include "records/holder_json.h"
#include "records/instance.h"
#include "records/stack.h"
#include "records/wall_time.h"

namespace forelock::bench {
namespace {

OwnerRecord typical_record(bool stack) {
  OwnerRecord record;
  record.lock_info = "Save Content";
  record.instance = records::instance_identity(records::process_identity(), records::thread_identity());
  record.guid = records::make_guid();
  record.enqueued_at = records::wall_time_now();
  if (stack) record.stack = records::symbolise(records::capture_stack());
  return record;
}

template <class Work>
void run(benchmark::State& state, const Work& work) {
  work();
  const Allocations before = allocations_of_this_thread();
  for (auto _ : state) benchmark::DoNotOptimize(work());
  const Allocations after = allocations_of_this_thread();
  state.counters["allocations"] =
      static_cast<double>(after.count - before.count) / static_cast<double>(state.iterations());
}

void record_to_json(benchmark::State& state) {
  const OwnerRecord record = typical_record(state.range(0) != 0);
  run(state, [&] { return record.to_json(); });
  state.counters["size"] = static_cast<double>(record.to_json().size());
}
BENCHMARK(record_to_json)->ArgName("stack")->Arg(0)->Arg(1);

void record_holder_json(benchmark::State& state) {
  const std::string waiting = typical_record(true).to_json();
  run(state, [&] { return records::holder_json(waiting, {records::wall_time_now(), {}, {}}); });
}
BENCHMARK(record_holder_json);

void record_from_json(benchmark::State& state) {
  const std::string json = typical_record(true).to_json();
  run(state, [&] { return OwnerRecord::from_json(json); });
}
BENCHMARK(record_from_json);

void stack_capture(benchmark::State& state) {
  run(state, [] { return records::capture_stack(); });
}
BENCHMARK(stack_capture);

void stack_symbolise_known(benchmark::State& state) {
  const records::CapturedStack stack = records::capture_stack();
  run(state, [&] { return records::symbolise(stack); });
}
BENCHMARK(stack_symbolise_known);

void guid(benchmark::State& state) {
  run(state, [] { return records::make_guid(); });
}
BENCHMARK(guid);

void monitor_name_plain(benchmark::State& state) {
  run(state, [] { return lock::encode_monitor_name("order-4711-customer-0815"); });
}
BENCHMARK(monitor_name_plain);

void monitor_name_escaped(benchmark::State& state) {
  run(state, [] { return lock::encode_monitor_name("https://example.com/söme/päth?x=50%"); });
}
BENCHMARK(monitor_name_escaped);

void properties_parse(benchmark::State& state) {
  std::string text;
  for (int i = 0; i < 50; ++i) text += "# a comment\nsome.key." + std::to_string(i) + " = some value\\u00e4 of it\n";
  run(state, [&] { return config::parse_properties(text, "bench.properties"); });
  state.SetBytesProcessed(static_cast<std::int64_t>(text.size()) * state.iterations());
}
BENCHMARK(properties_parse);

}  // namespace
}  // namespace forelock::bench
