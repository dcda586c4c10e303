#include "robustness/check/exposure.h"

#include "robustness/check/intervals.h"

namespace forelock::robustness {
namespace {

// About the shortest session's time-out: what a fault leaves behind is dealt with by then.
constexpr Span aftermath = std::chrono::seconds(1);

Instant end_of(const History& history, const Call& call) {
  Instant last = std::max({call.invoked, call.granted == never ? call.invoked : call.granted,
                           call.refused == never ? call.invoked : call.refused});
  if (call.granted == never) return last;
  const Instant given_up = std::min(call.released, call.lost);
  return given_up == never ? std::max(last, history.process_of(call).last) : std::max(last, given_up);
}

}  // namespace

std::map<std::string, Exposure> exposure(const History& history) {
  std::map<std::string, std::vector<Interval>> times;
  std::map<std::string, Exposure> found;
  for (const Fault& fault : history.faults) {
    ++found[fault.kind].faults;
    times[fault.kind].push_back({fault.begin, fault.end == never ? never : fault.end + aftermath});
  }
  for (auto& [kind, intervals] : times) {
    intervals = apart(std::move(intervals));
    Exposure& exposed = found[kind];
    for (const Call& call : history.calls) {
      if (any_between(intervals, call.invoked, end_of(history, call))) ++exposed.calls;
    }
    for (const Access& access : history.accesses) {
      if (any_between(intervals, access.begin, access.end)) ++exposed.accesses;
    }
  }
  return found;
}

}  // namespace forelock::robustness
