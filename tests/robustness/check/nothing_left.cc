#include "robustness/check/rules.h"

namespace forelock::robustness {

Findings nothing_left(const History& history) {
  Findings findings;
  for (const Remaining& node : history.remaining) {
    ++findings.judged;
    findings.violated(node.path + " is left" + (node.sessions.empty() ? "" : " (sessions: " + node.sessions + ")"));
  }
  return findings;
}

}  // namespace forelock::robustness
