// Clients that contend for a long time, and nobody dies: contention_run --seconds N --directory D.
//
// Three servers with the limits that users have, four clients in processes of their own, a few monitors; leaders are
// elected in between, and all servers are restarted in the end. What is wrong goes to the standard error, the counts to
// the standard output, one line of JSON. Exit 1 if anything is wrong. README.md says what is judged.
#include "robustness/contention/contender_process.h"
#include "robustness/contention/contention_verdict.h"
#include "robustness/runner/process_use.h"
#include "robustness/worker/patience.h"
#include "support/test_ensemble.h"
#include "support/wait_until.h"

namespace forelock::robustness {
namespace {

using namespace std::chrono_literals;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr std::size_t clients = 4;
// An election must not end it.
constexpr seconds session_timeout{15};
constexpr seconds longest_between_elections{300};
constexpr std::size_t samples_wanted = 60;
// How long foreground work alone presses on a monitor, so that background work is served only as it ages.
constexpr auto background_max_wait = 1s;
constexpr seconds shortest_crowd{12};
// They start in some seconds; on a machine that is very busy besides, in some minutes.
constexpr seconds start_patience{300};
constexpr seconds probe_patience{60};
// Watches that are taken back are gone soon after.
constexpr auto settling = 2s;

struct Options {
  seconds length{1800};
  std::filesystem::path directory;
};

test::ServerOptions servers_of_users() {
  test::ServerOptions options;
  options.tick_time = 2000ms;
  options.container_check = 60s;
  return options;
}

class Soak {
 public:
  explicit Soak(const Options& options) : options_(options), servers_(servers_of_users()) {
    for (std::size_t i = 0; i < clients; ++i) {
      contenders_.push_back(std::make_unique<ContenderProcess>(
          std::vector<std::string>{"zookeeper.servers=" + servers_.connect_string() + "/contention",
                                   "zookeeper.session.timeout=" + std::to_string(session_timeout / 1ms),
                                   "zookeeper.background.max.wait=" + std::to_string(background_max_wait / 1ms),
                                   "zookeeper.lock.watch=" + std::string(i % 2 == 0 ? "parent" : "predecessor")},
          options.directory / ("client-" + std::to_string(i + 1) + ".log")));
    }
    for (const auto& state : ask_all("state")) sessions_.push_back(state ? state->at("session") : 0);
  }

  ContentionVerdict run() {
    ask_all("work");
    contend();
    crowd();
    rest();
    restart();
    const ContentionVerdict verdict = judge_contention(samples_, end_);
    std::cout << verdict.json(end_) << std::endl;
    return verdict;
  }

 private:
  using State = std::optional<ContenderProcess::State>;

  std::vector<State> ask_all(std::string_view order) {
    for (const auto& each : contenders_) each->tell(order);
    std::vector<State> states;
    for (const auto& each : contenders_) states.push_back(each->answer());
    return states;
  }

  void contend() {
    const auto begun = steady_clock::now();
    const auto interval = std::max<steady_clock::duration>(options_.length / samples_wanted, 500ms);
    auto elections = options_.length / longest_between_elections + 1;
    const auto between_elections = options_.length / (elections + 1);
    auto next_sample = begun + interval;
    auto next_election = begun + between_elections;
    while (steady_clock::now() < begun + options_.length) {
      pause({}, std::min(next_sample, next_election) - steady_clock::now());
      if (steady_clock::now() >= next_election) {
        elect();
        next_election = --elections > 0 ? next_election + between_elections : steady_clock::time_point::max();
      }
      if (steady_clock::now() < next_sample) continue;
      next_sample += interval;
      sample(std::chrono::duration<double>(steady_clock::now() - begun).count());
    }
  }

  // Every client that was connected there connects again.
  void elect() {
    const std::size_t leader = servers_.leader();
    if (leader == test::TestEnsemble::size) throw std::runtime_error("the servers have no leader");
    servers_.server(leader).restart(false);
    await_servers();
    std::cerr << "a leader was restarted" << std::endl;
  }

  void await_servers() {
    if (servers_.wait_until_serving(start_patience)) return;
    std::string logs;
    for (std::size_t i = 0; i < test::TestEnsemble::size; ++i) logs += servers_.server(i).log_tail();
    throw std::runtime_error("the servers do not start again:\n" + logs);
  }

