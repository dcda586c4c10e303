#include "retry/backoff.h"

#include <algorithm>

namespace forelock::retry {
namespace {

Duration in_range(std::chrono::milliseconds time) {
  return std::clamp<std::chrono::milliseconds>(time, std::chrono::milliseconds(0), Backoff::longest);
}

}  // namespace

Backoff::Backoff(std::chrono::milliseconds initial, std::chrono::milliseconds cap)
    : initial_(std::min(in_range(initial), in_range(cap))), cap_(in_range(cap)) {}

Duration Backoff::bound(std::uint32_t retry) const {
  if (initial_ == Duration::zero()) return initial_;
  Duration bound = initial_;
  for (std::uint32_t i = 1; i < retry && bound < cap_; ++i) bound = bound > cap_ / 2 ? cap_ : bound * 2;
  return bound;
}

Duration Backoff::wait(std::uint32_t retry, std::uint64_t random) const {
  // 53 bits, which a double holds exactly: a fraction of at least 0 and less than 1.
  const double fraction = static_cast<double>(random >> 11) * 0x1.0p-53;
  return Duration(static_cast<Duration::rep>(fraction * static_cast<double>(bound(retry).count())));
}

}  // namespace forelock::retry
