// What can happen to one client's connections.
#include "records/session_text.h"
#include "robustness/runner/scene.h"
#include "support/session_killer.h"

namespace forelock::robustness {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using Direction = test::TcpProxy::Direction;
using Deed = FrameWatch::Deed;

constexpr const char* nobody = "no client runs";

class NetworkFaults {
 public:
  explicit NetworkFaults(Scene& scene) : scene_(scene) {}

  Undo cut(Strike& strike) {
    ClientProcess* client = pick(strike);
    if (client == nullptr) return {};
    const bool refused = strike.chance(0.3);
    strike.begin(client->slot(), refused ? "and refused for a while" : "");
    if (refused) client->wires().refuse(true);
    client->wires().cut();
    if (!refused) return {};
    return [client] { client->wires().refuse(false); };
  }

  Undo stall(Strike& strike, std::vector<Direction> directions) {
    ClientProcess* client = pick(strike);
    if (client == nullptr) return {};
    strike.begin(client->slot());
    for (const Direction each : directions) client->wires().stall(each, true);
    return [client, directions] {
      for (const Direction each : directions) client->wires().stall(each, false);
    };
  }

  // Happens when the client sends such a request the next time.
  Undo trap(Strike& strike, Deed deed) {
    ClientProcess* client = pick(strike);
    if (client == nullptr) return {};
    using Request = FrameWatch::Request;
    static const std::vector<std::pair<Request, const char*>> requests = {
        {Request::claim, "claim"},     {Request::claim, "claim"},     {Request::release, "release"},
        {Request::release, "release"}, {Request::listing, "listing"}, {Request::creation, "creation"}};
    const auto& [request, name] = strike.one_of(requests);
    FrameWatch::Trap trap{request, deed, milliseconds(strike.between(20, 1500)), {}};
    const auto sprung = std::make_shared<std::atomic<bool>>(false);
    const std::string detail = std::string(scene_.cluster.encrypted() ? "request" : name) +
                               (deed == Deed::drop_reply ? "" : " " + std::to_string(trap.delay.count()) + " ms");
    trap.sprung = [client, sprung, detail, &strike] {
      if (!sprung->exchange(true)) strike.begin(client->slot(), detail);
    };
    client->wires().watch().set(std::move(trap));
    return [client, sprung, &strike] {
      client->wires().watch().clear();
      if (!sprung->exchange(true)) strike.skip("no such request came");
    };
  }

  Undo slow(Strike& strike) {
    ClientProcess* client = pick(strike);
    if (client == nullptr) return {};
    const int delay = strike.between(5, 120);
    const int rate = strike.between(4, 64) * 1024;
    strike.begin(client->slot(), std::to_string(delay) + " ms, " + std::to_string(rate) + " bytes/s");
    client->wires().set_delay(milliseconds(delay));
    client->wires().set_rate(static_cast<std::size_t>(rate));
    return [client] {
      client->wires().set_delay(0ms);
      client->wires().set_rate(0);
    };
  }

  Undo fail_names(Strike& strike) {
    ClientProcess* client = pick(strike);
    if (client == nullptr) return {};
    const bool slowly = strike.chance(0.3);
    strike.begin(client->slot(), slowly ? "slowly" : "at once");
    const auto file = client->file(".names");
    std::ofstream(file) << (slowly ? "hang" : "fail") << std::endl;
    client->wires().cut();
    return [file] { std::ofstream(file) << "answer" << std::endl; };
  }

  Undo end_session(Strike& strike) {
    // Of a client that knows no tokens the resource could not tell what comes late.
    ClientProcess* client = scene_.any_client(
        strike, [](const ClientProcess& each) { return each.kind() != "literal" && each.kind() != "cli"; });
    const auto serving = scene_.cluster.serving();
    const std::int64_t session = client == nullptr ? 0 : session_of(*client, serving);
    if (session == 0 || serving.empty()) {
      strike.skip("no session, or no server");
      return {};
    }
    const std::string process = client->process();
    strike.begin(process, records::session_text(session));
    scene_.excuses.session_ending(process);
    const bool ended = test::end_session("127.0.0.1", scene_.cluster.server(strike.one_of(serving)).port(), session);
    if (ended) {
      scene_.history.event("session_expired_at_server")
          .add("session", records::session_text(session))
          .add("client", process);
    }
    client->wires().cut();
    scene_.excuses.session_ended(process);
    return {};
  }

 private:
  // 0 if it has none, or none is to be seen.
  std::int64_t session_of(const ClientProcess& client, const std::vector<std::size_t>& serving) const {
    if (!scene_.cluster.encrypted()) return client.wires().watch().session();
    for (const std::size_t server : serving) {
      const std::int64_t session = scene_.cluster.session_of(server, client.wires().near_ports(server));
      if (session != 0) return session;
    }
    return 0;
  }

  ClientProcess* pick(Strike& strike) const {
    ClientProcess* client = scene_.any_client(strike);
    if (client == nullptr) strike.skip(nobody);
    return client;
  }

  Scene& scene_;
};

}  // namespace

std::vector<FaultKind> network_faults(Scene& scene) {
  const auto faults = std::make_shared<NetworkFaults>(scene);
  const auto stall = [faults](std::vector<Direction> directions) {
    return [faults, directions](Strike& strike) { return faults->stall(strike, directions); };
  };
  const auto trap = [faults](Deed deed) {
    return [faults, deed](Strike& strike) { return faults->trap(strike, deed); };
  };
  return {
      {"connection_cut", 8, 10ms, 600ms, [faults](Strike& strike) { return faults->cut(strike); }},
      {"connection_stalled", 2, 50ms, 4000ms, stall({Direction::to_server, Direction::to_client})},
      {"stalled_to_server", 2, 50ms, 4000ms, stall({Direction::to_server})},
      {"stalled_to_client", 2, 50ms, 4000ms, stall({Direction::to_client})},
      {"reply_dropped", 6, 1000ms, 3000ms, trap(Deed::drop_reply)},
      {"request_delayed", 4, 1000ms, 3000ms, trap(Deed::delay_request)},
      {"reply_delayed", 3, 1000ms, 3000ms, trap(Deed::delay_reply)},
      {"slow_link", 1, 500ms, 4000ms, [faults](Strike& strike) { return faults->slow(strike); }},
      {"names_failing", 1, 200ms, 5000ms, [faults](Strike& strike) { return faults->fail_names(strike); }},
      {"session_expired", 2, 0ms, 0ms, [faults](Strike& strike) { return faults->end_session(strike); }},
  };
}

}  // namespace forelock::robustness
