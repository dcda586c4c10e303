// Loads of many locks at once over one client, beyond those of forelock bench.
#pragma once

#include <string>

#include "forelock/client.h"
#include "workload/job.h"

namespace forelock::bench {

// One section takes the locks of all of the job's monitors, and gives them back: as a lock set ("set"), with requests
// that do not wait for each other ("pipelined"), or one lock after the other ("one by one"); or as a lock set of a
// random tenth of them ("tenth"). With `fresh` each section has monitors of its own. \throws std::invalid_argument for
// another way, and what an acquisition fails with.
workload::JobResult run_together(Client& client, const workload::Job& job, const std::string& way);

// As many sections at a time as the job has monitors, by callbacks; each has a monitor of its own. \throws what an
// acquisition failed with, the first of it.
workload::JobResult run_fresh(Client& client, const workload::Job& job);

}  // namespace forelock::bench
