#include "cli/serve/picture.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <tuple>
#include <utility>

#include "cli/monitors/views_json.h"
#include "cli/serve/order_json.h"
#include "client/monitor_reading.h"

namespace forelock::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t max_trees = 50;
constexpr std::size_t max_holds = 50;  // of a party: a set may hold thousands
// Of the rows that are asked for, where there are more.
constexpr std::size_t part_of_unreadable = 10;

// The rows that matter most: those that others wait for, the oldest wait first; then the oldest holds.
bool matters_more(const Sighting& one, const Sighting& other) {
  const auto key = [](const Sighting& monitor) {
    const MonitorView& view = monitor.view();
    WallTime oldest = WallTime::max();
    for (const WaiterView& waiter : view.queue) oldest = std::min(oldest, monitor.at() - waiter.waited);
    const WallTime held = view.holder ? monitor.at() - view.holder->held : WallTime::max();
    return std::tuple(oldest, held);
  };
  const auto first = key(one);
  const auto second = key(other);
  return std::tie(first, one.monitor()) < std::tie(second, other.monitor());
}

std::string lower(std::string text) {
  for (char& letter : text) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return text;
}

std::string words_of(const MonitorView& view) {
  std::string text = view.monitor;
  if (view.holder) {
    if (view.holder->owner) text += ' ' + view.holder->owner->instance + ' ' + view.holder->owner->lock_info;
    if (view.holder->priority) text += ' ' + std::string(name_of(*view.holder->priority));
  }
  return text;
}

bool has_all(std::string text, const std::vector<std::string>& words) {
  text = lower(std::move(text));
  return std::all_of(words.begin(), words.end(),
                     [&text](const std::string& word) { return text.find(lower(word)) != std::string::npos; });
}

std::string row_text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::shared_ptr<const Sightings> seen_at(std::vector<MonitorView> monitors, WallTime wall) {
  Sightings sightings;
  for (MonitorView& view : monitors) sightings.push_back(std::make_shared<const Sighting>(std::move(view), wall));
  return std::make_shared<const Sightings>(std::move(sightings));
}

void take_out_session(Json& one) {
  if (one.is_object()) one.erase("session");
}

