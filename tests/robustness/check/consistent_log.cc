#include <vector>

#include "robustness/check/describe.h"
#include "robustness/check/rules.h"

namespace forelock::robustness {

Findings consistent_log(const History& history) {
  Findings findings;
  std::vector<const LoggedChange*> latest(history.monitors.size());
  for (const LoggedChange& change : history.log) {
    if (change.type == LoggedChange::Type::monitor_made) latest[change.monitor] = nullptr;
    if (change.type != LoggedChange::Type::create || change.is_lock) continue;
    ++findings.judged;
    const LoggedChange*& before = latest[change.monitor];
    if (before != nullptr && change.place.number <= before->place.number) {
      findings.violated(history.monitors[change.monitor] + ": zxid " + std::to_string(change.zxid) + " made " +
                        text_of(history, change.place) + " although zxid " + std::to_string(before->zxid) +
                        " had made " + text_of(history, before->place) +
                        ": the servers have lost what they had confirmed");
    }
    before = &change;
  }
  return findings;
}

}  // namespace forelock::robustness
