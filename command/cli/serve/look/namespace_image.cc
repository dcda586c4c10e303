#include "cli/serve/look/namespace_image.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>
#include <unordered_set>

#include "lock/child_name.h"
#include "lock/monitor_name.h"

namespace forelock::cli {
namespace {

using coordination::Reply;

std::size_t hash_of(const RecordTexts& texts) {
  std::size_t hash = texts.stack.size();
  const auto add = [&hash](const std::string& text) {
    hash = (hash ^ std::hash<std::string>()(text)) * 0x9e3779b97f4a7c15U;
  };
  for (const std::string& text : texts.stack) add(text);
  for (const std::string& text : texts.set_members) add(text);
  return hash;
}

bool has_lock(const std::vector<std::string>& children) {
  return std::find(children.begin(), children.end(), lock::private_lock_name) != children.end();
}

// Of a contender that has not been read again: as it was when it waited at this place; else as it was when it held, if
// nothing has changed since.
std::optional<client::ContenderNode> node_as_before(const std::string& contender, const Sighting& before,
                                                    std::optional<std::size_t> place, bool same) {
  client::ContenderNode node{contender, {}, {}};
  if (place) {
    const WaiterView& waiter = before.view().queue[*place];
    node.stat.ephemeral_owner = waiter.session;
    node.stat.ctime_ms = (before.at() - waiter.waited).time_since_epoch().count();
    node.record = waiter.owner;
  } else if (same && before.view().holder && before.view().holder->node == contender) {
    node.stat.ephemeral_owner = before.view().holder->session;
    node.record = before.view().holder->owner;
  } else {
    return std::nullopt;
  }
  return node;
}

}  // namespace

bool NamespaceImage::is_same(const Known& known, const coordination::Stat& stat) const {
  return known.created == stat.czxid && known.children_version == stat.cversion &&
         known.last_child_change == stat.pzxid;
}

NamespaceImage::Reading NamespaceImage::begin(std::string name, Reply listing) const {
  Reading reading{std::move(name), std::move(listing), {}, {}};
  const std::vector<std::string>& children = reading.listing.children;
  const auto known = known_.find(reading.name);
  const bool is_known = known != known_.end() && known->second.created == reading.listing.stat.czxid;
  const SharedSighting before = is_known ? known->second.sighting : nullptr;
  const bool same = is_known && is_same(known->second, reading.listing.stat);
  if (has_lock(children)) {
    const bool may_go_on = before && before->view().holder && before->view().holder->owner &&
                           (before->view().holder->owner->alert_at || before->view().holder->owner->auto_unlock_at);
    if (!same || may_go_on) reading.wanted.emplace_back(lock::private_lock_name);
  }
  if (same || !client::has_lock_nodes(children, settings_)) return reading;
  std::unordered_set<std::string_view> waiting;
  if (before) {
    for (const WaiterView& waiter : before->view().queue) waiting.insert(waiter.node);
  }
  for (std::string& contender : client::contender_names(children)) {
    if (!waiting.contains(contender)) reading.wanted.push_back(std::move(contender));
  }
  return reading;
}

bool NamespaceImage::wants_watch(const Reply& private_lock) {
  return private_lock.ok() && (private_lock.data.find("\"alertAt\"") != std::string::npos ||
                               private_lock.data.find("\"autoUnlockAt\"") != std::string::npos);
}

std::string NamespaceImage::closed_node(const Reading& reading) {
  for (std::size_t i = 0; i < reading.nodes.size(); ++i) {
    if (reading.nodes[i].code == coordination::ReplyCode::no_auth) return reading.wanted[i];
  }
  return {};
}

bool NamespaceImage::end(Reading reading, WallTime now) {
  const coordination::Stat& stat = reading.listing.stat;
  Known& known = known_[reading.name];
  const bool same = is_same(known, stat);
  if (same && reading.wanted.empty()) return false;
  const SharedSighting shown = known.sighting;
  const SharedSighting before = known.created == stat.czxid ? shown : nullptr;

  std::unordered_map<std::string_view, std::size_t> place;  // in the queue that is known
  if (before) {
    const auto& queue = before->view().queue;
    for (std::size_t i = 0; i < queue.size(); ++i) place.emplace(queue[i].node, i);
  }
  client::MonitorReading nodes;
  std::unordered_map<std::string_view, Reply*> read;
  for (std::size_t i = 0; i < reading.wanted.size(); ++i) read.emplace(reading.wanted[i], &reading.nodes[i]);
  if (const auto found = read.find(lock::private_lock_name); found != read.end() && found->second->ok())
    nodes.private_lock = std::move(*found->second);
  const std::vector<std::string> contenders = client::contender_names(reading.listing.children);
  if (same) {
    // Only the lock has been read: all others are as they were.
    const auto& holder = before->view().holder;
    if (!nodes.private_lock || (holder->version == nodes.private_lock->stat.version &&
                                holder->session == nodes.private_lock->stat.ephemeral_owner))
      return false;
  }
  for (const std::string& contender : contenders) {
    std::optional<client::ContenderNode> node;
    if (const auto found = read.find(contender); found != read.end()) {
      if (!found->second->ok()) continue;  // it has gone meanwhile
      node = client::ContenderNode{contender, found->second->stat, OwnerRecord::from_json(found->second->data)};
    } else if (before) {
      const auto waits = place.find(contender);
      node =
          node_as_before(contender, *before, waits == place.end() ? std::nullopt : std::optional(waits->second), same);
    }
    if (node) nodes.contenders.push_back(*std::move(node));
  }

  const std::string id = lock::decode_monitor_name(reading.name);
  SharedSighting sighting;
  if (client::has_lock_nodes(reading.listing.children, settings_) ||
      client::has_only_lock_nodes(reading.listing.children, settings_)) {
    MonitorView view = client::view_of(id, '/' + reading.name, nodes, settings_, now);
    view.next_sequence = stat.created_children();
    sighting = std::make_shared<const Sighting>(
        std::move(view), now, [&](const std::string& node, OwnerRecord& record) -> SharedTexts {
          RecordTexts texts = take_texts(record);
          if (!texts.stack.empty() || !texts.set_members.empty()) return shared(std::move(texts));
          const auto waited = place.find(node);
          return waited == place.end() ? nullptr : before->texts(waited->second);
        });
  }
  known = {sighting, stat.czxid, stat.cversion, stat.pzxid};
  if (!sighting && !shown) return true;
  changed_.insert(id);
  changed_since_.insert(id);
  by_id_[id] = std::move(sighting);
  return true;
}

SharedTexts NamespaceImage::shared(RecordTexts texts) {
  if (texts_.size() > texts_to_clear_) {
    std::erase_if(texts_, [](const auto& kept) { return kept.second.expired(); });
    texts_to_clear_ = std::max<std::size_t>(1024, 2 * texts_.size());
  }
  std::weak_ptr<const RecordTexts>& kept = texts_[hash_of(texts)];
  if (SharedTexts equal = kept.lock(); equal && *equal == texts) return equal;
  auto made = std::make_shared<const RecordTexts>(std::move(texts));
  kept = made;
  return made;
}

void NamespaceImage::read_all_anew() {
  constexpr std::int64_t never = -1;
  for (auto& [name, known] : known_) known.created = never;
}

void NamespaceImage::forget(const std::string& name) {
  if (const auto known = known_.find(name); known != known_.end()) forget(known);
}

void NamespaceImage::forget(ByName::iterator known) {
  if (known->second.sighting) {
    const std::string& id = known->second.sighting->monitor();
    changed_.insert(id);
    changed_since_.insert(id);
    by_id_[id] = nullptr;
  }
  known_.erase(known);
}

void NamespaceImage::keep(const std::vector<std::string>& names) {
  const std::unordered_set<std::string_view> kept(names.begin(), names.end());
  for (auto known = known_.begin(); known != known_.end();) {
    const auto here = known++;
    if (!kept.contains(here->first)) forget(here);
  }
}

std::set<std::string> NamespaceImage::take_changed() {
  return std::exchange(changed_, {});
}

std::shared_ptr<const Sightings> NamespaceImage::sightings() {
  if (changed_since_.empty()) return sightings_;
  Sightings merged;
  merged.reserve(sightings_->size() + changed_since_.size());
  auto old = sightings_->begin();
  for (const std::string& id : changed_since_) {
    for (; old != sightings_->end() && (*old)->monitor() < id; ++old) merged.push_back(*old);
    if (old != sightings_->end() && (*old)->monitor() == id) ++old;
    if (const SharedSighting& now = by_id_[id]) merged.push_back(now);
  }
  merged.insert(merged.end(), old, sightings_->end());
  changed_since_.clear();
  by_id_.clear();
  sightings_ = std::make_shared<const Sightings>(std::move(merged));
  return sightings_;
}

}  // namespace forelock::cli
