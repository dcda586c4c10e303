// All rules together, and what is said about a history.
#pragma once

#include "robustness/check/exposure.h"
#include "robustness/check/history.h"
#include "robustness/check/rules.h"

namespace forelock::robustness {

struct Verdict {
  std::size_t acquisitions = 0;
  std::size_t faults = 0;
  std::size_t fault_kinds = 0;
  Findings accesses;
  Findings certainty;
  Findings tokens;
  Findings again;
  LineFindings line;
  Findings log;
  Findings waits;
  Findings left;
  Findings letters;
  StallFindings stalls;
  StallFindings depositions;
  FlatFindings use;
  std::size_t dead_letters = 0;  // accepted
  std::map<std::string, Exposure> by_kind;

  bool clean() const;
  // One line of JSON, the counts.
  std::string json() const;
  // Each violation that is kept, and how much was judged.
  void explain(std::ostream& out) const;
};

Verdict judge(const History& history, const Bounds& bounds);

}  // namespace forelock::robustness
