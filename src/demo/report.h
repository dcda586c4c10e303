// The results of both phases.
#pragma once

#include <ostream>

#include "demo/phase.h"
#include "demo/style.h"

namespace forelock::demo {

// Writes the table of waits and the checks. Returns whether every check passed.
bool report(std::ostream& out, const Style& style, const PhaseResult& priorities, const PhaseResult& one_queue,
            const StoreVerdict& store);

}  // namespace forelock::demo
