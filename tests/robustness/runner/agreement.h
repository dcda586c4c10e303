// Which transactions in the servers' logs happened, and which a leader proposed before it died with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace forelock::robustness {

// A transaction that a majority has logged has happened. So has one that some server had when it took a snapshot: a
// server that joins is often given a snapshot instead of the transactions, and never logs them. What is in fewer logs,
// and in no snapshot, was lost with its leader.
class Agreement {
 public:
  // Looks for snapshots in these directories and below.
  Agreement(std::size_t servers, const std::vector<std::filesystem::path>& directories);

  bool reached(std::int64_t zxid, std::size_t logs_with_it) const;

 private:
  const std::size_t servers_;
  std::vector<std::int64_t> snapshots_;  // the last transaction that each has; sorted
};

}  // namespace forelock::robustness
