#include "cli/monitors/monitor_change.h"

#include <utility>

namespace forelock::cli {
namespace {

// What happened to a monitor; empty if nothing did.
std::string change_of(const MonitorSummary* before, const MonitorSummary& after) {
  const bool held_before = before != nullptr && before->holder;
  if (!held_before && after.holder) return "held";
  if (held_before && !after.holder) return "released";
  if (held_before && before->holder->session != after.holder->session) return "handed_over";
  // The token also moves when a holder says that it goes on; its node does not.
  if (held_before && before->holder->node != after.holder->node) return "handed_over";
  const std::pair now{after.waiting_foreground, after.waiting_background};
  const std::pair then = before == nullptr ? std::pair<std::size_t, std::size_t>{0, 0}
                                           : std::pair{before->waiting_foreground, before->waiting_background};
  return then != now ? "waiting" : "";
}

}  // namespace

std::vector<MonitorChange> changes_between(const MonitorsById& before, const MonitorsById& after) {
  std::vector<MonitorChange> changes;
  for (const auto& [id, summary] : after) {
    const auto then = before.find(id);
    std::string kind = change_of(then == before.end() ? nullptr : &then->second, summary);
    if (!kind.empty()) changes.push_back({std::move(kind), summary});
  }
  for (const auto& [id, summary] : before) {
    if (after.contains(id)) continue;
    MonitorChange gone;
    gone.kind = summary.holder ? "released" : "waiting";
    gone.summary.monitor = id;
    changes.push_back(std::move(gone));
  }
  return changes;
}

}  // namespace forelock::cli
