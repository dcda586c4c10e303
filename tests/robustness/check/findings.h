// The findings of a rule.
#pragma once

#include "support/standard.h"

namespace forelock::robustness {

struct Findings {
  static constexpr std::size_t explained_at_most = 20;

  std::size_t violations = 0;
  std::size_t judged = 0;                 // cases that the rule has looked at
  std::size_t undecided = 0;              // cases of which the history does not say enough
  std::vector<std::string> explanations;  // of the first violations

  void violated(std::string explanation) {
    if (++violations <= explained_at_most) explanations.push_back(std::move(explanation));
  }
};

}  // namespace forelock::robustness
