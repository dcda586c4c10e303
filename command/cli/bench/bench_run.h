// The measurements of `forelock bench`.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "cli/bench/bench_namespace.h"
#include "cli/bench/bench_team.h"
#include "forelock/client.h"

namespace forelock::workload {
class RawLoad;
}

namespace forelock::cli {

// The options of `forelock bench`.
struct BenchOptions {
  std::vector<std::string> workloads;  // all of them if empty
  std::size_t threads = 8;
  std::size_t processes = 4;
  std::vector<std::size_t> monitors = {64, 1000};
  std::optional<std::size_t> waiters;
  std::chrono::milliseconds hold{5};
  std::chrono::milliseconds duration{200};  // of one lock in one round
  std::size_t rounds = 3;
};

// What was measured of one thing, a number for each round.
struct BenchRow {
  std::string workload;
  std::string what;
  std::string unit;
  bool higher_is_better = false;
  std::vector<double> forelock;
  std::vector<double> raw = {};       // the bare C client's floor; empty where there is none
  std::vector<double> requests = {};  // that Forelock has sent for a section; empty where they are not counted

  // Of the rounds.
  static double median(std::vector<double> values);
  // Of the ratios within the rounds. `raw` must not be empty.
  double ratio() const;
};

// The names of the workloads, in the order in which they are run.
const std::vector<std::string>& bench_workloads();

// Forelock and the bare C client by turns, in rounds. Not thread-safe.
class BenchRun {
 public:
  // `team` may be null without the workload "contended". `stop` ends a measurement early, by closing the clients.
  BenchRun(const BenchOptions& options, const Settings& settings, BenchNamespace& where, BenchTeam* team,
           const LogSink& log, std::stop_token stop);
  ~BenchRun();
  BenchRun(const BenchRun&) = delete;
  BenchRun& operator=(const BenchRun&) = delete;

  // \throws what a lock throws; anything when stopped.
  std::vector<BenchRow> run(const std::string& workload);

 private:
  std::vector<BenchRow> uncontended();
  std::vector<BenchRow> contended();
  std::vector<BenchRow> independent();
  std::vector<BenchRow> priority();
  std::vector<BenchRow> waiters();

  // Until so many wait for the monitor, or that is in vain.
  void wait_for_line(const std::string& monitor, std::size_t length, const std::function<bool()>& in_vain);
  // What the bare client's two transactions take together, in µs.
  double raw_cycle_us();
  double seconds() const { return static_cast<double>(options_.duration.count()) / 1000; }

  const BenchOptions& options_;
  BenchNamespace& where_;
  BenchTeam* const team_;
  const std::stop_token stop_;
  Client client_;
  Client second_;  // another session: a hand-over between two is one between processes for the servers
  std::unique_ptr<workload::RawLoad> raw_;
  std::string raw_monitor_;
  std::stop_callback<std::function<void()>> when_stopped_;  // last: it uses the others
};

}  // namespace forelock::cli
