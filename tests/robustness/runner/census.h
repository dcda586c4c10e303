// The resources that the processes of a run use: memory, descriptors, threads; and the nodes they keep on the servers.
#pragma once

#include "robustness/history/history_writer.h"
#include "robustness/runner/client_process.h"
#include "robustness/runner/cluster.h"
#include "support/standard.h"

namespace forelock::robustness {

// Writes one "sample" for each client that runs, and one for the servers together if all of them serve.
void record_use(const Cluster& cluster, const std::vector<ClientProcess*>& clients, HistoryWriter& history);

}  // namespace forelock::robustness
