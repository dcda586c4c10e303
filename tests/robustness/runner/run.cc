#include "robustness/runner/run.h"

#include "robustness/runner/census.h"
#include "robustness/worker/patience.h"
#include "support/wait_until.h"

namespace forelock::robustness {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

namespace {

constexpr const char* chroot = "/robustness";
// Of the pairs of the stall rounds. Below two ticks of the servers nothing is promised.
constexpr int stall_session_timeouts_ms[] = {1500, 2500};
// Shorter than a server that has lost its quorum takes to notice, as with the defaults of both.
constexpr int divided_session_timeout_ms = 2000;
constexpr milliseconds stall_hold{8000};
// Hardly ever ends while its server is left alone.
constexpr milliseconds divided_hold{40'000};
constexpr const char* divided_monitor = "divided";
constexpr seconds start_patience{180};
constexpr seconds end_patience{90};
// ZooKeeper 3.8.0 can lose what it has confirmed if a leader dies just after a follower has joined, before that has
// written down what it was given (ZOOKEEPER-4646, -4785). This is not what these runs are about.
constexpr milliseconds rest_of_servers{4000};
// Some session time-outs.
constexpr seconds session_patience{40};
// How long a client that was killed may still have nodes: the longest session time-out, that of the literal clients
// (6 s), and some ticks of the servers. With more, who cleans up long after its call has ended would pass, too.
constexpr seconds killed_session_life{9};
// Some thousands of sections, of which some hundred are overdue.
constexpr seconds long_enough_to_free{60};

std::filesystem::path made(const std::filesystem::path& directory) {
  std::filesystem::create_directories(directory);
  return directory;
}

// Not in every run: both cost speed.
Cluster::Options cluster_options(const RunOptions& options) {
  return {.force_sync = options.seed % 4 == 3,
          .proxied_links = options.seed % 3 != 0,
          .tls = options.tls,
          .sasl = options.sasl,
          .server_names = server_names()};
}

}  // namespace

Run::Run(const RunOptions& options)
    : options_(options),
      history_(made(options.directory), "runner", "runner"),
      log_(history_),
      unlocks_(options.directory / "audit.jsonl", log_, excuses_),
      cluster_(cluster_options(options), options.directory),
      administrator_(cluster_.connect_string()),
      resource_(sockets_.path() / "resource", options.directory, excuses_),
      letters_(options.directory / "letters" / "outbox.db"),
      scene_{history_, excuses_, cluster_, administrator_, resource_, {}, shared_monitors(), chroot, options.spared,
             {},       {},       {}} {
  excuses_.ask_first([this] { unlocks_.read(); });
  const auto visited = visited_monitors();
  scene_.monitors.insert(scene_.monitors.end(), visited.begin(), visited.end());
  scene_.sweep = {FORELOCK_COMMAND};
  for (const std::string& setting : cluster_.direct_settings(chroot)) {
    scene_.sweep.insert(scene_.sweep.end(), {"--set", setting});
  }
  scene_.sweep.emplace_back("sweep");
  scene_.sweep_log = options.directory / "sweep.log";
  history_.event("run")
      .add("seed", options.seed)
      .add("seconds", options.seconds.count())
      .add("force_sync", cluster_options(options).force_sync)
      .add("proxied_links", cluster_options(options).proxied_links)
      .add("tls", options.tls)
      .add("sasl", options.sasl);
  if (!administrator_.create(chroot, "")) throw std::runtime_error("the servers take no write");
}

Run::~Run() = default;

std::vector<ClientProcess*> Run::everybody() {
  std::vector<ClientProcess*> all;
  for (const auto& each : scene_.clients) all.push_back(each.get());
  for (const auto& pair : pairs_) {
    for (const auto& each : pair) all.push_back(each.get());
  }
  for (const auto& each : divided_) all.push_back(each.get());
  return all;
}

std::vector<std::string> Run::play() {
  start_clients();
  if (!options_.no_faults) start_faults();
  let_pass();
  heal();
  end_traffic();
  end_clients();
  return problems_;
}

void Run::start_clients() {
  const CastOptions cast{options_.seed,      chroot,           options_.mutation,   options_.directory,
                         resource_.socket(), cluster_.ports(), letters_.settings(), cluster_.security_settings()};
  const ClientProcess::Place place{options_.directory, history_, excuses_, options_.tls};
  scene_.clients = make_clients(cast, place);
  for (const int timeout : stall_session_timeouts_ms) {
    pairs_.push_back(make_stall_pair(cast, place, "stall-" + std::to_string(timeout), timeout, stall_hold));
  }
  divided_ = make_stall_pair(cast, place, divided_monitor, divided_session_timeout_ms, divided_hold);
  scene_.divided = {divided_monitor, {divided_[0].get(), divided_[1].get()}};
  for (ClientProcess* each : everybody()) each->start();
  if (!test::wait_until([&] { return resource_.accepted() > 100; }, start_patience)) {
    problems_.emplace_back("no traffic");
  }
}

void Run::start_faults() {
  for (const auto& pair : pairs_) {
    if (!options_.faults.empty() && !options_.faults.contains("holder_stalled")) break;
    const std::string& slot = pair[0]->slot();
    stall_rounds_.push_back(std::make_unique<StallRounds>(
        slot.substr(0, slot.size() - 1), std::vector<ClientProcess*>{pair[0].get(), pair[1].get()}, resource_, history_,
        log_, options_.seed + stall_rounds_.size()));
  }
  const auto add = [&](const char* name, milliseconds interval, bool one_at_a_time, std::vector<FaultKind> kinds,
                       milliseconds rest = 0ms) {
    if (!options_.faults.empty()) {
      std::erase_if(kinds, [&](const FaultKind& kind) { return !options_.faults.contains(kind.name); });
    }
    if (kinds.empty()) return;
    LaneOptions lane;
    lane.name = name;
    lane.seed = options_.seed * 100 + lanes_.size();
    lane.mean_interval = std::chrono::duration_cast<milliseconds>(interval / options_.rate);
    lane.one_at_a_time = one_at_a_time;
    lane.rest = rest;
    lanes_.push_back(std::make_unique<FaultLane>(lane, std::move(kinds), log_));
  };
  add("network", 250ms, false, network_faults(scene_));
  add("clients", 1500ms, false, client_faults(scene_));
  add("administrator", 700ms, false, administrator_faults(scene_));
  add("servers", 3000ms, true, server_faults(scene_), rest_of_servers);
  add("letters", 4000ms, true, letter_faults(letters_));
}

void Run::let_pass() {
  begun_ = steady_clock::now();
  const auto until = begun_ + options_.seconds;
  auto next_report = begun_ + 10s;
  auto next_sample = begun_;
  while (steady_clock::now() < until) {
    pause({}, 200ms);
    check_for_crashes();
    unlocks_.read();
    if (!problems_.empty()) return;
    if (steady_clock::now() >= next_sample) {
      next_sample += options_.sample_interval;
      record_use(cluster_, everybody(), history_);
    }
    if (steady_clock::now() < next_report) continue;
    next_report += 10s;
    report(std::chrono::duration_cast<seconds>(steady_clock::now() - begun_));
  }
}

void Run::report(seconds passed) {
  std::uint64_t faults = 0;
  for (const auto& [kind, count] : log_.counts()) faults += count;
  std::cerr << passed.count() << " s: " << resource_.accepted() << " accesses, " << faults << " faults, "
            << resource_.overlaps() << " overlaps" << std::endl;
}

void Run::check_for_crashes() {
  for (ClientProcess* each : everybody()) {
    const auto crash = each->crash();
    if (!crash) continue;
    problems_.push_back(*crash);
    history_.event("process_ended").add("target", each->process());
  }
}

void Run::heal() {
  // All first: one may need what another has broken.
  for (const auto& lane : lanes_) lane->stop();
  for (const auto& lane : lanes_) lane->calm_down();
  for (const auto& rounds : stall_rounds_) rounds->stop();
  if (!cluster_.heal(start_patience)) problems_.emplace_back("the servers do not start again");
  if (!letters_.heal(start_patience)) problems_.emplace_back("the broker does not start again");
  for (ClientProcess* each : everybody()) {
    if (!each->running()) each->start();
  }
  const auto before = resource_.accepted();
  if (!test::wait_until([&] { return resource_.accepted() > before + 100; }, start_patience)) {
    problems_.emplace_back("no progress after all faults were over");
  }
  for (const auto& each : scene_.clients) {
    if (each->kind() == "unlocker") continue;
    if (!test::wait_until([&] { return resource_.has_met(each->slot()); }, start_patience)) {
      problems_.push_back(each->slot() + " has never been inside");
    }
  }
}

// Every call ends; then nothing of any contender may be left, although the sessions live. Those of clients that were
// killed in the last seconds do, too, for a moment.
void Run::end_traffic() {
  for (ClientProcess* each : everybody()) each->terminate();
  for (ClientProcess* each : everybody()) {
    const auto done = [&] { return each->quiet() || !each->running(); };
    if (test::wait_until(done, end_patience) && each->quiet()) continue;
    history_.event("hung").add("target", each->process());
    problems_.push_back(each->process() + " does not come to an end");
  }
  test::wait_until([this] { return nothing_remains(administrator_, chroot); }, killed_session_life);
  if (record_remaining(administrator_, chroot, "open", history_) != 0) {
    problems_.emplace_back("nodes are left although every call has ended");
  }
}

void Run::end_clients() {
  for (ClientProcess* each : everybody()) each->terminate();
  for (ClientProcess* each : everybody()) {
    if (!test::wait_until([&] { return !each->running(); }, end_patience)) {
      history_.event("hung").add("target", each->process());
      problems_.push_back(each->process() + " does not end");
      each->kill();
    }
    history_.event("process_ended").add("target", each->process());
  }
  judge_unlocks();
  find_letters();
  await_end_of_sessions();
  if (record_remaining(administrator_, chroot, "gone", history_) != 0) {
    problems_.emplace_back("nodes are left although all sessions are gone");
  }
  administrator_.disconnect();
  for (std::size_t i = 0; i < Cluster::size; ++i) cluster_.server(i).kill();
  logged_ = record_transactions(cluster_, chroot, history_);
}

void Run::judge_unlocks() {
  unlocks_.read();
  unlocks_.finish();
  for (const std::string& problem : unlocks_.problems()) problems_.push_back("audit: " + problem);
  if (has_unlockers(options_.seed) && options_.seconds >= long_enough_to_free && unlocks_.freed() == 0)
    problems_.emplace_back("no overdue holder was freed");
}

void Run::find_letters() {
  try {
    letters_.record_letters(history_);
  } catch (const std::exception& problem) {
    problems_.push_back(std::string("the dead letters cannot be read: ") + problem.what());
  }
}

void Run::await_end_of_sessions() {
  const auto gone = [&] {
    const std::size_t leader = cluster_.leader();
    if (leader == Cluster::size) return false;
    const auto answer = cluster_.server(leader).four_letter("dump");
    // The administrator's alone is left: no ephemeral node at all.
    return answer && answer->find("\t/") == std::string::npos;
  };
  test::wait_until(gone, session_patience);
}

std::string Run::summary() const {
  std::uint64_t faults = 0;
  std::ostringstream kinds;
  for (const auto& [kind, count] : log_.counts()) {
    kinds << (faults == 0 ? "" : ",") << '"' << kind << "\":" << count;
    faults += count;
  }
  std::ostringstream skipped;
  for (const auto& [kind, reasons] : log_.skipped()) {
    for (const auto& [reason, count] : reasons) {
      skipped << (skipped.tellp() == 0 ? "" : ",") << '"' << kind << ": " << reason << "\":" << count;
    }
  }
  const auto time = std::chrono::duration_cast<seconds>(steady_clock::now() - begun_);
  std::ostringstream json;
  json << "{\"seed\":" << options_.seed << ",\"seconds\":" << time.count() << ",\"accesses\":" << resource_.accepted()
       << ",\"overlaps_seen\":" << resource_.overlaps() << ",\"faults\":" << faults << ",\"kinds\":{" << kinds.str()
       << "},\"skipped\":{" << skipped.str() << "},\"transactions\":" << logged_.transactions
       << ",\"dropped_transactions\":" << logged_.dropped << ",\"unlocked\":" << unlocks_.freed()
       << ",\"problems\":" << problems_.size() << "}";
  return json.str();
}

}  // namespace forelock::robustness
