// The end of an epoch: what a leader had proposed and nobody had been told of may be lost with it, rightly, and be in
// logs all the same.
#pragma once

#include "robustness/check/history.h"

namespace forelock::robustness {

// Removes from the log what later transactions contradict (the numbers below a monitor went back), with all that
// follows in its epoch, unless a client had been told of it or of something later in that epoch: that stays, for
// consistent_log().
void settle_log(History& history);

}  // namespace forelock::robustness
