#include "robustness/runner/scene.h"

namespace forelock::robustness {

ClientProcess* Scene::any_client(Strike& strike, const std::function<bool(const ClientProcess&)>& condition) const {
  const auto inside = resource.processes_inside();
  std::vector<ClientProcess*> eligible;
  std::vector<ClientProcess*> holders;
  for (const auto& each : clients) {
    if ((condition && !condition(*each)) || !each->running()) continue;
    eligible.push_back(each.get());
    if (inside.contains(each->process())) holders.push_back(each.get());
  }
  if (!holders.empty() && strike.chance(0.7)) return strike.one_of(holders);
  return eligible.empty() ? nullptr : strike.one_of(eligible);
}

}  // namespace forelock::robustness
