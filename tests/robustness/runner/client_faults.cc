// What can happen to a client's process.
#include "robustness/runner/scene.h"

namespace forelock::robustness {
namespace {

using namespace std::chrono_literals;

class ClientFaults {
 public:
  explicit ClientFaults(Scene& scene) : scene_(scene) {}

  Undo kill(Strike& strike) {
    ClientProcess* client =
        scene_.any_client(strike, [this](const ClientProcess& each) { return !scene_.spared.contains(each.slot()); });
    if (client == nullptr) return nobody(strike);
    strike.begin(client->process());
    client->kill();
    return [client] { client->start(); };
  }

  // At one of the steps of its work; whether the request of this step arrives, or its reply is lost, is left open.
  Undo kill_unlocker(Strike& strike) {
    ClientProcess* client =
        scene_.any_client(strike, [](const ClientProcess& each) { return each.kind() == "unlocker"; });
    if (client == nullptr) return nobody(strike);
    using Request = FrameWatch::Request;
    static const std::vector<Request> requests = {Request::writing, Request::writing, Request::release,
                                                  Request::release, Request::listing, Request::claim};
    static const std::vector<FrameWatch::Deed> deeds = {FrameWatch::Deed::none, FrameWatch::Deed::drop_reply};
    const auto sprung = std::make_shared<std::atomic<bool>>(false);
    FrameWatch::Trap trap{strike.one_of(requests), strike.one_of(deeds), {}, {}};
    trap.sprung = [client, sprung, &strike] {
      strike.begin(client->process());
      client->kill();
      sprung->store(true);
    };
    client->wires().watch().set(std::move(trap));
    return [client, sprung, &strike] {
      client->wires().watch().clear();
      if (sprung->load()) {
        client->start();
      } else {
        strike.skip("no such request came");
      }
    };
  }

  // The session ends meanwhile.
  Undo pause(Strike& strike) {
    ClientProcess* client = pick_with_token(strike);
    if (client == nullptr) return nobody(strike);
    strike.begin(client->process());
    client->pause();
    return [client] { client->resume(); };
  }

  // Between the request for a release and its reply; or the request stays on the way for a while.
  Undo pause_releasing(Strike& strike) {
    ClientProcess* client = pick_with_token(strike);
    if (client == nullptr) return nobody(strike);
    const auto sprung = std::make_shared<std::atomic<bool>>(false);
    const bool delayed = strike.chance(0.4);
    FrameWatch::Trap trap;
    trap.request = FrameWatch::Request::release;
    trap.deed = delayed ? FrameWatch::Deed::delay_request : FrameWatch::Deed::none;
    trap.delay = strike.duration() + std::chrono::milliseconds(strike.between(-1000, 300));
    trap.sprung = [client, sprung, delayed, &strike] {
      strike.begin(client->process(), delayed ? "with the request on its way" : "");
      client->pause();
      sprung->store(true);
    };
    client->wires().watch().set(std::move(trap));
    return [client, sprung, &strike] {
      client->wires().watch().clear();
      if (sprung->load()) {
        client->resume();
      } else {
        strike.skip("no release came");
      }
    };
  }

  Undo step_clock(Strike& strike) {
    ClientProcess* client =
        scene_.any_client(strike, [](const ClientProcess& each) { return each.slot().starts_with("clock"); });
    if (client == nullptr) {
      strike.skip("libfaketime is not installed");
      return {};
    }
    static const std::vector<const char*> offsets = {"+2", "-2", "+30", "-30", "+3600", "-3600", "+86400", "-86400"};
    const char* offset = strike.one_of(offsets);
    strike.begin(client->slot(), offset);
    const auto file = client->file(".clock");
    std::ofstream(file) << offset << std::endl;
    return [file] { std::ofstream(file) << "+0" << std::endl; };
  }

 private:
  // Of a client that knows no tokens the resource could not tell what comes late.
  ClientProcess* pick_with_token(Strike& strike) const {
    return scene_.any_client(strike, [](const ClientProcess& each) { return each.kind() != "literal"; });
  }
  static Undo nobody(Strike& strike) {
    strike.skip("no such client runs");
    return {};
  }

  Scene& scene_;
};

}  // namespace

std::vector<FaultKind> client_faults(Scene& scene) {
  const auto faults = std::make_shared<ClientFaults>(scene);
  return {
      {"client_killed", 4, 50ms, 1500ms, [faults](Strike& strike) { return faults->kill(strike); }},
      {"unlocker_killed", 2, 500ms, 3000ms, [faults](Strike& strike) { return faults->kill_unlocker(strike); }},
      {"client_paused", 2, 1500ms, 6500ms, [faults](Strike& strike) { return faults->pause(strike); }},
      {"client_paused_releasing", 2, 1500ms, 6500ms,
       [faults](Strike& strike) { return faults->pause_releasing(strike); }},
      {"clock_stepped", 1, 1000ms, 4000ms, [faults](Strike& strike) { return faults->step_clock(strike); }},
  };
}

}  // namespace forelock::robustness
