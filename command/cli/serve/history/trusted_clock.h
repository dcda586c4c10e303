// A TrustedClock tells by which time what is too old may be removed: a clock that is put ahead by mistake, for a
// moment, must not cost the past. Pure.
#pragma once

#include <chrono>
#include <optional>

#include "forelock/owner_record.h"

namespace forelock::cli {

class TrustedClock {
 public:
  using Steady = std::chrono::steady_clock::time_point;

  // So long it has gone on without a jump, and since it was asked first; until then nothing is too old.
  static constexpr std::chrono::hours trusted_after{1};
  static constexpr std::chrono::minutes jump{1};

  // Nothing while it is not trusted.
  std::optional<WallTime> now(WallTime wall, Steady steady) {
    const bool jumps = !begun_ || wall - wall_ > std::chrono::ceil<std::chrono::milliseconds>(steady - steady_) + jump;
    if (jumps) begun_ = steady;
    wall_ = wall;
    steady_ = steady;
    return steady - *begun_ >= trusted_after ? std::optional(wall) : std::nullopt;
  }

 private:
  std::optional<Steady> begun_;
  WallTime wall_{};
  Steady steady_{};
};

}  // namespace forelock::cli
