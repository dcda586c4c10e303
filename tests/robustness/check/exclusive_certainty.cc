
#include "robustness/check/describe.h"
#include "robustness/check/forced_ends.h"
#include "robustness/check/rules.h"

namespace forelock::robustness {
namespace {

struct Claim {
  Interval time;
  const Call* call;
};

bool claims_certainty(const History& history, const Call& call) {
  const Kind kind = history.process_of(call).kind;
  return (kind == Kind::api || kind == Kind::async) && call.granted != never;
}

// The times in which the holder claims nothing although it has no doubts.
std::vector<Interval> rests_of(const History& history, const Call& call, const ForcedEnds& forced) {
  const Process& process = history.process_of(call);
  std::vector<Interval> rests = process.still;
  // Not what was done to other nodes of the same name after that.
  const Instant end = std::min(call.doubted(), process.last);
  const Interval blind = forced.blind(process, call.monitor, call.token, end);
  if (blind.begin == never) return rests;
  const auto after = [](Instant time, const Interval& rest) { return time < rest.begin; };
  rests.insert(std::upper_bound(rests.begin(), rests.end(), blind.begin, after), blind);
  return rests;
}

void add_claims(const History& history, const Call& call, const ForcedEnds& forced, std::vector<Claim>& claims) {
  const Instant end = std::min(call.doubted(), history.process_of(call).last);
  Instant begin = call.granted;
  for (const Interval& still : rests_of(history, call, forced)) {
    const Instant awake = still.end == never ? never : still.end + waking;
    if (awake <= begin) continue;
    if (still.begin >= end) break;
    if (begin < still.begin) claims.push_back({{begin, still.begin}, &call});
    begin = awake;
  }
  if (begin < end) claims.push_back({{begin, end}, &call});
}

}  // namespace

Findings exclusive_certainty(const History& history) {
  Findings findings;
  const ForcedEnds forced(history);
  std::vector<Claim> claims;
  for (const Call& call : history.calls) {
    if (!claims_certainty(history, call)) continue;
    ++findings.judged;
    add_claims(history, call, forced, claims);
  }
  std::sort(claims.begin(), claims.end(), [](const Claim& a, const Claim& b) {
    return a.call->monitor != b.call->monitor ? a.call->monitor < b.call->monitor : a.time.begin < b.time.begin;
  });
  const Claim* longest = nullptr;
  for (const Claim& claim : claims) {
    const bool same_monitor = longest != nullptr && longest->call->monitor == claim.call->monitor;
    if (same_monitor && longest->call != claim.call && claim.time.begin < longest->time.end) {
      findings.violated(text_of(history, *longest->call) + " was certain to hold from " +
                        text_of(history, longest->time.begin) + " to " + text_of(history, longest->time.end) +
                        ", and " + text_of(history, *claim.call) + " from " + text_of(history, claim.time.begin) +
                        " to " + text_of(history, claim.time.end));
    }
    if (!same_monitor || claim.time.end > longest->time.end) longest = &claim;
  }
  return findings;
}

}  // namespace forelock::robustness
