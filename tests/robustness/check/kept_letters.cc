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
    if (found && letter.succeeded) findings.violated("the operation " + id + " succeeded, and is a dead letter too");
    const int ends = (letter.accepted ? 1 : 0) + (letter.succeeded ? 1 : 0) + (letter.kept ? 1 : 0);
    if (ends > 1) findings.violated("the operation " + id + " ended in more than one way");
    if (letter.handed && ends == 0 && history.processes[letter.process].ended) {
      findings.violated("the operation " + id + " never ended, although its process came to its end");
    }
  }
  return findings;
}

}  // namespace forelock::robustness
