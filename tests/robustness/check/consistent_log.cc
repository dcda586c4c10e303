
#include "robustness/check/describe.h"
#include "robustness/check/rules.h"

namespace forelock::robustness {
namespace {

// Calls `back` with each creation whose number is not higher than that of the one before it, and with that one.
template <class Back>
std::size_t creations(const History& history, Back back) {
  std::size_t count = 0;
  std::vector<const LoggedChange*> latest(history.monitors.size());
  for (const LoggedChange& change : history.log) {
    if (change.type == LoggedChange::Type::monitor_made) latest[change.monitor] = nullptr;
    if (change.type != LoggedChange::Type::create || change.is_lock) continue;
    ++count;
    const LoggedChange*& before = latest[change.monitor];
    if (before != nullptr && change.place.number <= before->place.number) back(change, *before);
    before = &change;
  }
  return count;
}

}  // namespace

Findings consistent_log(const History& history) {
  Findings findings;
  findings.judged = creations(history, [&](const LoggedChange& change, const LoggedChange& before) {
    findings.violated(history.monitors[change.monitor] + ": zxid " + std::to_string(change.zxid) + " made " +
                      text_of(history, change.place) + " although zxid " + std::to_string(before.zxid) + " had made " +
                      text_of(history, before.place) + ": the servers have lost what they had confirmed");
  });
  return findings;
}

std::int64_t first_not_trusted(const History& history) {
  constexpr int epoch_bits = 32;  // the upper half of a zxid is the epoch
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  creations(history, [&](const LoggedChange&, const LoggedChange& before) {
    first = std::min(first, before.zxid >> epoch_bits << epoch_bits);
  });
  return first;
}

}  // namespace forelock::robustness
