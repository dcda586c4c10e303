// Cuts a failing schedule down to what it takes to fail.
#pragma once

#include "invariant.h"
#include "plan.h"

namespace forelock::simulation {

// The smallest plan found that still violates this invariant.
Plan shrink(Plan plan, Invariant invariant);

}  // namespace forelock::simulation
