#include "bench/samples.h"

#include <algorithm>

namespace forelock::bench {

double Samples::quantile(double part) const {
  if (values_.empty()) return 0;
  std::vector<double> sorted = values_;
  const auto place = std::min(sorted.size() - 1, static_cast<std::size_t>(part * static_cast<double>(sorted.size())));
  const auto nth = sorted.begin() + static_cast<std::ptrdiff_t>(place);
  std::nth_element(sorted.begin(), nth, sorted.end());
  return *nth;
}

}  // namespace forelock::bench
