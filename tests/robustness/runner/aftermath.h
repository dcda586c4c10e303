// The state of the servers after a run.
#pragma once

#include "robustness/history/history_writer.h"
#include "robustness/runner/administrator.h"
#include "robustness/runner/cluster.h"

namespace forelock::robustness {

// Whether no contender's node and no privateLock is there.
bool nothing_remains(Administrator& administrator, const std::string& chroot);

// Writes down every contender's node and privateLock that is left. `sessions` says whether clients are still connected:
// "open" or "gone". \returns how many, or -1 if the servers do not answer.
int record_remaining(Administrator& administrator, const std::string& chroot, std::string_view sessions,
                     HistoryWriter& history);

// Writes down what was done to the nodes of monitors, and every session's end, as the servers' logs have it. The
// servers must not run any more.
struct LoggedCounts {
  std::size_t transactions = 0;
  // Proposed by a leader that died, and never agreed upon.
  std::size_t dropped = 0;
};
LoggedCounts record_transactions(Cluster& cluster, const std::string& chroot, HistoryWriter& history);

}  // namespace forelock::robustness
