#include "robustness/check/rules.h"

namespace forelock::robustness {

Findings kept_letters(const History& history) {
  Findings findings;
  for (const auto& [id, letter] : history.letters) {
    ++findings.judged;
    const bool found = letter.in_topic + letter.in_outbox > 0;
    if (letter.accepted && !found) findings.violated("the dead letter " + id + " was accepted and is nowhere");
    if (letter.altered) findings.violated("the dead letter " + id + " is not what was handed over");
    if (found && !letter.handed) findings.violated("the dead letter " + id + " was found, but nobody has written it");
  }
  return findings;
}

}  // namespace forelock::robustness
