// Counts calls of operator new. Linking this in replaces the global operators.
#pragma once

#include <cstddef>
#include <cstdint>

namespace forelock::bench {

struct Allocations {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
};

// Of the calling thread, since it began.
Allocations allocations_of_this_thread() noexcept;

}  // namespace forelock::bench
