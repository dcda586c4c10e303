// What can happen to the places that dead letters go to.
#include "robustness/runner/letter_office.h"
#include "robustness/runner/scene.h"

namespace forelock::robustness {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::seconds broker_patience{180};
constexpr const char* broker_name = "broker";

Undo kill_broker(LetterOffice& office, Strike& strike) {
  strike.begin(broker_name);
  office.broker().kill();
  return [&office] { office.heal(broker_patience); };
}

Undo pause_broker(LetterOffice& office, Strike& strike) {
  strike.begin(broker_name);
  office.broker().pause();
  return [&office] { office.broker().resume(); };
}

Undo occupy_outbox(LetterOffice& office, Strike& strike) {
  auto occupation = office.occupy();
  if (!occupation) {
    strike.skip("nobody has made an outbox, or it was not free");
    return {};
  }
  strike.begin("outbox");
  return [occupation]() mutable { occupation.reset(); };
}

}  // namespace

std::vector<FaultKind> letter_faults(LetterOffice& office) {
  return {
      {"broker_killed", 2, 0ms, 3000ms, [&office](Strike& strike) { return kill_broker(office, strike); }},
      {"broker_paused", 2, 300ms, 5000ms, [&office](Strike& strike) { return pause_broker(office, strike); }},
      {"outbox_occupied", 2, 50ms, 3000ms, [&office](Strike& strike) { return occupy_outbox(office, strike); }},
  };
}

}  // namespace forelock::robustness
