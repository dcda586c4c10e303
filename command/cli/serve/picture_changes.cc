#include "cli/serve/picture_changes.h"

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>

#include "cli/monitors/monitor_change.h"
#include "cli/serve/order_json.h"
#include "records/wall_time.h"

namespace forelock::cli {
namespace {

std::string event_text(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

class Teller {
 public:
  explicit Teller(const Picture& picture) : picture_(picture), at_(records::format_wall_time(picture.wall())) {}

  void tell(const std::string& kind, const std::string& id) {
    nlohmann::ordered_json json = {{"event", kind}, {"at", at_}};
    json.update(picture_.row(id));
    events.push_back({"change", event_text(json)});
  }

  std::vector<web::Event> events;

 private:
  const Picture& picture_;
  const std::string at_;
};

void tell_changes(const Picture& before, const Picture& now, const std::set<std::string>& changed, Teller& teller) {
  MonitorsById then;
  MonitorsById after;
  for (const std::string& id : changed) {
    const bool is_closed = now.why_unreadable(id) != nullptr;
    if (is_closed != (before.why_unreadable(id) != nullptr)) teller.tell(is_closed ? "unreadable" : "readable", id);
    if (is_closed) continue;  // what has become of its holder is not known
    const Sighting* const was = before.find(id);
    const Sighting* const is = now.find(id);
    if (was != nullptr && was->active()) then.emplace(id, was->summary(before.wall()));
    if (is != nullptr && is->active()) after.emplace(id, is->summary(now.wall()));
  }
  for (const MonitorChange& change : changes_between(then, after)) teller.tell(change.kind, change.summary.monitor);
}

}  // namespace

std::vector<web::Event> changes_between(const Picture& before, const Picture& now) {
  Teller teller(now);
  if (const auto* const changed = now.changed_since(before.number())) tell_changes(before, now, *changed, teller);
  for (const SharedSighting& monitor : now.monitors()) {
    if (!now.overdue(*monitor)) continue;
    const Sighting* const was = before.find(monitor->monitor());
    if (was == nullptr || !before.overdue(*was)) teller.tell("overdue", monitor->monitor());
  }
  std::vector<web::Event> events = std::move(teller.events);
  if (now.warnings().empty()) return events;
  std::set<std::string> known;
  for (const OrderWarning& warning : before.warnings()) known.insert(sentence_of(warning));
  for (const OrderWarning& warning : now.warnings()) {
    if (!known.contains(sentence_of(warning))) events.push_back({"lock_order", event_text(json_of(warning))});
  }
  return events;
}

}  // namespace forelock::cli
