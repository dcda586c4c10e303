// The ServiceTimes of a monitor say how long its contenders take to come forward by one place, as this process has seen
// it: from it follows how long a new one would wait.
//
// Each wait of a contender of ours that began at a known place is a sample, whoever was served meanwhile. The mean over
// the last places is taken, since waits are refused by it (Monitor::admit()): a cautious bound would refuse too little
// of what waits in vain, and those that are let in keep the samples coming. Each class has its own, as others may come
// before the background only.
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
  // Less than this says nothing.
  static constexpr std::size_t least_places = 16;
  static constexpr std::size_t kept_places = 64;

  // A contender has waited for so long, and come forward by so many places meanwhile. None: a wait that is longer than
  // the mean is at least one.
  void add(base::Duration waited, std::size_t places);
  // How long it takes to come forward by so many. Nothing as long as too little is known.
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
