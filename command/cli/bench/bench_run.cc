#include "cli/bench/bench_run.h"

#include <algorithm>
#include <condition_variable>
#include <fstream>
#include <functional>
#include <limits>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "cli/connection.h"
#include "cli/exit_code.h"
#include "cli/failure.h"
#include "cli/process/task.h"
#include "forelock/async_write_lock.h"
#include "forelock/blocking_write_lock.h"
#include "forelock/inspector.h"
#include "workload/async_load.h"
#include "workload/bench_lock.h"
#include "workload/raw_load.h"
#include "workload/thread_load.h"

namespace forelock::cli {
namespace {

using workload::Clock;
using workload::Job;
using workload::JobResult;
using workload::Section;

constexpr std::size_t waiters_in_front_of_one = 100;  // of the workload "priority"
constexpr std::size_t waiters_at_once = 1000;         // of "waiters"
constexpr std::chrono::milliseconds pause_between_arrivals{30};
constexpr std::size_t enough_for_p99 = 100;  // of fewer arrivals it would be the longest
constexpr double arrivals_last = 5;          // so many times as long as other jobs: there are few of them

double micros(Clock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

double quantile(std::vector<double> values, double part) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[std::min(values.size() - 1, static_cast<std::size_t>(part * static_cast<double>(values.size())))];
}

double median_of(const JobResult& result, Clock::duration Section::*time) {
  std::vector<double> times;
  for (const Section& section : result.sections) times.push_back(micros(section.*time));
  return BenchRow::median(std::move(times));
}

double rate(const JobResult& result) {
  return result.seconds > 0 ? static_cast<double>(result.sections.size()) / result.seconds : 0;
}

// Memory of this process, in KiB.
double resident_kb() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::stod(line.substr(6));
  }
  return 0;
}

Settings patient(Settings settings) {
  settings.set(
      {{"zookeeper.foregound.task.timeout", "60000", "bench"}, {"zookeeper.backgound.task.timeout", "60000", "bench"}});
  return settings;
}

// Tells a load to end when its scope does, however that comes.
class EndOf {
 public:
  explicit EndOf(std::stop_source& source) : source_(source) {}
  ~EndOf() { source_.request_stop(); }
  EndOf(const EndOf&) = delete;
  EndOf& operator=(const EndOf&) = delete;

 private:
  std::stop_source& source_;
};

// Asynchronous locks of one monitor, each of which releases as soon as it holds.
class Line {
 public:
  Line(Client& client, const std::string& monitor, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      locks_.push_back(std::make_unique<AsyncWriteLock>(client, "bench", monitor));
    }
  }

  void join() {
    left_ = locks_.size();
    for (const auto& lock : locks_) {
      lock->acquire([this, &lock = *lock](std::exception_ptr error) {
        if (!error) {
          lock.release([this](std::exception_ptr) { leave(); });
        } else {
          leave();
        }
      });
    }
  }
  void cancel() {
    for (const auto& lock : locks_) lock->cancel();
  }
  void wait_until_empty() {
    std::unique_lock guard(mutex_);
    changed_.wait(guard, [this] { return left_ == 0; });
  }

 private:
  void leave() {
    const std::lock_guard guard(mutex_);
    --left_;
    changed_.notify_one();
  }

  std::vector<std::unique_ptr<AsyncWriteLock>> locks_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t left_ = 0;
};

}  // namespace

double BenchRow::median(std::vector<double> values) {
  return quantile(std::move(values), 0.5);
}

double BenchRow::ratio() const {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < forelock.size(); ++i) {
    if (raw[i] > 0) ratios.push_back(forelock[i] / raw[i]);
  }
  return median(std::move(ratios));
}

const std::vector<std::string>& bench_workloads() {
  static const std::vector<std::string> names = {"uncontended", "contended", "independent", "priority", "waiters"};
  return names;
}

BenchRun::BenchRun(const BenchOptions& options, const Settings& settings, BenchNamespace& where, BenchTeam* team,
                   const LogSink& log, std::stop_token stop)
    : options_(options),
      where_(where),
      team_(team),
      stop_(std::move(stop)),
      client_(patient(settings), log),
      second_(patient(settings), log),
      when_stopped_(stop_, [this] {
        client_.close();
        second_.close();
        if (team_ != nullptr) team_->stop();
      }) {
  for (Client* client : {&client_, &second_}) {
    if (!client->wait_connected(patience(settings))) {
      throw FailureException({exit_unavailable,
                              std::string(name_of(ErrorCode::connection_loss)),
                              client->last_problem(),
                              "forelock doctor",
                              {},
                              true,
                              {}});
    }
  }
  const bool tls = !settings.tls().ca_file.empty();
  if (tls || settings.sasl().mechanism != SaslSettings::Mechanism::none) {
    throw FailureException(
        {exit_configuration,
         std::string(name_of(ErrorCode::configuration)),
         std::string("the floor of the measurements, the bare ZooKeeper client, speaks no ") + (tls ? "TLS" : "SASL"),
         tls ? "measure at a port without it" : "measure at a server that wants none",
         {},
         false,
         {}});
  }
  raw_ = std::make_unique<workload::RawLoad>(BenchNamespace::connect_string(settings, settings.chroot()),
                                             workload::RawKind::transactions, settings.load_digest());
}

