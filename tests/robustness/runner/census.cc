#include "robustness/runner/census.h"

#include "robustness/runner/process_use.h"

namespace forelock::robustness {

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
