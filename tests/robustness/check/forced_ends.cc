#include "robustness/check/forced_ends.h"

namespace forelock::robustness {

ForcedEnds::ForcedEnds(const History& history) {
  for (const Fault& fault : history.faults) {
    if (fault.deleted) deletions_[node_of(fault.monitor, *fault.deleted)].push_back(fault.begin);
    if (fault.session != 0) ended_.try_emplace(fault.session, fault.begin);
  }
  for (auto& [node, times] : deletions_) std::sort(times.begin(), times.end());
  replay(history.log);
}

void ForcedEnds::replay(const std::vector<LoggedChange>& log) {
  std::map<Node, Grant> nodes;
  for (const LoggedChange& change : log) {
    if (change.is_lock) {
      if (change.guid != 0) grants_[{change.monitor, change.zxid}] = {change.guid, change.session};
      continue;
    }
    const Node node = node_of(change.monitor, change.place);
    if (change.type == LoggedChange::Type::create) {
      nodes[node] = {change.guid, change.session};
    } else if (change.type == LoggedChange::Type::remove) {
      const auto removed = nodes.find(node);
      if (removed == nodes.end()) continue;
      if (removed->second.session != change.session) robbed_.emplace(removed->second.guid, node);
      nodes.erase(removed);
    }
  }
}

Instant ForcedEnds::begin(const Grant& grant, Instant by) const {
  if (const auto end = ended_.find(grant.session); end != ended_.end() && end->second <= by) return end->second;
  const auto robbed = robbed_.find(grant.guid);
  if (robbed == robbed_.end()) return never;
  const auto times = deletions_.find(robbed->second);
  if (times == deletions_.end()) return never;
  const auto after = std::upper_bound(times->second.begin(), times->second.end(), by);
  return after == times->second.begin() ? never : *std::prev(after);
}

Interval ForcedEnds::blind(const Process& holder, std::uint32_t monitor, std::int64_t token, Instant by) const {
  const auto grant = grants_.find({monitor, token});
  if (token == 0 || grant == grants_.end()) return {never, never};
  const Instant from = begin(grant->second, by);
  return {from, from == never ? never : from + holder.session_timeout};
}

}  // namespace forelock::robustness
