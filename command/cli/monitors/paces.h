// Paces say how fast each monitor's queue comes forward, as looks at it have seen: from it follows how long those that
// wait will probably still wait.
//
// Pure; not synchronised.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/serve/look/sighting.h"
#include "forelock/inspector.h"

namespace forelock::cli {

class Paces {
 public:
  using Steady = std::chrono::steady_clock::time_point;
  // How long each place takes, by monitor; without those of which too little is known.
  using ByMonitor = std::map<std::string, std::chrono::nanoseconds>;

  // Fewer than so many that have left a queue say nothing.
  static constexpr std::size_t least_left = 8;
  // Of the last looks whose time sums up to this.
  static constexpr std::chrono::seconds window{60};

  // Of the one at that place, 1 for the next.
  static std::chrono::milliseconds expected_wait(std::size_t place, std::chrono::nanoseconds pace) {
    return std::chrono::round<std::chrono::milliseconds>(static_cast<std::int64_t>(place) * pace);
  }

  // The next look; `look_begun`: when it began. Monitors that nobody waits for are forgotten.
  ByMonitor take(const std::vector<MonitorView>& monitors, Steady look_begun);
  ByMonitor take(const Sightings& monitors, Steady look_begun);

 private:
  struct Sample {
    std::chrono::nanoseconds time{};
    std::size_t left = 0;
  };
  struct Queue {
    std::set<std::string> nodes;
    std::deque<Sample> samples;
    Sample sum;
  };

  void take_queue(const MonitorView& monitor, Steady look_begun, std::map<std::string, Queue>& former,
                  ByMonitor& paces);
  void add(Queue& queue, const Sample& sample);

  std::map<std::string, Queue> queues_;
  Steady last_{};
};

}  // namespace forelock::cli
