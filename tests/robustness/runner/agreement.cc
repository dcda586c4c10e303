#include "robustness/runner/agreement.h"

namespace forelock::robustness {
namespace {

const std::string prefix = "snapshot.";

std::int64_t epoch_of(std::int64_t zxid) {
  return zxid >> 32;
}

}  // namespace

void Agreement::add(std::size_t server, const std::filesystem::path& directory) {
  for (const auto& file : std::filesystem::recursive_directory_iterator(directory)) {
    const std::string name = file.path().filename().string();
    if (name.starts_with(prefix)) snapshots_.push_back({std::stoll(name.substr(prefix.size()), nullptr, 16), server});
  }
}

// A snapshot of a later epoch says nothing: what was between may have been given up.
bool Agreement::reached(std::int64_t zxid, const ServerSet& logs_with_it) const {
  if (logs_with_it.count() * 2 > Cluster::size) return true;
  return std::any_of(snapshots_.begin(), snapshots_.end(), [&](const Snapshot& snapshot) {
    return snapshot.zxid >= zxid && epoch_of(snapshot.zxid) == epoch_of(zxid) && !logs_with_it.test(snapshot.server);
  });
}

}  // namespace forelock::robustness
