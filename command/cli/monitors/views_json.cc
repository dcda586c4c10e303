#include "cli/monitors/views_json.h"

#include <nlohmann/json.hpp>

#include "cli/monitors/paces.h"
#include "records/session_text.h"

namespace forelock::cli {
namespace {

using Json = nlohmann::ordered_json;

Json json_or_null(const std::optional<OwnerRecord>& owner) {
  return owner ? Json::parse(owner->to_json()) : Json(nullptr);
}

Json json_or_null(const std::optional<Priority>& priority) {
  return priority ? Json(std::string(name_of(*priority))) : Json(nullptr);
}

Json or_null(const std::optional<HolderView>& holder) {
  return holder ? cli::json_of(*holder) : Json(nullptr);
}

}  // namespace

Json json_of(const HolderView& holder) {
  return {{"owner", json_or_null(holder.owner)},
          {"priority", json_or_null(holder.priority)},
          {"node", holder.node ? Json(*holder.node) : Json(nullptr)},
          {"session", records::session_text(holder.session)},
          {"token", std::to_string(holder.token)},  // as text: JSON numbers lose what is past 2^53
          {"held_ms", holder.held.count()}};
}

Json json_of(const WaiterView& waiter) {
  return {{"position", waiter.position},
          {"node", waiter.node},
          {"priority", json_or_null(waiter.priority)},
          {"owner", json_or_null(waiter.owner)},
          {"session", records::session_text(waiter.session)},
          {"waited_ms", waiter.waited.count()},
          {"behind", waiter.behind}};
}

Json json_of(const MonitorView& monitor) {
  Json queue = Json::array();
  for (const WaiterView& waiter : monitor.queue) queue.push_back(json_of(waiter));
  return {{"monitor", monitor.monitor}, {"path", monitor.path}, {"holder", or_null(monitor.holder)}, {"queue", queue}};
}

void add_expected_waits(Json& monitor, std::chrono::nanoseconds pace) {
  for (Json& waiter : monitor["queue"]) {
    waiter["expected_wait_ms"] = Paces::expected_wait(waiter["position"].get<std::size_t>(), pace).count();
  }
}

Json json_of(const LockSetView& set) {
  return {{"id", set.id},
          {"size", set.size},
          {"members", set.members},
          {"held", set.held},
          {"held_count", set.held_count},
          {"waits_for", set.waits_for ? Json(*set.waits_for) : Json(nullptr)},
          {"behind", or_null(set.behind)}};
}

Json json_of(const MonitorSummary& summary) {
  return {{"monitor", summary.monitor},
          {"holder", or_null(summary.holder)},
          {"waiting", {{"foreground", summary.waiting_foreground}, {"background", summary.waiting_background}}},
          {"oldest_wait_ms", summary.oldest_wait ? Json(summary.oldest_wait->count()) : Json(nullptr)}};
}

Json json_of(const std::vector<MonitorSummary>& summaries) {
  Json monitors = Json::array();
  for (const MonitorSummary& summary : summaries) monitors.push_back(json_of(summary));
  return {{"monitors", monitors}};
}

}  // namespace forelock::cli
