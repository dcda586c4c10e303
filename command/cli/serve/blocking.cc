#include "cli/serve/blocking.h"

#include <algorithm>
#include <deque>
#include <tuple>

#include "cli/output/quantity_text.h"

namespace forelock::cli {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t nobody = SIZE_MAX;
// A ring among more parties than these is searched from some of them only.
constexpr std::size_t max_ring_starts = 200;

std::string key_of(const std::optional<OwnerRecord>& owner, std::int64_t session) {
  if (owner && !owner->set.empty()) return "set " + owner->set;
  const std::string of_session = std::to_string(session) + ' ';
  return owner ? of_session + owner->instance : of_session;
}

// "P1", "P1 and 2 more".
std::string listed(const std::vector<std::string>& monitors) {
  return monitors.size() == 1 ? monitors[0] : monitors[0] + " and " + std::to_string(monitors.size() - 1) + " more";
}

milliseconds longest_wait(const Party& party) {
  milliseconds longest{0};
  for (const Party::Wait& wait : party.waits) longest = std::max(longest, wait.waited);
  return longest;
}

}  // namespace

Blocking::Blocking(const std::vector<MonitorView>& monitors) {
  for (const MonitorView& monitor : monitors) add(monitor, milliseconds(0));
  for (const MonitorView& monitor : monitors) link(monitor);
  find_rings();
  find_roots();
}

Blocking::Blocking(const Sightings& monitors, WallTime now) {
  for (const SharedSighting& monitor : monitors) add(monitor->view(), monitor->later(now));
  for (const SharedSighting& monitor : monitors) link(monitor->view());
  find_rings();
  find_roots();
}

std::size_t Blocking::party_of(const std::optional<OwnerRecord>& owner, std::int64_t session) {
  const auto [place, is_new] = index_.try_emplace(key_of(owner, session), parties_.size());
  if (is_new) {
    Party& party = parties_.emplace_back();
    party.who = owner && !owner->instance.empty() ? owner->instance : "a client without a record";
    if (owner) party.info = owner->lock_info;
  }
  return place->second;
}

void Blocking::add(const MonitorView& monitor, milliseconds later) {
  if (monitor.holder) {
    const std::size_t holder = party_of(monitor.holder->owner, monitor.holder->session);
    parties_[holder].holds.push_back({monitor.monitor, monitor.holder->held + later});
    if (!monitor.queue.empty()) holders_[monitor.monitor] = holder;
  }
  for (const WaiterView& waiter : monitor.queue) {
    const std::size_t party = party_of(waiter.owner, waiter.session);
    parties_[party].waits.push_back({monitor.monitor, waiter.position, waiter.waited + later});
    // A free monitor is its first waiter's, who may be the one that does not take it.
    if (!monitor.holder) holders_.try_emplace(monitor.monitor, party);
  }
}

void Blocking::link(const MonitorView& monitor) {
  if (monitor.queue.empty()) return;
  const auto holder = holders_.find(monitor.monitor);
  if (holder == holders_.end()) return;
  const std::size_t blocker = holder->second;
  for (const WaiterView& waiter : monitor.queue) {
    const std::size_t party = party_of(waiter.owner, waiter.session);
    if (party == blocker) {
      if (monitor.holder) ++parties_[party].self_waits;
      continue;
    }
    // Searched where there are few: the holder of a long queue blocks many.
    std::vector<std::size_t>& blockers = parties_[party].blockers;
    if (std::find(blockers.begin(), blockers.end(), blocker) != blockers.end()) continue;
    blockers.push_back(blocker);
    parties_[blocker].blocked.push_back(party);
  }
}

// Those that are left when parties that wait for none of the others, or for which none of them waits, are taken away
// again and again: each ring is among them.
std::vector<bool> Blocking::core(const std::vector<bool>& left_out) const {
  std::vector<bool> in(parties_.size());
  std::vector<std::size_t> up(parties_.size());
  std::vector<std::size_t> down(parties_.size());
  for (std::size_t i = 0; i < parties_.size(); ++i) in[i] = !left_out[i];
  const auto count = [&in](const std::vector<std::size_t>& parties) {
    return static_cast<std::size_t>(std::count_if(parties.begin(), parties.end(), [&in](auto i) { return in[i]; }));
  };
  std::vector<std::size_t> leaving;
  for (std::size_t i = 0; i < parties_.size(); ++i) {
    up[i] = count(parties_[i].blockers);
    down[i] = count(parties_[i].blocked);
    if (in[i] && (up[i] == 0 || down[i] == 0)) leaving.push_back(i);
  }
  while (!leaving.empty()) {
    const std::size_t party = leaving.back();
    leaving.pop_back();
    if (!in[party]) continue;
    in[party] = false;
    for (const std::size_t other : parties_[party].blocked) {
      if (in[other] && --up[other] == 0) leaving.push_back(other);
    }
    for (const std::size_t other : parties_[party].blockers) {
      if (in[other] && --down[other] == 0) leaving.push_back(other);
    }
  }
  return in;
}

