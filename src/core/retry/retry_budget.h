// Damps a storm of retries: a token bucket that many operations share.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "base/time_point.h"

namespace forelock::retry {

using base::Duration;
using base::TimePoint;

// The bucket is kept as one instant, the one at which the next token comes into being: in the past while tokens are
// left, in the future once they are owed. Thread-safe, without locks.
class RetryBudget {
 public:
  static constexpr std::uint32_t largest_burst = 1'000'000;
  static constexpr double slowest = 0.001;
  static constexpr double fastest = 1'000'000.0;

  // Full at first: `burst` tokens (1 to largest_burst), and `per_second` new ones (slowest to fastest). What is out of
  // range is taken for the nearest value in it.
  RetryBudget(std::uint32_t burst, double per_second);

  // Takes a token. Returns when the retry that it is for may begin: `now` while tokens are left, else the instant at
  // which this one comes into being. So however many ask at once, they begin one after the other, in this order, and
  // never are there more than burst + per_second * t of them in any time t (but for tokens given back).
  TimePoint take(TimePoint now);
  // Gives a token back whose retry does not begin after all.
  void give_back();

 private:
  const Duration interval_;   // between tokens
  const Duration fill_time_;  // of a bucket that holds one
  std::atomic<Duration::rep> next_;
};

}  // namespace forelock::retry
