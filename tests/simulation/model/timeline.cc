#include "model/timeline.h"

namespace forelock::model {

void Timeline::at(Instant when, Actor& actor, std::uint32_t what, std::uint64_t detail) {
  heap_.push_back({std::max(when, now_), order_++, &actor, detail, what});
  std::push_heap(heap_.begin(), heap_.end(), later);
}

bool Timeline::step() {
  if (heap_.empty()) return false;
  std::pop_heap(heap_.begin(), heap_.end(), later);
  const Entry entry = heap_.back();
  heap_.pop_back();
  now_ = entry.when;
  ++steps_;
  entry.actor->fire(entry.what, entry.detail);
  return true;
}

void Timeline::run_until(Instant end) {
  while (!heap_.empty() && heap_.front().when <= end) step();
  now_ = std::max(now_, end);
}

}  // namespace forelock::model
