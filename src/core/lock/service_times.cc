#include "lock/service_times.h"

namespace forelock::lock {

void ServiceTimes::add(base::Duration waited, std::size_t places) {
  if (places == 0) {
    if (sum_.places > 0 && waited * static_cast<base::Duration::rep>(sum_.places) <= sum_.waited) return;
    places = 1;
  }
  samples_.push_back({waited, places});
  sum_.waited += waited;
  sum_.places += places;
  while (sum_.places - samples_.front().places >= kept_places) {
    sum_.waited -= samples_.front().waited;
    sum_.places -= samples_.front().places;
    samples_.pop_front();
  }
}

std::optional<base::Duration> ServiceTimes::wait(std::size_t places) const {
  if (sum_.places < least_places) return std::nullopt;
  return sum_.waited / static_cast<base::Duration::rep>(sum_.places) * static_cast<base::Duration::rep>(places);
}

}  // namespace forelock::lock
