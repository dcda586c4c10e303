// A machine that is suspended: the clock that goes on meanwhile jumps.
#pragma once

#include "support/standard.h"

namespace forelock::test {

// From now on CLOCK_BOOTTIME is ahead by so much more. The other clocks stay as they are.
void suspend_for(std::chrono::nanoseconds time);

}  // namespace forelock::test
