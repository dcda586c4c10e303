#include "robustness/runner/stall_rounds.h"

#include "robustness/worker/patience.h"

namespace forelock::robustness {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using std::chrono::steady_clock;
using Direction = test::TcpProxy::Direction;

namespace {

constexpr const char* kind = "holder_stalled";
constexpr auto look_again = 5ms;
constexpr auto longest_round = 15s;
// While the server hears the client it keeps the session: nobody else comes in before the network is well again.
constexpr auto after_leaving = 1500ms;

struct Silence {
  const char* name;
  std::vector<Direction> directions;
};

const std::vector<Silence>& silences() {
  static const std::vector<Silence> all = {{"both", {Direction::to_server, Direction::to_client}},
                                           {"to_server", {Direction::to_server}},
                                           {"to_client", {Direction::to_client}}};
  return all;
}

}  // namespace

StallRounds::StallRounds(std::string monitor, std::vector<ClientProcess*> pair, RecordedResource& resource,
                         HistoryWriter& history, FaultLog& log, std::uint64_t seed)
    : monitor_(std::move(monitor)),
      pair_(std::move(pair)),
      resource_(resource),
      history_(history),
      log_(log),
      random_(seed),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

void StallRounds::stop() {
  thread_.request_stop();
  thread_.join();
}

void StallRounds::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    pause(stop, look_again);
    const auto holder = resource_.inside(monitor_);
    if (!holder) continue;
    // At any moment of the connection's rhythm, and when the other one surely waits.
    pause(stop, milliseconds(std::uniform_int_distribution(150, 1200)(random_)));
    const auto still = resource_.inside(monitor_);
    if (!still || still->process != holder->process || still->call != holder->call || stop.stop_requested()) continue;
    for (ClientProcess* client : pair_) {
      if (client->process() == holder->process) play(stop, *holder, *client);
    }
  }
}

void StallRounds::play(const std::stop_token& stop, const Visit& holder, ClientProcess& client) {
  // Mostly both: the other ones last longer and say less.
  const auto choice = static_cast<std::size_t>(std::discrete_distribution<int>({4, 2, 1})(random_));
  const Silence& silence = silences()[choice];
  const auto number = log_.begin(kind, holder.process, silence.name);
  history_.event("stalled")
      .add("client", holder.process)
      .add("call", holder.call)
      .add("monitor", monitor_)
      .add("direction", silence.name);
  for (const Direction each : silence.directions) client.wires().stall(each, true);
  await_end(stop, holder);
  for (const Direction each : silence.directions) client.wires().stall(each, false);
  log_.end(number, kind);
}

void StallRounds::await_end(const std::stop_token& stop, const Visit& holder) const {
  const auto begun = steady_clock::now();
  auto left = steady_clock::time_point::max();
  while (!stop.stop_requested()) {
    pause(stop, look_again);
    const auto now = steady_clock::now();
    const auto inside = resource_.inside(monitor_);
    if (inside && inside->process != holder.process) return;
    if (!inside) left = std::min(left, now);
    if (now - begun > longest_round || (left < now && now - left > after_leaving)) return;
  }
}

}  // namespace forelock::robustness
