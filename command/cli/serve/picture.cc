#include "cli/serve/picture.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/monitors/views_json.h"
#include "cli/monitors/views_text.h"
#include "cli/serve/order_json.h"
#include "client/monitor_reading.h"

namespace forelock::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t max_trees = 50;

MonitorsById active_of(const std::vector<MonitorView>& monitors) {
  MonitorsById active;
  for (const MonitorView& view : monitors) {
    if (view.holder || !view.queue.empty()) active.emplace(view.monitor, client::summary_of(view));
  }
  return active;
}

void take_out_session(Json& one) {
  if (one.is_object()) one.erase("session");
}

Json party_json(const Party& party) {
  Json holds = Json::array();
  for (const Party::Hold& hold : party.holds)
    holds.push_back({{"monitor", hold.monitor}, {"held_ms", hold.held.count()}});
  Json waits = Json::array();
  for (const Party::Wait& wait : party.waits) {
    waits.push_back({{"monitor", wait.monitor}, {"position", wait.position}, {"waited_ms", wait.waited.count()}});
  }
  return {{"who", party.who}, {"info", party.info}, {"holds", holds}, {"waits", waits}};
}

Json tree_json(const Blocking& blocking, const BlockingTree& tree) {
  Json json = party_json(blocking.parties()[tree.party]);
  if (tree.in_ring) json["in_ring"] = true;
  if (tree.repeated) json["repeated"] = true;
  if (tree.left_out > 0) json["left_out"] = tree.left_out;
  Json waiting = Json::array();
  for (const BlockingTree& below : tree.waiting) waiting.push_back(tree_json(blocking, below));
  json["waiting"] = std::move(waiting);
  return json;
}

Json weighed_tree_json(const Blocking& blocking, std::size_t root) {
  Json json = tree_json(blocking, blocking.tree(root));
  const Weight weight = blocking.weight(root);
  json["blocked"] = weight.parties;
  json["depth"] = weight.depth;
  json["longest_wait_ms"] = weight.longest.count();
  return json;
}

}  // namespace

bool is_overdue_at(const std::optional<HolderView>& holder, WallTime now) {
  if (!holder || !holder->owner) return false;
  const auto passed = [now](const std::optional<WallTime>& time) { return time && now >= *time; };
  return is_overdue(holder) || passed(holder->owner->alert_at) || passed(holder->owner->auto_unlock_at);
}

Picture::Picture(std::vector<MonitorView> monitors, std::size_t not_permitted, Steady begun, WallTime wall,
                 std::chrono::milliseconds fresh_for, Paces::ByMonitor paces, std::vector<OrderWarning> warnings)
    : monitors_(std::move(monitors)),
      active_(active_of(monitors_)),
      blocking_(monitors_),
      not_permitted_(not_permitted),
      begun_(begun),
      wall_(wall),
      fresh_for_(fresh_for),
      paces_(std::move(paces)),
      warnings_(std::move(warnings)) {}

const MonitorView* Picture::find(const std::string& monitor) const {
  const auto place = std::lower_bound(monitors_.begin(), monitors_.end(), monitor,
                                      [](const MonitorView& view, const std::string& id) { return view.monitor < id; });
  return place == monitors_.end() || place->monitor != monitor ? nullptr : &*place;
}

bool Picture::overdue(const MonitorSummary& monitor) const {
  return is_overdue_at(monitor.holder, wall_);
}

Json Picture::row(const MonitorSummary& monitor) const {
  Json json = json_of(monitor);
  take_out_session(json["holder"]);
  if (monitor.holder) json["holder"]["overdue"] = overdue(monitor);
  return json;
}

Json Picture::rows() const {
  Json rows = Json::array();
  for (const auto& [id, summary] : active_) rows.push_back(row(summary));
  return rows;
}

Json Picture::view(const MonitorView& monitor, bool with_sessions) const {
  Json json = json_of(monitor);
  if (!with_sessions) {
    take_out_session(json["holder"]);
    for (Json& waiter : json["queue"]) take_out_session(waiter);
  }
  if (monitor.holder) json["holder"]["overdue"] = is_overdue_at(monitor.holder, wall_);
  if (const auto pace = paces_.find(monitor.monitor); pace != paces_.end()) {
    add_expected_waits(json, pace->second);
  }
  const AfterRelease after = blocking_.after_release(monitor);
  Json next(nullptr);
  if (after.next) {
    const Party& party = blocking_.parties()[*after.next];
    next = {{"who", party.who}, {"info", party.info}, {"node", monitor.queue.front().node}};
  }
  json["if_released"] = {
      {"next", next}, {"moving_up", after.moving_up}, {"kept", after.kept}, {"needed", after.needed}};
  return json;
}

Json Picture::chains() const {
  Json rings = Json::array();
  Json trees = Json::array();
  for (const auto& ring : blocking_.rings()) {
    Json parties = Json::array();
    for (const std::size_t party : ring) parties.push_back(party_json(blocking_.parties()[party]));
    rings.push_back({{"sentence", blocking_.ring_sentence(ring)}, {"parties", parties}});
    trees.push_back(weighed_tree_json(blocking_, ring.front()));
  }
  for (const std::size_t root : blocking_.roots()) {
    if (trees.size() >= max_trees) break;
    trees.push_back(weighed_tree_json(blocking_, root));
  }
  const std::optional<std::string> worst = blocking_.worst();
  return {{"worst", worst ? Json(*worst) : Json(nullptr)},
          {"rings", rings},
          {"trees", trees},
          {"roots", blocking_.roots().size()}};
}

Json Picture::orders() const {
  Json warnings = Json::array();
  for (const OrderWarning& warning : warnings_) warnings.push_back(json_of(warning));
  return {{"warnings", warnings}};
}

}  // namespace forelock::cli
