#include "bench/samples.h"

#include <algorithm>
#include <numeric>

namespace forelock::bench {

double Samples::quantile(double part) const {
  if (values_.empty()) return 0;
  std::vector<double> sorted = values_;
  const auto place = std::min(sorted.size() - 1, static_cast<std::size_t>(part * static_cast<double>(sorted.size())));
  const auto nth = sorted.begin() + static_cast<std::ptrdiff_t>(place);
  std::nth_element(sorted.begin(), nth, sorted.end());
  return *nth;
}

double Samples::mean() const {
  if (values_.empty()) return 0;
  return std::accumulate(values_.begin(), values_.end(), 0.0) / static_cast<double>(values_.size());
}

}  // namespace forelock::bench
