// Measured times and what can be said about them.
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

namespace forelock::bench {

using Clock = std::chrono::steady_clock;

// Microseconds of some operation, in the order of measurement.
class Samples {
 public:
  void add(Clock::duration time) { values_.push_back(std::chrono::duration<double, std::micro>(time).count()); }
  void add(double value) { values_.push_back(value); }
  std::size_t count() const { return values_.size(); }
  double at(std::size_t place) const { return values_[place]; }

  // `part` of all samples are at most this; 0 without samples.
  double quantile(double part) const;
  double median() const { return quantile(0.5); }
  double lowest() const { return quantile(0); }
  double highest() const { return quantile(1); }

 private:
  std::vector<double> values_;
};

}  // namespace forelock::bench
