// A small seeded generator: the same numbers on every machine, and fast.
#pragma once

#include "support/standard.h"

namespace forelock::model {

using Instant = std::chrono::steady_clock::time_point;
using Span = std::chrono::steady_clock::duration;

// SplitMix64.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  // 0 … bound-1; 0 for bound 0.
  std::size_t below(std::size_t bound) { return bound == 0 ? 0 : static_cast<std::size_t>(next() % bound); }
  int between(int low, int high) { return low + static_cast<int>(below(static_cast<std::size_t>(high - low + 1))); }
  bool chance(double probability) {
    return static_cast<double>(next() >> 11) * (1.0 / 9007199254740992.0) < probability;
  }
  Span between(Span low, Span high) {
    if (high <= low) return low;
    return low + Span(static_cast<Span::rep>(next() % static_cast<std::uint64_t>((high - low).count() + 1)));
  }

 private:
  std::uint64_t state_;
};

}  // namespace forelock::model