Json party_json(const Party& party) {
  Json holds = Json::array();
  for (const Party::Hold& hold : party.holds) {
    if (holds.size() == max_holds) break;
    holds.push_back({{"monitor", hold.monitor}, {"held_ms", hold.held.count()}});
  }
  Json waits = Json::array();
  for (const Party::Wait& wait : party.waits) {
    waits.push_back({{"monitor", wait.monitor}, {"position", wait.position}, {"waited_ms", wait.waited.count()}});
  }
  Json json = {{"who", party.who}, {"info", party.info}, {"holds", holds}, {"waits", waits}};
  if (party.holds.size() > holds.size()) json["holds_left_out"] = party.holds.size() - holds.size();
  return json;
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

Picture::Picture(std::vector<MonitorView> monitors, Steady begun, WallTime wall, std::chrono::milliseconds fresh_for,
                 Paces::ByMonitor paces, std::vector<OrderWarning> warnings)
    : parts_{.sightings = seen_at(std::move(monitors), wall),
             .begun = begun,
             .wall = wall,
             .fresh_for = fresh_for,
             .paces = std::move(paces),
             .warnings = std::make_shared<const std::vector<OrderWarning>>(std::move(warnings))} {}

const Sighting* Picture::find(const std::string& monitor) const {
  const Sightings& all = monitors();
  const auto place =
      std::lower_bound(all.begin(), all.end(), monitor,
                       [](const SharedSighting& sighting, const std::string& id) { return sighting->monitor() < id; });
  return place == all.end() || (*place)->monitor() != monitor ? nullptr : place->get();
}

const std::set<std::string>* Picture::changed_since(std::uint64_t before) const {
  return parts_.changed && before + 1 == parts_.number ? &*parts_.changed : nullptr;
}

const Blocking& Picture::blocking() const {
  if (!blocking_) blocking_.emplace(monitors(), wall());
  return *blocking_;
}

bool Picture::overdue(const Sighting& monitor) const {
  const auto& holder = monitor.view().holder;
  if (!holder || !holder->owner) return false;
  const OwnerRecord& owner = *holder->owner;
  const auto passed = [this](const std::optional<WallTime>& time) { return time && wall() >= *time; };
  return passed(owner.alert_at) || passed(owner.auto_unlock_at) ||
         (owner.expected_runtime && holder->held + monitor.later(wall()) > *owner.expected_runtime);
}

void Picture::date(Json& json, const std::string& monitor) const {
  const auto is_it = [&monitor](const StaleRow& row) { return row.monitor == monitor; };
  const auto stale = std::find_if(parts_.look.stale.begin(), parts_.look.stale.end(), is_it);
  if (stale == parts_.look.stale.end()) return;
  json["live"] = false;
  json["age_ms"] = std::chrono::duration_cast<std::chrono::milliseconds>(begun() - stale->known).count();
}

Json Picture::row(const Sighting& monitor) const {
  Json json = json_of(monitor.summary(wall()));
  take_out_session(json["holder"]);
  if (monitor.view().holder) json["holder"]["overdue"] = overdue(monitor);
  date(json, monitor.monitor());
  return json;
}

Json Picture::row(const std::string& monitor) const {
  const Sighting* const there = find(monitor);
  if (there != nullptr && there->active()) return row(*there);
  MonitorSummary nothing_known;
  nothing_known.monitor = monitor;
  Json json = json_of(nothing_known);
  if (const std::string* const why = why_unreadable(monitor)) json["unreadable"] = *why;
  return json;
}

const Unreadable& Picture::unreadable() const {
  static const Unreadable none;
  return parts_.unreadable ? *parts_.unreadable : none;
}

const std::string* Picture::why_unreadable(const std::string& monitor) const {
  const auto found = unreadable().find(monitor);
  return found == unreadable().end() ? nullptr : &found->second;
}

// Row by row: all of them at once would be a tree of ten times the size of its text.
std::string Picture::rows_text(std::size_t most, const std::vector<std::string>& words) const {
  std::vector<const Sighting*> rows;
  for (const SharedSighting& monitor : monitors()) {
    if (monitor->active() && (words.empty() || has_all(words_of(monitor->view()), words)))
      rows.push_back(monitor.get());
  }
  std::vector<std::string> closed;
  for (const auto& [id, why] : unreadable()) {
    if (has_all(id, words)) closed.push_back(id);
  }
  std::size_t left_out = rows.size() + closed.size();
  // Neither hides the other.
  closed.resize(std::min(closed.size(), std::max(most - std::min(rows.size(), most), most / part_of_unreadable)));
  most -= closed.size();
  if (rows.size() > most) {
    std::nth_element(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(most), rows.end(),
                     [](const Sighting* one, const Sighting* other) { return matters_more(*one, *other); });
    rows.resize(most);
    std::sort(rows.begin(), rows.end(),
              [](const Sighting* one, const Sighting* other) { return one->monitor() < other->monitor(); });
  }
  left_out -= rows.size() + closed.size();
  std::string text = "\"monitors\":[";
  for (const Sighting* monitor : rows) text += (text.back() == '[' ? "" : ",") + row_text(row(*monitor));
  for (const std::string& id : closed) text += (text.back() == '[' ? "" : ",") + row_text(row(id));
  return text + "],\"left_out\":" + std::to_string(left_out);
}

Json Picture::same_process(const MonitorView& monitor) const {
  if (!monitor.holder) return nullptr;
  if (by_session_.empty()) {
    for (const SharedSighting& sighting : monitors()) {
      const MonitorView& view = sighting->view();
      if (view.holder) by_session_[view.holder->session].holds.push_back(&view.monitor);
      for (const WaiterView& waiter : view.queue) {
        auto& waits = by_session_[waiter.session].waits;
        if (waits.empty() || waits.back() != &view.monitor) waits.push_back(&view.monitor);
      }
    }
  }
  std::size_t left_out = 0;
  const auto listed = [&](const std::vector<const std::string*>& ids) {
    Json json = Json::array();
    for (const std::string* id : ids) {
      if (*id == monitor.monitor) continue;
      if (json.size() < max_holds)
        json.push_back(*id);
      else
        ++left_out;
    }
    return json;
  };
  const Locks& locks = by_session_[monitor.holder->session];
  Json json = {{"holds", listed(locks.holds)}, {"waits", listed(locks.waits)}};
  json["left_out"] = left_out;
  return json;
}

Json Picture::view(const Sighting& sighting, bool with_sessions, std::size_t most) const {
  const MonitorView monitor = sighting.full(wall(), most);
  Json json = json_of(monitor);
  if (!with_sessions) {
    take_out_session(json["holder"]);
    for (Json& waiter : json["queue"]) take_out_session(waiter);
  }
  if (monitor.holder) json["holder"]["overdue"] = overdue(sighting);
  if (const auto pace = parts_.paces.find(monitor.monitor); pace != parts_.paces.end()) {
    add_expected_waits(json, pace->second);
  }
  const AfterRelease after = blocking().after_release(sighting.view());
  Json next(nullptr);
  if (after.next) {
    const Party& party = blocking().parties()[*after.next];
    next = {{"who", party.who}, {"info", party.info}, {"node", sighting.view().queue.front().node}};
  }
  json["if_released"] = {
      {"next", next}, {"moving_up", after.moving_up}, {"kept", after.kept}, {"needed", after.needed}};
  json["left_out"] = sighting.view().queue.size() - monitor.queue.size();
  json["same_process"] = same_process(monitor);
  date(json, monitor.monitor);
  return json;
}

Json Picture::chains() const {
  Json rings = Json::array();
  Json trees = Json::array();
  for (const auto& ring : blocking().rings()) {
    Json parties = Json::array();
    for (const std::size_t party : ring) parties.push_back(party_json(blocking().parties()[party]));
    rings.push_back({{"sentence", blocking().ring_sentence(ring)}, {"parties", parties}});
    trees.push_back(weighed_tree_json(blocking(), ring.front()));
  }
  for (const std::size_t root : blocking().roots()) {
    if (trees.size() >= max_trees) break;
    trees.push_back(weighed_tree_json(blocking(), root));
  }
  const std::optional<std::string> worst = blocking().worst();
  return {{"worst", worst ? Json(*worst) : Json(nullptr)},
          {"rings", rings},
          {"trees", trees},
          {"roots", blocking().roots().size()}};
}

const std::vector<OrderWarning>& Picture::warnings() const {
  static const std::vector<OrderWarning> none;
  return parts_.warnings ? *parts_.warnings : none;
}

Json Picture::look_json() const {
  const LookState& look = parts_.look;
  Json stale = Json::array();
  for (const StaleRow& row : look.stale) {
    const auto age = std::chrono::duration_cast<std::chrono::milliseconds>(begun() - row.known);
    stale.push_back({{"monitor", row.monitor}, {"age_ms", age.count()}});
  }
  const char* const mode = look.sampled == 0 ? "watches" : look.watched == 0 ? "samples" : "both";
  return {{"mode", mode}, {"watched", look.watched}, {"sampled", look.sampled}, {"stale", stale}};
}

Json Picture::orders() const {
  Json warnings = Json::array();
  for (const OrderWarning& warning : this->warnings()) warnings.push_back(json_of(warning));
  return {{"warnings", warnings}};
}

}  // namespace forelock::cli
