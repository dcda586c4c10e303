#include "robustness/check/intervals.h"

namespace forelock::robustness {

std::vector<Interval> apart(std::vector<Interval> intervals) {
  std::sort(intervals.begin(), intervals.end(), [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  std::vector<Interval> merged;
  for (const Interval& one : intervals) {
    if (!merged.empty() && one.begin <= merged.back().end) {
      merged.back().end = std::max(merged.back().end, one.end);
    } else {
      merged.push_back(one);
    }
  }
  return merged;
}

bool any_between(const std::vector<Interval>& intervals, Instant begin, Instant end) {
  const auto first = std::lower_bound(intervals.begin(), intervals.end(), begin,
                                      [](const Interval& one, Instant time) { return one.end < time; });
  return first != intervals.end() && first->begin <= end;
}

}  // namespace forelock::robustness
