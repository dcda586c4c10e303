// A WaitPlot says what has become of a monitor over time, by class: how long those waited that got it (the medians, and
// what 99 of 100 waited at most), how many got it, and from how many it was taken away. Pure.
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

struct SeenHold {
  std::optional<Priority> priority;
  WallTime from{};
  std::optional<WallTime> taken_away;  // by force, or by an unlocker
};

struct WaitPlot {
  static constexpr std::size_t most_parts = 48;

  struct Waits {
    std::size_t count = 0;
    std::chrono::milliseconds p50{0};
    std::chrono::milliseconds p99{0};
  };
  // Of what was from `from` on, until the next one begins.
  struct Part {
    WallTime from{};
    base::PerPriority<std::optional<Waits>> waits;  // nothing: none of that class waited that was granted then
    base::PerPriority<std::size_t> grants{};
    std::size_t grants_of_no_class = 0;  // of contenders whose class is not known
    std::size_t taken_away = 0;
  };

  std::vector<Part> parts;  // equally long; at least a second
};

// Of this span, outside of which nothing counts.
WaitPlot plot_waits(const std::vector<GrantedWait>& waits, const std::vector<SeenHold>& holds, WallTime from,
                    WallTime to);

}  // namespace forelock::cli
