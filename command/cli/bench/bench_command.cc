// forelock bench: what locks cost on these servers, next to the bare C client.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>

#include "cli/bench/bench_run.h"
#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/exit_code.h"
#include "cli/output/quantity_text.h"
#include "cli/output/text_table.h"
#include "cli/process/signal_queue.h"
#include "cli/process/task.h"

namespace forelock::cli {
namespace {

using Json = nlohmann::ordered_json;
using Rows = std::vector<BenchRow>;

// Three digits that mean something.
std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, value >= 100 ? "%.0f" : value >= 10 ? "%.1f" : "%.2f", value);
  return text;
}

double lowest(const BenchRow& row) {
  return *std::min_element(row.forelock.begin(), row.forelock.end());
}

double highest(const BenchRow& row) {
  return *std::max_element(row.forelock.begin(), row.forelock.end());
}

Json json_of(const BenchRow& row) {
  return {{"workload", row.workload},
          {"what", row.what},
          {"unit", row.unit},
          {"better", row.higher_is_better ? "higher" : "lower"},
          {"median", BenchRow::median(row.forelock)},
          {"lowest", lowest(row)},
          {"highest", highest(row)},
          {"raw", row.raw.empty() ? Json(nullptr) : Json(BenchRow::median(row.raw))},
          {"ratio", row.raw.empty() ? Json(nullptr) : Json(row.ratio())},
          {"requests", row.requests.empty() ? Json(nullptr) : Json(BenchRow::median(row.requests))}};
}

class BenchCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& root) override {
    CLI::App* app = root.add_subcommand("bench", "Measure locks on these servers next to the bare ZooKeeper client");
    app->add_option("WORKLOAD", options_.workloads, "uncontended, contended, independent, priority, waiters [all]")
        ->check(CLI::IsMember(bench_workloads()).description(""));
    count(*app, "--threads", options_.threads, "contended: threads of this process at one monitor [8]", 1000);
    count(*app, "--processes", options_.processes, "contended: processes at one monitor [4]", 100);
    app->add_option("--monitors", options_.monitors, "independent: N at once; may be repeated [64, 1000]")
        ->type_name("N")
        ->expected(1)
        ->check(CLI::Range(1, 10'000).description(""));
    app->add_option("--waiters", options_.waiters, "priority, waiters: how many wait [100, 1000]")
        ->type_name("N")
        ->check(CLI::Range(1, 10'000).description(""));
    add_duration(*app, "--hold", hold_, "priority: how long background work holds [5ms]");
    add_duration(*app, "--duration", duration_, "How long each lock runs in a round [200ms]");
    count(*app, "--rounds", options_.rounds, "Rounds, of which the median is taken [3]", 1000);
    app->footer(
        "The namespace (chroot) must be empty; it is left as it was found.\n"
        "Example: forelock bench uncontended --zookeeper zk1:2181/forelock-bench");
    return app;
  }

  int run(const Context& context) override {
    if (options_.workloads.empty()) options_.workloads = bench_workloads();
    options_.hold = hold_.value_or(options_.hold);
    options_.duration = std::max(std::chrono::milliseconds(1), duration_.value_or(options_.duration));
    const Settings settings = context.globals.settings();
    SignalQueue signals({SIGINT, SIGTERM, SIGHUP});
    std::optional<BenchTeam> team;  // before any thread
    if (wanted("contended")) team.emplace(options_.processes, settings);

    std::stop_source stop;
    Task<Rows> running([&] { return measure(context, settings, team ? &*team : nullptr, stop.get_token()); });
    std::optional<int> ended_by;
    while (!running.done()) {
      const auto signal = signals.wait(running.wake_up(), std::chrono::steady_clock::time_point::max());
      if (!signal) continue;
      ended_by = signal;
      stop.request_stop();
    }
    const Rows rows = running.result();
    if (ended_by) return exit_signalled(*ended_by);
    present(rows, context.console);
    return exit_ok;
  }

 private:
  static void count(CLI::App& app, const std::string& name, std::size_t& target, const std::string& help,
                    std::size_t most) {
    app.add_option(name, target, help)->type_name("N")->check(CLI::Range(std::size_t{1}, most).description(""));
  }

  bool wanted(const std::string& workload) const {
    return std::find(options_.workloads.begin(), options_.workloads.end(), workload) != options_.workloads.end();
  }

  // Leaves the namespace as it was, however it ends.
  Rows measure(const Context& context, const Settings& settings, BenchTeam* team, const std::stop_token& stop) const {
    BenchNamespace where(settings, log_to(context.console));
    Rows rows;
    std::exception_ptr problem;
    try {
      BenchRun run(options_, settings, where, team, log_to(context.console), stop);
      for (const std::string& workload : bench_workloads()) {
        if (!wanted(workload) || stop.stop_requested()) continue;
        context.console.note("measuring: " + workload);
        for (BenchRow& row : run.run(workload)) rows.push_back(std::move(row));
        where.clean_up();
      }
    } catch (...) {
      problem = std::current_exception();
    }
    if (team != nullptr) team->end();
    try {
      where.leave();
    } catch (...) {
      if (!problem) problem = std::current_exception();
    }
    if (problem && !stop.stop_requested()) std::rethrow_exception(problem);
    return rows;
  }

  void present(const Rows& rows, const Console& console) const {
    if (console.format() == Format::ndjson) {
      for (const BenchRow& row : rows) console.write_json(json_of(row));
      return;
    }
    if (console.format() == Format::json) {
      Json results = Json::array();
      for (const BenchRow& row : rows) results.push_back(json_of(row));
      console.write_json(
          {{"rounds", options_.rounds}, {"duration_ms", options_.duration.count()}, {"results", std::move(results)}});
      return;
    }
    TextTable table({{"WORKLOAD"},
                     {"WHAT"},
                     {"FORELOCK", true},
                     {"LOWEST", true},
                     {"HIGHEST", true},
                     {"RAW", true},
                     {"RATIO", true},
                     {"UNIT"},
                     {"REQUESTS", true}});
    for (const BenchRow& row : rows) {
      const bool floor = !row.raw.empty();
      table.add({{row.workload},
                 {row.what},
                 {number(BenchRow::median(row.forelock))},
                 {number(lowest(row))},
                 {number(highest(row))},
                 {floor ? number(BenchRow::median(row.raw)) : ""},
                 {floor ? number(row.ratio()) : ""},
                 {row.unit},
                 {row.requests.empty() ? "" : number(BenchRow::median(row.requests))}});
    }
    console.write(table.str(console));
    console.note("raw: the same transactions by the bare C client, without waiting; requests: of ours, for a section");
  }

  BenchOptions options_;
  std::optional<std::chrono::milliseconds> hold_;
  std::optional<std::chrono::milliseconds> duration_;
};

}  // namespace

std::unique_ptr<Command> make_bench_command() {
  return std::make_unique<BenchCommand>();
}

}  // namespace forelock::cli