  // All servers together; nothing while one does not serve.
  std::optional<std::pair<std::int64_t, std::int64_t>> watches_and_nodes() {
    std::int64_t watches = 0;
    std::int64_t nodes = 0;
    for (std::size_t i = 0; i < test::TestEnsemble::size; ++i) {
      const std::int64_t here = servers_.server(i).counter("zk_watch_count");
      if (here < 0) return std::nullopt;
      watches += here;
      nodes = std::max(nodes, servers_.server(i).counter("zk_znode_count"));
    }
    return std::pair(watches, nodes);
  }

  void sample(double time) {
    const auto counted = watches_and_nodes();
    if (!counted) return;
    ContentionSample sample{time, counted->first, counted->second, {}};
    const auto states = ask_all("state");
    for (std::size_t i = 0; i < clients; ++i) {
      const auto use = use_of(contenders_[i]->id());
      if (!states[i] || !use) throw std::runtime_error("a client has ended");
      sample.clients.push_back(*states[i]);
      sample.clients.back()["memory_kib"] = use->memory_kib;
      sample.clients.back()["descriptors"] = use->descriptors;
    }
    samples_.push_back(std::move(sample));
    report(samples_.back());
  }

  static void report(const ContentionSample& sample) {
    std::cerr << static_cast<int>(sample.seconds) << " s: " << sample.watches << " watches, " << sample.nodes
              << " nodes; by client: sections, requests, KiB, descriptors:";
    for (const auto& each : sample.clients) {
      std::cerr << " " << each.at("sections") << "," << each.at("requests") << "," << each.at("memory_kib") << ","
                << each.at("descriptors");
    }
    std::cerr << std::endl;
  }

  void crowd() {
    ask_all("rest");
    ask_all("crowd");
    pause({}, std::max(shortest_crowd, options_.length / 20));
  }

  void rest() {
    const auto states = ask_all("rest");
    pause({}, settling);
    const auto counted = watches_and_nodes();
    if (!counted) throw std::runtime_error("a server does not serve");
    std::tie(end_.idle_watches, end_.idle_nodes) = *counted;
    for (const State& state : states) {
      end_.clients.emplace_back();
      if (!state) continue;
      end_.clients.back().contenders = state->at("contenders");
      end_.clients.back().disconnections = -state->at("disconnections");
      end_.clients.back().aged = state->at("aged");
      end_.clients.back().longest_wait_ms = state->at("longest_wait_ms");
    }
  }

  // What has piled up on the side of the clients shows now: they register all their watches anew.
  void restart() {
    for (std::size_t i = 0; i < test::TestEnsemble::size; ++i) servers_.server(i).kill();
    for (std::size_t i = 0; i < test::TestEnsemble::size; ++i) servers_.server(i).restart(false);
    await_servers();
    std::vector<State> states;
    test::wait_until(
        [&] {
          states = ask_all("probe");
          return std::all_of(states.begin(), states.end(),
                             [](const State& each) { return each && each->at("probed"); });
        },
        probe_patience);
    for (std::size_t i = 0; i < clients; ++i) {
      if (!states[i]) continue;
      ContenderEnd& end = end_.clients[i];
      end.answered = true;
      end.locks_again = states[i]->at("probed") != 0;
      end.same_session = states[i]->at("session") == sessions_[i] && states[i]->at("expired") == 0;
      end.disconnections += states[i]->at("disconnections");
    }
  }

  const Options options_;
  test::TestEnsemble servers_;
  std::vector<std::unique_ptr<ContenderProcess>> contenders_;
  std::vector<std::int64_t> sessions_;
  std::vector<ContentionSample> samples_;
  ContentionEnd end_;
};

Options parse(int count, char** arguments) {
  Options options;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string name = arguments[i];
    if (name == "--seconds") options.length = seconds(std::stoi(arguments[i + 1]));
    if (name == "--directory") options.directory = std::filesystem::absolute(arguments[i + 1]);
  }
  if (count % 2 == 0 || options.directory.empty()) {
    throw std::runtime_error("contention_run --seconds N --directory D");
  }
  std::filesystem::create_directories(options.directory);
  return options;
}

}  // namespace
}  // namespace forelock::robustness

int main(int count, char** arguments) {
  using namespace forelock::robustness;
  try {
    const ContentionVerdict verdict = Soak(parse(count, arguments)).run();
    for (const std::string& each : verdict.violations) std::cerr << "violation: " << each << "\n";
    return verdict.violations.empty() ? 0 : 1;
  } catch (const std::exception& problem) {
    std::cerr << "contention_run: " << problem.what() << std::endl;
    return 64;
  }
}
