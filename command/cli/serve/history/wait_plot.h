// A WaitPlot says how long those waited that got a monitor, by class and time: the medians, and what 99 of 100 waited
// at most. Pure.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

#include "base/per_priority.h"
#include "forelock/owner_record.h"
#include "forelock/priority.h"

namespace forelock::cli {

// A wait that ended with the lock.
struct GrantedWait {
  Priority priority = Priority::foreground;
  WallTime to{};
  std::chrono::milliseconds waited{0};
};

struct WaitPlot {
  static constexpr std::size_t most_parts = 48;

  struct Waits {
    std::size_t count = 0;
    std::chrono::milliseconds p50{0};
    std::chrono::milliseconds p99{0};
  };
  // Of the grants from `from` on, until the next one begins.
  struct Part {
    WallTime from{};
    base::PerPriority<std::optional<Waits>> waits;  // nothing: none of that class was granted then
  };

  std::vector<Part> parts;  // equally long; at least a second
};

// Of this span, to which `waits` outside of it do not count.
WaitPlot plot_waits(const std::vector<GrantedWait>& waits, WallTime from, WallTime to);

}  // namespace forelock::cli