// Breadth first, up through the blockers, until `start` is met again. Empty if it is not.
std::vector<std::size_t> Blocking::shortest_ring(std::size_t start, const std::vector<bool>& within) const {
  std::vector<std::size_t> from(parties_.size(), nobody);
  std::deque<std::size_t> reached{start};
  while (!reached.empty()) {
    const std::size_t party = reached.front();
    reached.pop_front();
    for (const std::size_t blocker : parties_[party].blockers) {
      if (blocker == start) {
        std::vector<std::size_t> ring;
        for (std::size_t i = party; i != start; i = from[i]) ring.push_back(i);
        ring.push_back(start);
        std::reverse(ring.begin(), ring.end());
        return ring;
      }
      if (!within[blocker] || from[blocker] != nobody) continue;
      from[blocker] = party;
      reached.push_back(blocker);
    }
  }
  return {};
}

void Blocking::find_rings() {
  std::vector<bool> left_out(parties_.size());
  while (rings_.size() < max_rings) {
    const std::vector<bool> within = core(left_out);
    std::vector<std::size_t> best;
    std::size_t starts = 0;
    for (std::size_t i = 0; i < parties_.size() && starts < max_ring_starts; ++i) {
      if (!within[i]) continue;
      ++starts;
      std::vector<std::size_t> ring = shortest_ring(i, within);
      if (!ring.empty() && (best.empty() || ring.size() < best.size())) best = std::move(ring);
      if (best.size() == 2) break;
    }
    if (best.empty()) return;
    for (const std::size_t party : best) left_out[party] = true;
    const auto oldest = std::max_element(best.begin(), best.end(), [this](std::size_t a, std::size_t b) {
      return longest_wait(parties_[a]) < longest_wait(parties_[b]);
    });
    std::rotate(best.begin(), oldest, best.end());
    rings_.push_back(std::move(best));
  }
}

void Blocking::find_roots() {
  std::vector<std::tuple<milliseconds, std::size_t>> order;
  for (std::size_t i = 0; i < parties_.size(); ++i) {
    const Party& party = parties_[i];
    if (party.blockers.empty() && (!party.blocked.empty() || party.self_waits > 0))
      order.emplace_back(weight(i).total, i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return std::get<0>(a) > std::get<0>(b); });
  for (const auto& [total, party] : order) roots_.push_back(party);
}

Weight Blocking::weight(std::size_t root) const {
  Weight weight;
  std::vector<bool> seen(parties_.size());
  std::deque<std::pair<std::size_t, std::size_t>> reached{{root, 0}};
  seen[root] = true;
  const auto count = [&weight](const Party& party) {
    weight.longest = std::max(weight.longest, longest_wait(party));
    for (const Party::Wait& wait : party.waits) weight.total += wait.waited;
  };
  if (parties_[root].self_waits > 0) count(parties_[root]);
  while (!reached.empty()) {
    const auto [party, depth] = reached.front();
    reached.pop_front();
    weight.depth = std::max(weight.depth, depth);
    for (const std::size_t other : parties_[party].blocked) {
      if (seen[other]) continue;
      seen[other] = true;
      ++weight.parties;
      count(parties_[other]);
      reached.emplace_back(other, depth + 1);
    }
  }
  return weight;
}

BlockingTree Blocking::tree(std::size_t root) const {
  std::vector<bool> seen(parties_.size());
  std::size_t room = max_tree_parties;
  BlockingTree tree;
  tree.party = root;
  grow(tree, 0, seen, room);
  return tree;
}

void Blocking::grow(BlockingTree& tree, std::size_t depth, std::vector<bool>& seen, std::size_t& room) const {
  for (const auto& ring : rings_) tree.in_ring |= std::find(ring.begin(), ring.end(), tree.party) != ring.end();
  tree.repeated = seen[tree.party];
  if (tree.repeated) return;
  seen[tree.party] = true;
  for (const std::size_t party : parties_[tree.party].blocked) {
    if (room == 0 || depth + 1 >= max_tree_depth) {
      ++tree.left_out;
      continue;
    }
    --room;
    tree.waiting.emplace_back().party = party;
  }
  for (BlockingTree& below : tree.waiting) grow(below, depth + 1, seen, room);
}

