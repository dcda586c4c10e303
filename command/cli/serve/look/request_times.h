// RequestTimes are how long requests of one kind have taken, as a histogram of Prometheus.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace forelock::cli {

// One thread adds, any reads.
class RequestTimes {
 public:
  // Upper bounds of its buckets, in seconds; above the last one there is another bucket.
  static constexpr std::array<double, 12> bounds{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5};

  void add(std::chrono::nanoseconds took) {
    const double seconds = std::chrono::duration<double>(took).count();
    const auto place = std::lower_bound(bounds.begin(), bounds.end(), seconds);
    ++counts_[static_cast<std::size_t>(place - bounds.begin())];
    nanoseconds_ += static_cast<std::uint64_t>(took.count());
  }
  std::uint64_t count(std::size_t bucket) const { return counts_[bucket]; }
  double sum() const { return static_cast<double>(nanoseconds_) / 1e9; }

 private:
  std::array<std::atomic<std::uint64_t>, bounds.size() + 1> counts_{};
  std::atomic<std::uint64_t> nanoseconds_{0};
};

}  // namespace forelock::cli
