#include "robustness/runner/agreement.h"

#include <algorithm>
#include <string>

namespace forelock::robustness {
namespace {

constexpr const char* prefix = "snapshot.";

std::int64_t epoch_of(std::int64_t zxid) {
  return zxid >> 32;
}

}  // namespace

Agreement::Agreement(std::size_t servers, const std::vector<std::filesystem::path>& directories) : servers_(servers) {
  for (const auto& directory : directories) {
    for (const auto& file : std::filesystem::recursive_directory_iterator(directory)) {
      const std::string name = file.path().filename().string();
      if (name.starts_with(prefix))
        snapshots_.push_back(std::stoll(name.substr(std::string(prefix).size()), nullptr, 16));
    }
  }
  std::sort(snapshots_.begin(), snapshots_.end());
}

// A snapshot of a later epoch says nothing: the transactions between may have been given up.
bool Agreement::reached(std::int64_t zxid, std::size_t logs_with_it) const {
  if (logs_with_it * 2 > servers_) return true;
  const auto snapshot = std::lower_bound(snapshots_.begin(), snapshots_.end(), zxid);
  return snapshot != snapshots_.end() && epoch_of(*snapshot) == epoch_of(zxid);
}

}  // namespace forelock::robustness
