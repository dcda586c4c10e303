// What an uncontended lock and unlock cost, next to the same transactions on the bare C client. One run measures all
// variants in interleaved rounds, so that a busy machine or a slow disk meets all of them alike.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/bench_server.h"
#include "bench/options.h"
#include "bench/samples.h"
#include "bench/session_client.h"
#include "bench/usage.h"
#include "forelock/forelock.h"
#include "support/wait_until.h"
#include "workload/raw_client.h"

namespace forelock::bench {
namespace {

using workload::RawClient;

struct Variant {
  std::string name;
  std::string what;
  // One cycle each; may tell when the first half was over.
  std::function<Clock::time_point()> cycle;
  std::function<void()> settle = [] {};

  Samples cycles{};
  Samples first_half{};
  Samples second_half{};
  std::vector<Samples> rounds{};
  Usage usage{};
};

class Measurement {
 public:
  Measurement(int rounds, int blocks, int cycles) : rounds_(rounds), blocks_(blocks), cycles_(cycles) {}

  void add(Variant variant) { variants_.push_back(std::move(variant)); }

  void run() {
    for (Variant& variant : variants_) {
      for (int i = 0; i < cycles_; ++i) variant.cycle();
      variant.settle();
    }
    for (int round = 0; round < rounds_; ++round) {
      for (Variant& variant : variants_) variant.rounds.emplace_back();
      // Small blocks by turns, each time beginning with another variant.
      for (int block = 0; block < blocks_; ++block) {
        for (std::size_t i = 0; i < variants_.size(); ++i) {
          measure(variants_[(i + static_cast<std::size_t>(round + block)) % variants_.size()]);
        }
      }
    }
  }

  Variant* named(const std::string& name) {
    const auto found = std::find_if(variants_.begin(), variants_.end(), [&](auto& each) { return each.name == name; });
    return found == variants_.end() ? nullptr : &*found;
  }
  const Variant& floor() const { return variants_.front(); }
  const std::vector<Variant>& variants() const { return variants_; }

  // The median and the extremes over the rounds of the ratio of the round's medians.
  static Samples ratios(const Variant& variant, const Variant& floor) {
    Samples ratios;
    for (std::size_t i = 0; i < variant.rounds.size(); ++i) {
      ratios.add(variant.rounds[i].median() / floor.rounds[i].median());
    }
    return ratios;
  }

  nlohmann::json to_json() const {
    nlohmann::json all = nlohmann::json::array();
    for (const Variant& variant : variants_) {
      const Samples ratio = ratios(variant, floor());
      const auto count = static_cast<double>(variant.cycles.count());
      all.push_back({{"name", variant.name},
                     {"what", variant.what},
                     {"cycles", variant.cycles.count()},
                     {"median_us", variant.cycles.median()},
                     {"p99_us", variant.cycles.quantile(0.99)},
                     {"lock_median_us", variant.first_half.median()},
                     {"unlock_median_us", variant.second_half.median()},
                     {"ratio", ratio.median()},
                     {"ratio_lowest", ratio.lowest()},
                     {"ratio_highest", ratio.highest()},
                     {"user_us", variant.usage.user_us / count},
                     {"system_us", variant.usage.system_us / count},
                     {"voluntary_switches", variant.usage.voluntary_switches / count},
                     {"involuntary_switches", variant.usage.involuntary_switches / count}});
    }
    return all;
  }

  void print_table(std::FILE* out) const {
    std::fprintf(out, "%-16s %9s %9s %9s %9s   %-18s %8s %8s %8s\n", "", "median", "p99", "lock", "unlock",
                 "ratio to raw", "user", "system", "switches");
    std::fprintf(out, "%-16s %9s %9s %9s %9s   %-18s %8s %8s %8s\n", "", "us", "us", "us", "us", "[rounds from, to]",
                 "us", "us", "");
    for (const Variant& variant : variants_) {
      const Samples ratio = ratios(variant, floor());
      const auto count = static_cast<double>(variant.cycles.count());
      std::fprintf(out, "%-16s %9.0f %9.0f %9.0f %9.0f   %.2f [%.2f, %.2f]  %8.1f %8.1f %8.1f\n", variant.name.c_str(),
                   variant.cycles.median(), variant.cycles.quantile(0.99), variant.first_half.median(),
                   variant.second_half.median(), ratio.median(), ratio.lowest(), ratio.highest(),
                   variant.usage.user_us / count, variant.usage.system_us / count,
                   variant.usage.voluntary_switches / count);
    }
  }

 private:
  void measure(Variant& variant) {
    const Usage before = Usage::now();
    for (int i = 0; i < cycles_; ++i) {
      const auto begin = Clock::now();
      const auto middle = variant.cycle();
      const auto end = Clock::now();
      variant.cycles.add(end - begin);
      variant.rounds.back().add(end - begin);
      variant.first_half.add(middle - begin);
      variant.second_half.add(end - middle);
    }
    variant.usage += Usage::now() - before;
    variant.settle();
  }

