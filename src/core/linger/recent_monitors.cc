#include "linger/recent_monitors.h"

#include <iterator>

namespace forelock::linger {

void RecentMonitors::add(const std::string& monitor, lock::TimePoint until) {
  if (most_ == 0) return;
  if (const auto known = by_name_.find(monitor); known != by_name_.end()) {
    known->second->until = until;
    entries_.splice(entries_.end(), entries_, known->second);
    return;
  }
  if (entries_.size() == most_) {
    by_name_.erase(entries_.front().monitor);
    entries_.pop_front();
  }
  entries_.push_back({monitor, until});
  by_name_.emplace(monitor, std::prev(entries_.end()));
}

bool RecentMonitors::contains(const std::string& monitor, lock::TimePoint now) const {
  const auto known = by_name_.find(monitor);
  return known != by_name_.end() && now < known->second->until;
}

}  // namespace forelock::linger
