// Agreement of the servers' logs: which transactions happened, and which a leader proposed before it died with them.
#pragma once

#include <bitset>

#include "robustness/runner/cluster.h"

namespace forelock::robustness {

using ServerSet = std::bitset<Cluster::size>;

// A transaction that a majority has logged has happened. So has one that is in a snapshot of a server that has not
// logged it: it was given that snapshot by a leader when it joined, instead of the transactions. What is in fewer logs,
// and in nobody else's snapshot, was lost with its leader (whose own snapshots say nothing: it takes one whenever it
// leads, also if nobody follows).
class Agreement {
 public:
  // Takes account of the snapshots in this directory, and below.
  void add(std::size_t server, const std::filesystem::path& directory);

  bool reached(std::int64_t zxid, const ServerSet& logs_with_it) const;

 private:
  struct Snapshot {
    std::int64_t zxid = 0;  // the last transaction in it
    std::size_t server = 0;
  };
  std::vector<Snapshot> snapshots_;
};

}  // namespace forelock::robustness
