#include "robustness/runner/census.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>

namespace forelock::robustness {
namespace {

namespace fs = std::filesystem;

struct Use {
  std::int64_t memory_kib = 0;
  std::int64_t descriptors = 0;
  std::int64_t threads = 0;
};

// Nothing if the process is gone.
std::optional<Use> use_of(pid_t process) {
  const fs::path directory = "/proc/" + std::to_string(process);
  std::ifstream status(directory / "status");
  Use use;
  for (std::string line; std::getline(status, line);) {
    std::istringstream words(line);
    std::string key;
    words >> key;
    if (key == "VmRSS:") words >> use.memory_kib;
    if (key == "Threads:") words >> use.threads;
  }
  std::error_code gone;
  const fs::directory_iterator descriptors(directory / "fd", gone);
  if (gone || use.memory_kib == 0) return std::nullopt;
  use.descriptors = std::distance(begin(descriptors), end(descriptors));
  return use;
}

}  // namespace

void record_use(const Cluster& cluster, const std::vector<ClientProcess*>& clients, HistoryWriter& history) {
  for (ClientProcess* client : clients) {
    const std::string name = client->process();
    const auto process = client->id();
    const auto use = process ? use_of(*process) : std::nullopt;
    if (!use) continue;
    history.event("sample")
        .add("target", name)
        .add("memory_kib", use->memory_kib)
        .add("descriptors", use->descriptors)
        .add("threads", use->threads);
  }
  std::int64_t watches = 0;
  std::int64_t nodes = 0;
  for (std::size_t i = 0; i < Cluster::size; ++i) {
    const std::int64_t here = cluster.server(i).counter("zk_watch_count");
    if (here < 0) return;
    watches += here;
    nodes = std::max(nodes, cluster.server(i).counter("zk_znode_count"));
  }
  history.event("sample").add("target", "servers").add("watches", watches).add("nodes", nodes);
}

}  // namespace forelock::robustness
