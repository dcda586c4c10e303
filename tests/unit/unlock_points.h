// Runs something at the points of a call at which its thread has just let go of its last mutex: wherever another thread
// could get in between two critical sections.
#pragma once

#include "support/standard.h"

namespace forelock::test {

// Whether the build permits it: the thread sanitizer needs these functions for itself.
bool unlock_points_work();

// Calls `call`; at its point number `point`, counted from 1, `between` runs on this thread. \returns whether there was
// such a point.
bool run_at_unlock_point(int point, const std::function<void()>& call, const std::function<void()>& between);

}  // namespace forelock::test