// To one of those that are farthest away; of several the one whose wait is the oldest.
std::vector<std::size_t> Blocking::longest_way(std::size_t root) const {
  std::vector<std::size_t> from(parties_.size(), nobody);
  std::vector<std::size_t> depth(parties_.size());
  std::deque<std::size_t> reached{root};
  std::size_t last = root;
  while (!reached.empty()) {
    const std::size_t party = reached.front();
    reached.pop_front();
    if (std::tuple(depth[party], longest_wait(parties_[party])) > std::tuple(depth[last], longest_wait(parties_[last])))
      last = party;
    for (const std::size_t other : parties_[party].blocked) {
      if (other == root || from[other] != nobody) continue;
      from[other] = party;
      depth[other] = depth[party] + 1;
      reached.push_back(other);
    }
  }
  std::vector<std::size_t> way;
  for (std::size_t i = last; i != root; i = from[i]) way.push_back(i);
  way.push_back(root);
  std::reverse(way.begin(), way.end());
  return way;
}

std::string Blocking::name(std::size_t party) const {
  const Party& named = parties_[party];
  return named.info.empty() ? named.who : named.info + " (" + named.who + ')';
}

std::vector<std::string> Blocking::between(std::size_t waiter, std::size_t blocker) const {
  std::vector<std::string> monitors;
  for (const Party::Wait& wait : parties_[waiter].waits) {
    const auto holder = holders_.find(wait.monitor);
    if (holder == holders_.end() || holder->second != blocker) continue;
    if (std::find(monitors.begin(), monitors.end(), wait.monitor) == monitors.end()) monitors.push_back(wait.monitor);
  }
  return monitors;
}

std::string Blocking::ring_sentence(const std::vector<std::size_t>& ring) const {
  std::string text;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const std::size_t blocker = ring[(i + 1) % ring.size()];
    text += (i == 0 ? name(ring[i]) + " waits for " : ", who waits for ") + listed(between(ring[i], blocker)) +
            ", held by " + name(blocker);
  }
  return text + ": none of them goes on until one gives up";
}

std::optional<std::string> Blocking::worst() const {
  if (!rings_.empty()) return ring_sentence(rings_.front());
  if (roots_.empty()) return std::nullopt;
  const std::size_t root = roots_.front();
  const Party& party = parties_[root];
  const std::vector<std::size_t> way = longest_way(root);
  const std::string first = way.size() > 1 ? between(way[1], root).front() : party.holds.front().monitor;
  std::string text = name(root);
  const auto hold = std::find_if(party.holds.begin(), party.holds.end(),
                                 [&first](const Party::Hold& each) { return each.monitor == first; });
  text += hold == party.holds.end() ? " is next at " + first + ", which is free"
                                    : " has held " + first + " for " + duration_text(hold->held);
  for (std::size_t i = 1; i < way.size(); ++i) {
    text += i == 1 ? ", for which " : " and holds " + listed(between(way[i], way[i - 1])) + ", for which ";
    text += name(way[i]) + " waits";
  }
  if (way.size() == 1) text += ", for which it waits itself";
  const Weight all = weight(root);
  if (all.parties > 1) text += "; " + std::to_string(all.parties) + " wait in all";
  return text + ", the longest for " + duration_text(all.longest);
}

AfterRelease Blocking::after_release(const MonitorView& monitor) const {
  AfterRelease after;
  const auto find = [this](const std::optional<OwnerRecord>& owner, std::int64_t session) {
    const auto place = index_.find(key_of(owner, session));
    return place == index_.end() ? std::optional<std::size_t>() : std::optional(place->second);
  };
  if (monitor.holder) {
    if (const auto holder = find(monitor.holder->owner, monitor.holder->session)) {
      for (const Party::Hold& hold : parties_[*holder].holds) {
        if (hold.monitor != monitor.monitor) after.kept.push_back(hold.monitor);
      }
    }
  }
  if (monitor.queue.empty()) return after;
  after.moving_up = monitor.queue.size();
  after.next = find(monitor.queue.front().owner, monitor.queue.front().session);
  if (after.next) {
    for (const Party::Wait& wait : parties_[*after.next].waits) {
      if (wait.monitor != monitor.monitor) after.needed.push_back(wait.monitor);
    }
  }
  return after;
}

}  // namespace forelock::cli
