
#include "robustness/check/describe.h"
#include "robustness/check/forced_ends.h"
#include "robustness/check/rules.h"

namespace forelock::robustness {
namespace {

// Whether both may be sections under one grant, that of a lock which has stayed with its process in between.
bool under_one_grant(const Call& a, const Call& b) {
  const bool same_guid = a.guid == 0 || b.guid == 0 || a.guid == b.guid;
  const bool same_class = a.priority == b.priority || a.changes_class || b.changes_class;
  return a.process == b.process && a.session == b.session && same_class && same_guid;
}

// Whether the lock that the process still had when it was asked had just been taken away by force.
bool robbed(const History& history, const Call& call, const ForcedEnds& forced) {
  const Process& process = history.process_of(call);
  if (!process.lingers) return false;
  const Interval blind = forced.blind(process, call.monitor, call.token, call.granted);
  return blind.begin != never && call.invoked <= blind.end + waking;
}

}  // namespace

Findings rising_tokens(const History& history) {
  Findings findings;
  const ForcedEnds forced(history);
  std::vector<const Call*> granted;
  for (const Call& call : history.calls) {
    if (call.granted != never && call.token != 0) granted.push_back(&call);
  }
  std::sort(granted.begin(), granted.end(), [](const Call* a, const Call* b) {
    if (a->monitor != b->monitor) return a->monitor < b->monitor;
    return a->token != b->token ? a->token > b->token : a->granted > b->granted;
  });
  // From the highest token down: who of the higher ones was granted first?
  const Call* first = nullptr;
  const Call* above = nullptr;
  for (const Call* call : granted) {
    ++findings.judged;
    if (above == nullptr || above->monitor != call->monitor) {
      first = nullptr;
    } else if (above->token == call->token && !under_one_grant(*above, *call)) {
      findings.violated(text_of(history, *above) + " and " + text_of(history, *call) + " have the same token");
    }
    const bool asked_too_late = first != nullptr && first->token > call->token && first->granted < call->invoked;
    if (asked_too_late && !robbed(history, *call, forced)) {
      findings.violated(text_of(history, *call) + " was asked for at " + text_of(history, call->invoked) +
                        ", when the higher token of " + text_of(history, *first) + " was granted already, at " +
                        text_of(history, first->granted));
    }
    above = call;
    if (first == nullptr || call->granted < first->granted) first = call;
  }
  return findings;
}

}  // namespace forelock::robustness
