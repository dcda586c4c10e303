#include "retry/retry_budget.h"

#include <algorithm>

namespace forelock::retry {
namespace {

constexpr Duration::rep full = Duration::min().count();

Duration interval_of(double per_second) {
  // Not clamp(): it lets NaN through.
  const double rate =
      per_second >= RetryBudget::slowest ? std::min(per_second, RetryBudget::fastest) : RetryBudget::slowest;
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(1.0 / rate));
}

}  // namespace

RetryBudget::RetryBudget(std::uint32_t burst, double per_second)
    : interval_(interval_of(per_second)),
      fill_time_(interval_ * (std::clamp(burst, 1U, largest_burst) - 1)),
      next_(full) {}

TimePoint RetryBudget::take(TimePoint now) {
  Duration::rep seen = next_.load(std::memory_order_relaxed);
  while (true) {
    const TimePoint token = std::max(TimePoint(Duration(seen)), now - fill_time_);
    const Duration::rep next = base::later(token, interval_).time_since_epoch().count();
    if (next_.compare_exchange_weak(seen, next, std::memory_order_relaxed)) return std::max(token, now);
  }
}

void RetryBudget::give_back() {
  next_.fetch_sub(interval_.count(), std::memory_order_relaxed);
}

}  // namespace forelock::retry