  const int rounds_;
  const int blocks_;
  const int cycles_;
  std::vector<Variant> variants_;
};

constexpr std::size_t known_variant = 5;

Clock::time_point lock_and_unlock(BlockingWriteLock& lock) {
  lock.lock_with_timeout();
  const auto middle = Clock::now();
  lock.unlock();
  return middle;
}

// One variant alone, for profilers: as many cycles as a whole measurement, and nothing is reported.
int profile(Variant* variant, const Options& options) {
  if (variant == nullptr) return 64;
  const int cycles = options.number("rounds") * options.number("blocks") * options.number("cycles");
  for (int i = 0; i < cycles; ++i) variant->cycle();
  variant->settle();
  return 0;
}

int run(const Options& options) {
  std::optional<test::TestServer> server;
  if (options.text("server").empty()) server.emplace(server_options(options.flag("sync")));
  const std::string servers = server ? server->connect_string() : options.text("server");

  Client client(client_settings(servers));
  BlockingWriteLock known(client, "Save Content", "known");
  LockOptions without_stack;
  without_stack.capture_stack = false;
  BlockingWriteLock bare(client, "Save Content", "bare", Priority::foreground, without_stack);
  BlockingWriteLock async(client, "Save Content", "async");
  known.lock_with_timeout();
  const OwnerRecord holder = known.owner();
  known.unlock();
  OwnerRecord waiting = holder;
  waiting.acquired_at.reset();
  const workload::RecordSizes sizes{waiting.to_json().size(), holder.to_json().size()};

  RawClient raw(servers, sizes);
  RawClient shipped(servers, sizes, false);
  SessionClient session(servers, sizes);
  for (const char* path : {"/raw", "/shipped", "/sync", "/session"}) raw.ensure(path);

  Measurement measurement(options.number("rounds"), options.number("blocks"), options.number("cycles"));
  measurement.add({"raw", "the C client's two transactions, each waited for with a condition variable", [&] {
                     raw.claim("/raw");
                     const auto middle = Clock::now();
                     raw.release();
                     return middle;
                   }});
  measurement.add({"raw as shipped", "the same without the one setting that Forelock makes on the C client", [&] {
                     shipped.claim("/shipped");
                     const auto middle = Clock::now();
                     shipped.release();
                     return middle;
                   }});
  measurement.add({"raw zoo_multi", "the same with the C client's synchronous calls", [&] {
                     raw.claim_synchronously("/sync");
                     const auto middle = Clock::now();
                     raw.release_synchronously();
                     return middle;
                   }});
  measurement.add({"create+delete", "one small node on the C client", [&] {
                     raw.create("/one");
                     const auto middle = Clock::now();
                     raw.remove("/one");
                     return middle;
                   }});
  measurement.add({"session", "the two transactions through Forelock's session room, without the engine", [&] {
                     session.claim("/session");
                     const auto middle = Clock::now();
                     session.release();
                     return middle;
                   }});
  measurement.add({"lock known", "BlockingWriteLock lock_with_timeout and unlock, always the same monitor",
                   [&] { return lock_and_unlock(known); }});
  measurement.add(
      {"lock no stack", "the same without the caller's stack in the record", [&] { return lock_and_unlock(bare); }});
  measurement.add({"lock fresh", "a new monitor each time, and a new lock object", [&, number = 0]() mutable {
                     BlockingWriteLock fresh(client, "Save Content", "fresh-" + std::to_string(number++));
                     return lock_and_unlock(fresh);
                   }});
  measurement.add({"raw fresh", "the C client: a new container and the two transactions", [&, number = 0]() mutable {
                     raw.claim_fresh("/raw-fresh-" + std::to_string(number++));
                     const auto middle = Clock::now();
                     raw.release();
                     return middle;
                   }});
  measurement.add({"unlock_async", "the same monitor; the release is not waited for",
                   [&] {
                     async.lock_with_timeout();
                     const auto middle = Clock::now();
                     async.unlock_async();
                     return middle;
                   },
                   [&] { test::wait_until([&] { return client.statistics().contenders == 0; }); }});
  if (!options.text("only").empty()) return profile(measurement.named(options.text("only")), options);
  measurement.run();

  const Samples ratio = Measurement::ratios(measurement.variants()[known_variant], measurement.floor());
  if (options.flag("table")) {
    std::fprintf(stderr, "uncontended, %s, records of %zu and %zu bytes, %d rounds of %d x %d cycles\n",
                 options.flag("sync") ? "with fsync" : "without fsync", sizes.own, sizes.holder,
                 options.number("rounds"), options.number("blocks"), options.number("cycles"));
    measurement.print_table(stderr);
    std::fprintf(stderr, "lock known / raw: %.3f (target 1.10)\n", ratio.median());
  }
  const nlohmann::json result = {{"benchmark", "uncontended"},          {"sync", options.flag("sync")},
                                 {"rounds", options.number("rounds")},  {"own_record_bytes", sizes.own},
                                 {"holder_record_bytes", sizes.holder}, {"ratio_known_to_raw", ratio.median()},
                                 {"variants", measurement.to_json()}};
  std::printf("%s\n", result.dump(2).c_str());
  return 0;
}

}  // namespace
}  // namespace forelock::bench

int main(int argc, char** argv) {
  return forelock::bench::run(forelock::bench::Options(argc, argv,
                                                       {{"rounds", "9"},
                                                        {"blocks", "8"},
                                                        {"cycles", "25"},
                                                        {"sync", "on"},
                                                        {"table", "on"},
                                                        {"server", ""},
                                                        {"only", ""}}));
}
