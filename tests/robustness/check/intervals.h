// Times that belong together.
#pragma once

#include "robustness/check/history.h"

namespace forelock::robustness {

// The same times, sorted, those that touch put together.
std::vector<Interval> apart(std::vector<Interval> intervals);

// Whether any of these, which are apart, has a moment between the two.
bool any_between(const std::vector<Interval>& intervals, Instant begin, Instant end);

}  // namespace forelock::robustness
