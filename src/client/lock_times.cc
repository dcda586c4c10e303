#include "client/lock_times.h"

#include <algorithm>
#include <chrono>

namespace forelock::client {
namespace {

void count(DurationHistogram& histogram, lock::Duration duration) {
  const auto bound = std::lower_bound(DurationHistogram::bounds.begin(), DurationHistogram::bounds.end(), duration);
  ++histogram.counts[static_cast<std::size_t>(bound - DurationHistogram::bounds.begin())];
  histogram.sum += std::chrono::duration_cast<std::chrono::nanoseconds>(duration);
}

}  // namespace

void LockTimes::begins(lock::ContenderId contender, Priority priority, lock::TimePoint now) {
  contenders_[contender] = {priority, false, now};
}

void LockTimes::granted(lock::ContenderId contender, lock::TimePoint now) {
  const auto found = contenders_.find(contender);
  if (found == contenders_.end() || found->second.held) return;
  count(times_[found->second.priority].wait, now - found->second.since);
  found->second.held = true;
  found->second.since = now;
}

void LockTimes::taken_again(lock::ContenderId contender, Priority priority, lock::TimePoint now) {
  count(times_[priority].wait, lock::Duration::zero());
  contenders_[contender] = {priority, true, now};
}

void LockTimes::moved(lock::ContenderId contender, Priority priority) {
  const auto found = contenders_.find(contender);
  if (found != contenders_.end() && !found->second.held) found->second.priority = priority;
}

void LockTimes::stepped_aside(lock::ContenderId contender, lock::TimePoint now) {
  const auto found = contenders_.find(contender);
  if (found == contenders_.end() || !found->second.held) return;
  count(times_[found->second.priority].hold, now - found->second.since);
  found->second.held = false;
  found->second.since = now;
}

void LockTimes::ended(lock::ContenderId contender, lock::TimePoint now) {
  const auto found = contenders_.find(contender);
  if (found == contenders_.end()) return;
  if (found->second.held) count(times_[found->second.priority].hold, now - found->second.since);
  contenders_.erase(found);
}

void LockTimes::fill(ClientStatistics& statistics) const {
  statistics.foreground = times_[Priority::foreground];
  statistics.background = times_[Priority::background];
}

}  // namespace forelock::client
