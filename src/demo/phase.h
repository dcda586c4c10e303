// One run of the load: both kinds of work at once, watched live.
#pragma once

#include <string>

#include "demo/site.h"
#include "demo/view.h"
#include "demo/wait_log.h"
#include "forelock/inspector.h"
#include "forelock/priority.h"

namespace forelock::demo {

struct PhaseResult {
  WaitSummary interactive;
  WaitSummary bulk;
  std::size_t failures = 0;
  std::string last_failure;
};

// Runs both loads for Options::duration, or until `interrupted` says so, and shows frames meanwhile. Returns when all
// of the work has ended. `interactive_class` is the class of the interactive locks; bulk work is always background.
PhaseResult run_phase(Site& site, Inspector& inspector, View& view, const std::string& title,
                      Priority interactive_class, bool (*interrupted)());

}  // namespace forelock::demo
