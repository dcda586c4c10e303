#include "demo/wait_log.h"

#include <algorithm>

namespace forelock::demo {
namespace {

// The smallest sample that at least `percent` of all samples do not exceed.
Clock::duration percentile(const std::vector<Clock::duration>& sorted, std::size_t percent) {
  const std::size_t rank = (sorted.size() * percent + 99) / 100;
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

}  // namespace

void WaitLog::granted(Kind kind, std::size_t article, Clock::duration wait) {
  const std::lock_guard guard(mutex_);
  waits_.at(static_cast<std::size_t>(kind)).granted.push_back(wait);
  if (kind != Kind::interactive) return;
  auto& recent = recent_.at(article);
  recent.push_back(wait);
  if (recent.size() > recent_waits) recent.pop_front();
}

void WaitLog::timed_out(Kind kind) {
  const std::lock_guard guard(mutex_);
  ++waits_.at(static_cast<std::size_t>(kind)).timed_out;
}

void WaitLog::failed(const std::string& message) {
  const std::lock_guard guard(mutex_);
  ++failures_;
  last_failure_ = message;
}

WaitSummary WaitLog::summary(Kind kind) const {
  WaitSummary summary;
  std::vector<Clock::duration> sorted;
  {
    const std::lock_guard guard(mutex_);
    const Waits& waits = waits_.at(static_cast<std::size_t>(kind));
    sorted = waits.granted;
    summary.timed_out = waits.timed_out;
  }
  summary.granted = sorted.size();
  if (sorted.empty()) return summary;
  std::sort(sorted.begin(), sorted.end());
  summary.p50 = percentile(sorted, 50);
  summary.p99 = percentile(sorted, 99);
  summary.longest = sorted.back();
  return summary;
}

std::vector<Clock::duration> WaitLog::recent(std::size_t article) const {
  const std::lock_guard guard(mutex_);
  const auto& recent = recent_.at(article);
  return {recent.begin(), recent.end()};
}

std::size_t WaitLog::failures() const {
  const std::lock_guard guard(mutex_);
  return failures_;
}

std::string WaitLog::last_failure() const {
  const std::lock_guard guard(mutex_);
  return last_failure_;
}

}  // namespace forelock::demo
