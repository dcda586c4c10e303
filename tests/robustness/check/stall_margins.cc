
#include "robustness/check/describe.h"
#include "robustness/check/rules.h"

namespace forelock::robustness {
namespace {

// When the holder's session ended at the server, if that was seen.
Instant session_end(const History& history, const Call& call, Instant after) {
  Instant end = never;
  for (const SessionEnd& one : history.session_ends) {
    if (call.session != 0 && one.session == call.session && one.at > after) end = std::min(end, one.at);
  }
  return end;
}

bool meant(const Stall& stall, const Call& call) {
  if (call.process != stall.client || call.granted > stall.begin || call.doubted() <= stall.begin) return false;
  if (stall.call && call.number != *stall.call) return false;
  return !stall.monitor || call.monitor == *stall.monitor;
}

// Whether the same holder was hit again before anybody else had the lock: then it was not this time that took it away.
bool survived(const std::vector<Stall>& stalls, const Stall& stall, const Call& holder, Instant taken) {
  return std::any_of(stalls.begin(), stalls.end(), [&](const Stall& later) {
    return later.begin > stall.begin && later.begin < taken && meant(later, holder);
  });
}

StallFindings margins(const History& history, const std::vector<Stall>& stalls) {
  StallFindings result;
  std::vector<std::vector<const Call*>> granted(history.monitors.size());  // by the time of the grant
  for (const Call& call : history.calls) {
    if (call.granted != never) granted[call.monitor].push_back(&call);
  }
  for (auto& calls : granted) {
    std::sort(calls.begin(), calls.end(), [](const Call* a, const Call* b) { return a->granted < b->granted; });
  }
  for (const Stall& stall : stalls) {
    for (const Call& holder : history.calls) {
      if (!meant(stall, holder) || holder.granted == never) continue;
      const auto& grants = granted[holder.monitor];
      const auto next = std::find_if(grants.begin(), grants.end(), [&](const Call* other) {
        return other->granted > holder.granted && other->process != holder.process;
      });
      const Instant granted_to_another = next == grants.end() ? never : (*next)->granted;
      const Instant noticed = std::min(holder.unhealthy, holder.lost);
      if (holder.release != never && holder.release < std::min(noticed, granted_to_another)) continue;  // gave it up
      const Instant taken = std::min(granted_to_another, session_end(history, holder, stall.begin));
      if (taken == never || survived(stalls, stall, holder, taken)) continue;
      ++result.findings.judged;
      if (noticed == never) {
        result.findings.violated(text_of(history, holder) + " never noticed that it was cut off at " +
                                 text_of(history, stall.begin) + "; it could be granted to others from " +
                                 text_of(history, taken));
        result.margin = std::min(result.margin.value_or(Span{0}), Span{0});
        continue;
      }
      const Span margin = taken - noticed;
      // Where only what the servers say is lost, they still hear the holder, who lets go when it has noticed: how soon
      // the next one has the lock then says nothing about the margin.
      const bool let_go = margin > Span{0} && stall.servers_hear && holder.release < taken;
      if (!let_go) result.margin = std::min(result.margin.value_or(margin), margin);
      if (margin > Span{0}) continue;
      result.findings.violated(text_of(history, holder) + " was cut off at " + text_of(history, stall.begin) +
                               " and noticed at " + text_of(history, noticed) + ", but " +
                               (taken == granted_to_another ? text_of(history, **next) + " was granted at "
                                                            : std::string("its session had ended at ")) +
                               text_of(history, taken));
    }
  }
  return result;
}

}  // namespace

StallFindings stall_margins(const History& history) {
  return margins(history, history.stalls);
}

StallFindings deposition_margins(const History& history) {
  return margins(history, history.depositions);
}

}  // namespace forelock::robustness
