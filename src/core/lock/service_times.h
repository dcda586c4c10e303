// The ServiceTimes of a monitor measure the time in which its contenders advance by one place, as seen by this process;
// the expected wait of a new one follows from it.
//
// Each wait of this process's contenders that began at a known place is a sample, whichever contenders were served
// meanwhile. The estimate is the mean over the last places, since waits are refused by it (Monitor::admit()): a
// cautious bound would admit too many that time out, and admitted ones keep providing samples. Each class has its own,
// since contenders overtake only the background.
//
// Pure. Not synchronised.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>

#include "base/time_point.h"

namespace forelock::lock {

class ServiceTimes {
 public:
  // With fewer there is no estimate.
  static constexpr std::size_t least_places = 16;
  static constexpr std::size_t kept_places = 64;

  // Adds a contender's wait, and the places by which it advanced. None: a wait longer than the mean counts as one.
  void add(base::Duration waited, std::size_t places);
  // The expected time to advance by this many places. Empty as long as too little is known.
  std::optional<base::Duration> wait(std::size_t places) const;

 private:
  struct Sample {
    base::Duration waited{};
    std::size_t places = 0;
  };

  std::deque<Sample> samples_;
  Sample sum_;
};

}  // namespace forelock::lock
