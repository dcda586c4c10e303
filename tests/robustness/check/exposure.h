// The exposure of a history to each kind of fault: a rule that finds nothing wrong says little of a fault that
// nothing was there to meet.
#pragma once

#include "robustness/check/history.h"

namespace forelock::robustness {

struct Exposure {
  std::size_t faults = 0;
  std::size_t calls = 0;     // acquisitions asked for, waited for, held or released while one lasted, or soon after
  std::size_t accesses = 0;  // of the resource, likewise
};

std::map<std::string, Exposure> exposure(const History& history);

}  // namespace forelock::robustness
