#include "robustness/runner/depositions.h"

#include "records/session_text.h"
#include "robustness/worker/patience.h"
#include "support/wait_until.h"

namespace forelock::robustness {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

constexpr auto cast_patience = 3s;
// A client that has been cut connects again, and finds out what has become of its lock.
constexpr auto placing_patience = 4s;
constexpr auto settling = 300ms;
constexpr auto look_after_deposition = 10ms;
// From the tests' servers: syncLimit ticks without a word, and a server gives its quorum up.
constexpr milliseconds quorum_patience{5000};
constexpr auto longest = 20s;

bool serves(const Cluster& cluster, std::size_t index, const ClientProcess& client) {
  if (cluster.encrypted()) return cluster.session_of(index, client.wires().near_ports(index)) != 0;
  const auto connections = cluster.server(index).four_letter("cons");
  const std::int64_t session = client.wires().watch().session();
  return connections && session != 0 &&
         connections->find("sid=" + records::session_text(session) + ",") != std::string::npos;
}

}  // namespace

Depositions::Depositions(Cluster& cluster, const RecordedResource& resource, HistoryWriter& history, Pair pair)
    : cluster_(cluster), resource_(resource), history_(history), pair_(std::move(pair)) {}

void Depositions::depose_leader(Strike& strike) {
  const std::size_t leader = cluster_.leader();
  if (leader == Cluster::size) return strike.skip("no leader at that moment");
  play(strike, leader, [&](bool on) { cluster_.half_cut_links(leader, on); });
}

void Depositions::silence_leader(Strike& strike) {
  const std::size_t leader = cluster_.leader();
  if (leader == Cluster::size) return strike.skip("no leader at that moment");
  play(strike, leader, [&](bool on) {
    for (std::size_t other = 0; other < Cluster::size; ++other) {
      if (other != leader) cluster_.stall_link(leader, other, on);
    }
  });
}

void Depositions::forget_follower(Strike& strike) {
  const std::size_t leader = cluster_.leader();
  if (leader == Cluster::size) return strike.skip("no leader at that moment");
  const auto steps = static_cast<std::size_t>(strike.between(1, static_cast<int>(Cluster::size) - 1));
  const std::size_t follower = (leader + steps) % Cluster::size;
  play(strike, follower, [&](bool on) { cluster_.half_cut_links(follower, on); });
}

template <typename Break>
void Depositions::play(Strike& strike, std::size_t server, Break&& break_links) {
  if (!cluster_.links_can_be_hurt()) return strike.skip("the servers' links have no proxies in this run");
  const auto cast = find_cast();
  if (!cast) return strike.skip("none of the pair holds");
  const bool placed = place(strike, server, *cast);
  if (placed) {
    // At any moment of the connection's rhythm.
    pause(strike.stop(), milliseconds(strike.between(0, 1200)));
    strike.begin(Cluster::name(server), cast->visit.process + " holds there");
    history_.event("deposed")
        .add("client", cast->visit.process)
        .add("call", cast->visit.call)
        .add("monitor", pair_.monitor);
    break_links(true);
    let_pass(strike, *cast);
    break_links(false);
  } else {
    strike.skip("the holder does not come to that server with its lock");
  }
  cast->holder->wires().only(std::nullopt);
  cast->waiter->wires().all_but(std::nullopt);
}

std::optional<Depositions::Cast> Depositions::find_cast() const {
  std::optional<Visit> visit;
  if (!test::wait_until([&] { return (visit = resource_.inside(pair_.monitor)).has_value(); }, cast_patience))
    return {};
  Cast cast{*visit, pair_.clients.at(0), pair_.clients.at(1)};
  if (cast.waiter->process() == visit->process) std::swap(cast.holder, cast.waiter);
  return cast;
}

bool Depositions::place(const Strike& strike, std::size_t server, const Cast& cast) const {
  cast.holder->wires().only(server);
  cast.waiter->wires().all_but(server);
  for (ClientProcess* each : pair_.clients) each->wires().cut();
  pause(strike.stop(), settling);  // what was cut is off the servers' lists
  const bool connected = test::wait_until([&] { return serves(cluster_, server, *cast.holder); }, placing_patience);
  pause(strike.stop(), settling);
  return connected && holds(cast.visit) && !strike.stop().stop_requested();
}

bool Depositions::holds(const Visit& visit) const {
  const auto inside = resource_.inside(pair_.monitor);
  return inside && inside->process == visit.process && inside->call == visit.call;
}

// The server believes in its quorum for as long as it may; some time is left for what comes after that. On a busy
// machine an election takes longer: then until the other one has the lock, or it is hopeless. In half of the cases the
// holder connects to that server again and again, which answers like a healthy one.
void Depositions::let_pass(Strike& strike, const Cast& cast) const {
  const auto begun = steady_clock::now();
  const auto enough = begun + quorum_patience + milliseconds(strike.between(-1000, 3000));
  const bool reconnecting = strike.chance(0.5);
  auto next_cut = reconnecting ? begun : steady_clock::time_point::max();
  bool passed_on = false;
  while (!strike.stop().stop_requested()) {
    const auto now = steady_clock::now();
    const auto inside = resource_.inside(pair_.monitor);
    passed_on = passed_on || (inside && inside->process == cast.waiter->process());
    if (now > enough && (passed_on || now > begun + longest)) return;
    if (now > next_cut) {
      next_cut = now + milliseconds(strike.between(300, 1200));
      cast.holder->wires().cut();
    }
    pause(strike.stop(), look_after_deposition);
  }
}

}  // namespace forelock::robustness
