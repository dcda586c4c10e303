#include "cli/serve/look/watch_plan.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

namespace forelock::cli {
namespace {

// What its watch, and that of its lock, take in the request by which they are asked for again.
std::size_t watch_bytes(const std::string& name) {
  constexpr std::size_t lock_bytes = 12;  // "/privateLock"
  return 2 * (1 + name.size() + sizeof(std::int32_t)) + lock_bytes;
}

}  // namespace

void WatchPlan::session_begins(Time now) {
  watched_ = watched_bytes_ = 0;
  unseen_ = nodes_.size() + 1;
  for (Nodes* nodes : {&root_, &nodes_}) {
    for (Nodes::value_type& node : *nodes) {
      Node& state = node.second;
      if (state.watched) state.known = std::max(state.listed, proved_);
      state.watched = state.seen = state.refused = false;
      list_at(node, now);
    }
  }
}

void WatchPlan::set_names(const std::vector<std::string>& names, Time now) {
  const std::unordered_set<std::string_view> there(names.begin(), names.end());
  for (auto node = nodes_.begin(); node != nodes_.end();) {
    const auto here = node++;
    if (!there.contains(here->first)) forget(here);
  }
  for (const std::string& name : names) {
    const auto [place, is_new] = nodes_.try_emplace(name);
    if (!is_new) continue;
    ++unseen_;
    place->second.known = now;
    list_at(*place, now);
  }
}

void WatchPlan::changed(const std::string& name, Time now) {
  Nodes::value_type* const found = find(name);
  if (found == nullptr || !found->second.watched) return;  // what is not watched is due, or will be
  Node& node = found->second;
  take_watch(*found);
  node.known = std::max(node.listed, proved_);  // the event may have been late
  fired(node, now);
  const auto soonest = node.listed + std::chrono::duration_cast<Time::duration>(pace_of(name));
  list_at(*found, std::max<Time>(now + options_.settling, soonest));
}

// The watch was in place since the node was listed.
void WatchPlan::fired(Node& node, Time now) {
  const auto lasted = now - node.listed;
  node.firings = lasted > 2 * options_.pace ? std::uint8_t{0} : static_cast<std::uint8_t>(node.firings + 1);
  if (lasted > forgiven_after) node.quiet_needed = least_quiet;
  if (node.firings < most_firings) return;
  node.sampled = true;
  node.firings = node.quiet = 0;
}

std::vector<WatchPlan::Listing> WatchPlan::next(Time now, std::size_t most) {
  std::vector<Listing> listings;
  while (!due_.empty() && due_.begin()->first <= now && listings.size() < most) {
    Nodes::value_type& node = *due_.begin()->second;
    not_due(node);
    const bool room = node.first.empty() || watched_bytes_ + watch_bytes(node.first) <= options_.watched_bytes;
    const bool watch = room && !node.second.sampled;
    // Its room is taken at once: the answers of one batch come together.
    if (watch && !node.first.empty()) watched_bytes_ += watch_bytes(node.first);
    listings.push_back({node.first, watch});
  }
  return listings;
}

WatchPlan::Time WatchPlan::due() const {
  return due_.empty() ? Time::max() : due_.begin()->first;
}

WatchPlan::Nodes::value_type* WatchPlan::find(const std::string& name) {
  Nodes& nodes = name.empty() ? root_ : nodes_;
  const auto place = nodes.find(name);
  return place == nodes.end() ? nullptr : &*place;
}

void WatchPlan::give_room_back(const Listing& listing) {
  if (listing.watch && !listing.name.empty()) watched_bytes_ -= watch_bytes(listing.name);
}

void WatchPlan::listed(const Listing& listing, bool news, Time now, std::chrono::nanoseconds took) {
  constexpr int weight = 50;
  if (listing.name.empty()) {
    root_cost_ = took;
  } else {
    cost_ += (took - cost_) / weight;
  }
  Nodes::value_type* const found = find(listing.name);
  if (found == nullptr) return give_room_back(listing);
  Node& node = found->second;
  if (!std::exchange(node.seen, true)) --unseen_;
  node.listed = node.known = now;
  node.refused = false;
  if (!listing.name.empty() && std::exchange(node.unwatched, !listing.watch) == listing.watch) {
    if (listing.watch) {
      --sampled_;
    } else {
      ++sampled_;
    }
  }
  if (listing.watch) {
    node.watched = true;
    if (!listing.name.empty()) ++watched_;
    return;
  }
  if (node.sampled) {
    node.quiet = news ? std::uint8_t{0} : static_cast<std::uint8_t>(node.quiet + 1);
    if (node.quiet >= node.quiet_needed) {
      node.sampled = false;
      node.quiet_needed = std::min<std::uint8_t>(most_quiet, static_cast<std::uint8_t>(2 * node.quiet_needed));
    }
  }
  const auto interval = listing.name.empty() ? pace_of(listing.name) : sample_interval();
  list_at(*found, now + std::chrono::duration_cast<Time::duration>(interval));
}

void WatchPlan::gone(const Listing& listing) {
  give_room_back(listing);
  const auto place = nodes_.find(listing.name);
  if (place != nodes_.end()) forget(place);
}

void WatchPlan::refused(const Listing& listing, Time now) {
  give_room_back(listing);
  Nodes::value_type* const found = find(listing.name);
  if (found == nullptr) return;
  Node& node = found->second;
  if (!std::exchange(node.seen, true)) --unseen_;
  node.listed = node.known = now;
  node.refused = true;
  list_at(*found, now + options_.refused);
}

void WatchPlan::failed(const Listing& listing, Time now) {
  give_room_back(listing);
  if (Nodes::value_type* const found = find(listing.name)) list_at(*found, now + options_.pace);
}

std::chrono::nanoseconds WatchPlan::pace_of(const std::string& name) const {
  const std::chrono::nanoseconds pace = options_.pace;
  return name.empty() ? std::clamp<std::chrono::nanoseconds>(part_of_time * root_cost_, pace, longest_pace) : pace;
}

std::chrono::nanoseconds WatchPlan::sample_interval() const {
  const auto all = cost_ * static_cast<std::int64_t>(sampled()) * part_of_time;
  return std::max<std::chrono::nanoseconds>(options_.pace, all);
}

std::vector<std::pair<std::string, WatchPlan::Time>> WatchPlan::older_than(Time before) const {
  std::vector<std::pair<std::string, Time>> old;
  for (const auto& [time, node] : due_) {
    const Node& state = node->second;
    if (!node->first.empty() && !state.refused && state.known < before) old.emplace_back(node->first, state.known);
  }
  return old;
}

void WatchPlan::list_at(Nodes::value_type& node, Time time) {
  not_due(node);
  node.second.is_due = true;
  node.second.due = time;
  due_.emplace(time, &node);
}

void WatchPlan::not_due(Nodes::value_type& node) {
  if (std::exchange(node.second.is_due, false)) due_.erase({node.second.due, &node});
}

void WatchPlan::take_watch(Nodes::value_type& node) {
  if (!std::exchange(node.second.watched, false) || node.first.empty()) return;
  --watched_;
  watched_bytes_ -= watch_bytes(node.first);
}

void WatchPlan::forget(Nodes::iterator node) {
  not_due(*node);
  take_watch(*node);
  if (!node->second.seen) --unseen_;
  if (node->second.unwatched) --sampled_;
  nodes_.erase(node);
}

}  // namespace forelock::cli