BenchRun::~BenchRun() = default;

std::vector<BenchRow> BenchRun::run(const std::string& workload) {
  raw_monitor_ = where_.monitor("raw");  // those before may have been removed
  if (workload == "uncontended") return uncontended();
  if (workload == "contended") return contended();
  if (workload == "independent") return independent();
  if (workload == "priority") return priority();
  return waiters();
}

std::vector<BenchRow> BenchRun::uncontended() {
  std::vector<BenchRow> rows;
  for (const bool fresh : {false, true}) {
    BenchRow row{"uncontended", fresh ? "fresh monitors" : "same monitor", "µs a cycle", false, {}};
    const std::string known = where_.monitor("known");
    for (std::size_t round = 0; round <= options_.rounds; ++round) {
      Job job;
      job.fresh = fresh;
      job.seconds = seconds();
      job.monitors = {fresh ? where_.monitor("fresh") : known};
      const auto requests = client_.statistics().requests;
      const JobResult ours = run_threads(job, locks_of(client_, job), stop_);
      const auto sent = static_cast<double>(client_.statistics().requests - requests);
      job.monitors = {fresh ? where_.monitor("fresh") : raw_monitor_};
      const JobResult raw = raw_->run(job, stop_);
      if (round == 0) continue;  // the first one makes connections and nodes warm
      row.forelock.push_back(median_of(ours, &Section::cycle));
      row.raw.push_back(median_of(raw, &Section::cycle));
      row.requests.push_back(sent / std::max(1.0, static_cast<double>(ours.sections.size())));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<BenchRow> BenchRun::contended() {
  BenchRow threads{"contended", std::to_string(options_.threads) + " threads", "sections/s", true, {}};
  BenchRow processes{"contended", std::to_string(team_->size()) + " processes", "sections/s", true, {}};
  Job job;
  job.monitors = {where_.monitor("shared")};
  job.threads = options_.threads;
  job.seconds = seconds();
  const std::string of_team = where_.monitor("team");
  for (std::size_t round = 0; round <= options_.rounds; ++round) {
    const auto requests = client_.statistics().requests;
    const JobResult ours = run_threads(job, locks_of(client_, job), stop_);
    const auto sent = static_cast<double>(client_.statistics().requests - requests);
    const double team = team_->sections_per_second(of_team, seconds());
    Job floor = job;
    floor.monitors = {raw_monitor_};
    const double raw = rate(raw_->run(floor, stop_));
    if (round == 0) continue;
    threads.forelock.push_back(rate(ours));
    threads.requests.push_back(sent / std::max(1.0, static_cast<double>(ours.sections.size())));
    processes.forelock.push_back(team);
    for (BenchRow* row : {&threads, &processes}) row->raw.push_back(raw);
  }
  return {threads, processes};
}

std::vector<BenchRow> BenchRun::independent() {
  std::vector<BenchRow> rows;
  for (const std::size_t count : options_.monitors) {
    BenchRow row{"independent", std::to_string(count) + " monitors", "sections/s", true, {}};
    Job ours;
    Job floor;
    for (std::size_t i = 0; i < count; ++i) {
      ours.monitors.push_back(where_.monitor("many"));
      floor.monitors.push_back(where_.monitor("raw-many"));
    }
    ours.seconds = floor.seconds = seconds();
    ours.async = floor.async = true;
    workload::AsyncLoad load(client_, ours);
    for (std::size_t round = 0; round <= options_.rounds; ++round) {
      const auto requests = client_.statistics().requests;
      const JobResult result = load.run(ours, stop_);
      const auto sent = static_cast<double>(client_.statistics().requests - requests);
      const double raw = rate(raw_->run(floor, stop_));
      if (round == 0) continue;
      row.forelock.push_back(rate(result));
      row.raw.push_back(raw);
      row.requests.push_back(sent / std::max(1.0, static_cast<double>(result.sections.size())));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<BenchRow> BenchRun::priority() {
  const std::size_t queued = options_.waiters.value_or(waiters_in_front_of_one);
  std::vector<std::vector<double>> waits;  // of each round
  std::vector<double> floor;
  for (std::size_t round = 0; round < options_.rounds; ++round) {
    Job bulk;
    bulk.monitors = {where_.monitor("urgent")};
    bulk.threads = queued;
    bulk.sections = std::numeric_limits<std::size_t>::max();  // until it is told to end
    bulk.hold = options_.hold;
    bulk.background = true;
    Job arrivals;
    arrivals.monitors = bulk.monitors;
    arrivals.seconds = seconds() * arrivals_last;
    arrivals.pause = pause_between_arrivals;
    std::stop_source end_of_bulk;
    const std::stop_callback when_stopped(stop_, [&] { end_of_bulk.request_stop(); });
    JobResult urgent;
    {
      std::optional<Task<JobResult>> background;  // first: the others let it end
      BlockingWriteLock gate(client_, "bench", bulk.monitors.front());
      const EndOf end(end_of_bulk);
      gate.lock_with_timeout();
      background.emplace([&] { return run_threads(bulk, locks_of(client_, bulk), end_of_bulk.get_token()); });
      wait_for_line(bulk.monitors.front(), queued, [&] { return background->done() || stop_.stop_requested(); });
      gate.unlock();
      urgent = run_threads(arrivals, locks_of(second_, arrivals), stop_);
      end_of_bulk.request_stop();
      background->result();
    }
    waits.emplace_back();
    for (const Section& section : urgent.sections) waits.back().push_back(micros(section.wait) / 1000);
    // The least that a hand-over between two holders costs is one cycle of the bare client.
    floor.push_back(static_cast<double>(options_.hold.count()) + raw_cycle_us() / 1000);
  }
  const bool many =
      std::all_of(waits.begin(), waits.end(), [](const auto& of_round) { return of_round.size() >= enough_for_p99; });
  const std::string behind = "foreground behind " + std::to_string(queued) + ", ";
  BenchRow usual{"priority", behind + "median", "ms", false, {}, floor};
  BenchRow slow{"priority", behind + (many ? "p99" : "longest"), "ms", false, {}, floor};
  for (const auto& of_round : waits) {
    usual.forelock.push_back(quantile(of_round, 0.5));
    slow.forelock.push_back(quantile(of_round, many ? 0.99 : 1));
  }
  return {usual, slow};
}

void BenchRun::wait_for_line(const std::string& monitor, std::size_t length, const std::function<bool()>& in_vain) {
  Inspector inspector(second_, std::chrono::minutes(1));
  while (!in_vain()) {
    const auto view = inspector.show(monitor);
    if (view && view->queue.size() >= length) return;
  }
}

std::vector<BenchRow> BenchRun::waiters() {
  const std::size_t count = options_.waiters.value_or(waiters_at_once);
  const std::string many = std::to_string(count) + " waiters, ";
  BenchRow hand_over{"waiters", many + "hand-over", "µs", false, {}};
  BenchRow memory{"waiters", many + "memory of one", "KiB", false, {}};
  BenchRow cancel{"waiters", many + "cancelled", "ms", false, {}};
  for (std::size_t round = 0; round < options_.rounds; ++round) {
    const std::string monitor = where_.monitor("line");
    BlockingWriteLock gate(client_, "bench", monitor);
    gate.lock_with_timeout();
    const double before = resident_kb();
    Line line(client_, monitor, count);
    line.join();
    Inspector(client_, std::chrono::minutes(1)).show(monitor);  // answered when all are in the queue
    memory.forelock.push_back((resident_kb() - before) / static_cast<double>(count));
    const auto requests = client_.statistics().requests;
    const auto begin = Clock::now();
    gate.unlock_async();
    line.wait_until_empty();
    hand_over.forelock.push_back(micros(Clock::now() - begin) / static_cast<double>(count));
    hand_over.requests.push_back(static_cast<double>(client_.statistics().requests - requests) /
                                 static_cast<double>(count));
    hand_over.raw.push_back(raw_cycle_us());

    gate.lock_with_timeout();
    line.join();
    Inspector(client_, std::chrono::minutes(1)).show(monitor);
    const auto withdrawn = Clock::now();
    line.cancel();
    line.wait_until_empty();
    cancel.forelock.push_back(micros(Clock::now() - withdrawn) / 1000);
    gate.unlock();
  }
  return {hand_over, memory, cancel};
}

double BenchRun::raw_cycle_us() {
  Job job;
  job.monitors = {raw_monitor_};
  job.seconds = seconds();
  return median_of(raw_->run(job, stop_), &Section::cycle);
}

}  // namespace forelock::cli
