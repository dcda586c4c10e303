#include <algorithm>
#include <vector>

#include "robustness/check/describe.h"
#include "robustness/check/rules.h"

namespace forelock::robustness {

Findings rising_tokens(const History& history) {
  Findings findings;
  std::vector<const Call*> granted;
  for (const Call& call : history.calls) {
    if (call.granted != never && call.token != 0) granted.push_back(&call);
  }
  std::sort(granted.begin(), granted.end(), [](const Call* a, const Call* b) {
    return a->monitor != b->monitor ? a->monitor < b->monitor : a->token > b->token;
  });
  // From the highest token down: who of the higher ones was granted first?
  const Call* first = nullptr;
  const Call* above = nullptr;
  for (const Call* call : granted) {
    ++findings.judged;
    if (above == nullptr || above->monitor != call->monitor) {
      first = nullptr;
    } else if (above->token == call->token) {
      findings.violated(text_of(history, *above) + " and " + text_of(history, *call) + " have the same token");
    }
    if (first != nullptr && first->token > call->token && first->granted < call->invoked) {
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
