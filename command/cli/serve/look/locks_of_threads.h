// All locks of the threads that have got one, or wait for one more, since the last picture: what LockOrders looks at.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "cli/serve/look/sighting.h"

namespace forelock::cli {

// The monitors at which these threads hold or wait, whole, as they are at that time. The records of all others are left
// out, since not everything that they have is among them. `changed`: where to look for such threads; nullptr:
// everywhere.
std::vector<MonitorView> locks_of_threads(const Sightings& monitors, const std::set<std::string>* changed,
                                          WallTime now);

}  // namespace forelock::cli
