#include "cli/serve/lock_orders.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <tuple>

namespace forelock::cli {
namespace {

std::vector<std::string> shortened(const std::vector<std::string>& stack) {
  std::vector<std::string> kept;
  std::size_t bytes = 0;
  for (const std::string& frame : stack) {
    bytes += frame.size();
    if (bytes > LockOrders::max_stack_bytes) break;
    kept.push_back(frame);
  }
  return kept;
}

std::vector<std::string> in_both(const std::vector<std::string>& one, const std::vector<std::string>& other) {
  std::vector<std::string> both;
  std::set_intersection(one.begin(), one.end(), other.begin(), other.end(), std::back_inserter(both));
  return both;
}

}  // namespace

// One that a thread holds or waits for. Points into the look.
struct LockOrders::Lock {
  const MonitorView* monitor = nullptr;
  const OwnerRecord* record = nullptr;
  bool held = false;
  std::int64_t token = 0;  // of a held one

  // Whether the other one was taken, or is waited for, inside this one; for certain if this is still held afterwards.
  // A set takes its members in the order of their nodes' names.
  bool is_around(const Lock& other) const {
    if (!held || record->linger) return false;
    if (!record->set.empty() && record->set == other.record->set) return monitor->path < other.monitor->path;
    return record->acquired_at && *record->acquired_at <= other.record->enqueued_at;
  }

  // Whether this is waited for, and the other one is waited for, too, or was got meanwhile: no single thread that
  // blocks can do so.
  bool belies(const Lock& other) const {
    if (held || this == &other || (!record->set.empty() && record->set == other.record->set)) return false;
    return !other.held || !other.record->acquired_at || *other.record->acquired_at > record->enqueued_at;
  }
};

std::vector<LockOrders::Doubt> LockOrders::take(const std::vector<MonitorView>& monitors, WallTime now) {
  open_.clear();
  left_out_ = false;
  forget(now);
  std::map<std::pair<std::int64_t, std::string>, std::vector<Lock>> threads;
  const auto of_thread = [&threads](std::int64_t session, const OwnerRecord& record) -> std::vector<Lock>& {
    return threads[{session, record.instance}];
  };
  for (const MonitorView& monitor : monitors) {
    if (const auto& holder = monitor.holder; holder && holder->owner)
      of_thread(holder->session, *holder->owner).push_back({&monitor, &*holder->owner, true, holder->token});
    for (const WaiterView& waiter : monitor.queue) {
      if (waiter.owner) of_thread(waiter.session, *waiter.owner).push_back({&monitor, &*waiter.owner, false, 0});
    }
  }
  for (auto& [thread, locks] : threads) {
    if (locks.size() > 1) take_thread(locks, now);
  }
  std::vector<Doubt> doubts;
  for (const auto& [doubt, order] : open_) {
    if (std::find(doubts.begin(), doubts.end(), doubt) == doubts.end()) doubts.push_back(doubt);
  }
  return doubts;
}

void LockOrders::take_thread(std::vector<Lock>& locks, WallTime now) {
  std::stable_sort(locks.begin(), locks.end(), [](const Lock& one, const Lock& other) {
    return std::tie(one.record->enqueued_at, one.record->set, one.monitor->path) <
           std::tie(other.record->enqueued_at, other.record->set, other.monitor->path);
  });
  if (locks.size() > max_locks) locks.resize(max_locks);
  for (const Lock& one : locks) {
    if (std::any_of(locks.begin(), locks.end(), [&one](const Lock& other) { return one.belies(other); })) return;
  }
  for (std::size_t inner = 1; inner < locks.size(); ++inner) {
    std::size_t found = 0;
    for (std::size_t outer = inner; outer-- > 0 && found < max_outer;) {
      if (!locks[outer].is_around(locks[inner])) continue;
      ++found;
      LockOrder order;
      order.outer = locks[outer].monitor->monitor;
      order.inner = locks[inner].monitor->monitor;
      if (order.outer == order.inner) continue;
      order.who = locks[inner].record->instance;
      order.info = locks[inner].record->lock_info;
      order.outer_stack = shortened(locks[outer].record->stack);
      order.inner_stack = shortened(locks[inner].record->stack);
      for (std::size_t around = outer; around-- > 0 && order.within.size() < max_within;) {
        if (locks[around].is_around(locks[outer])) order.within.push_back(locks[around].monitor->monitor);
      }
      std::sort(order.within.begin(), order.within.end());
      order.first_seen = order.last_seen = now;
      order.looks = 1;
      if (const auto known = orders_.find({order.outer, order.inner}); known != orders_.end()) {
        see_again(known->second, order);
      } else {
        Doubt doubt{order.outer, locks[outer].token};
        const auto is_open = [&doubt](const auto& open) { return open.first == doubt; };
        if (open_.size() < max_doubts || std::any_of(open_.begin(), open_.end(), is_open))
          open_.emplace_back(std::move(doubt), std::move(order));
        else
          left_out_ = true;
      }
    }
  }
}

void LockOrders::confirm(const Doubt& doubt) {
  for (auto& [of, order] : open_) {
    if (of == doubt && !orders_.contains({order.outer, order.inner})) add(order);
  }
}

void LockOrders::add(LockOrder order) {
  if (orders_.size() >= max_orders) erase(orders_.find(by_age_.begin()->second));
  const Key key{order.outer, order.inner};
  by_age_.emplace(order.last_seen, key);
  look_for_ring(orders_.emplace(key, std::move(order)).first->second);
}

void LockOrders::see_again(LockOrder& known, const LockOrder& seen) {
  const Key key{known.outer, known.inner};
  by_age_.erase({known.last_seen, key});
  known.last_seen = seen.last_seen;
  ++known.looks;
  by_age_.emplace(known.last_seen, key);
  std::vector<std::string> within = in_both(known.within, seen.within);
  if (within == known.within) return;
  known.within = std::move(within);
  look_for_ring(known);
}

void LockOrders::look_for_ring(const LockOrder& order) {
  std::vector<Key> ring = shortest_way(order.inner, order.outer);
  if (ring.empty()) return;
  std::vector<std::string> within = order.within;
  for (const Key& key : ring) within = in_both(within, orders_.at(key).within);
  if (!within.empty()) return;
  ring.emplace_back(order.outer, order.inner);
  std::rotate(ring.begin(), std::min_element(ring.begin(), ring.end()), ring.end());
  if (std::find(rings_.begin(), rings_.end(), ring) != rings_.end()) return;
  if (rings_.size() >= max_warnings) rings_.erase(rings_.begin());
  rings_.push_back(std::move(ring));
}

// Breadth first. Empty if there is none.
std::vector<LockOrders::Key> LockOrders::shortest_way(const std::string& from, const std::string& to) const {
  std::map<std::string, const Key*> reached_by{{from, nullptr}};
  std::deque<std::string> reached{from};
  while (!reached.empty()) {
    const std::string monitor = std::move(reached.front());
    reached.pop_front();
    for (auto order = orders_.lower_bound({monitor, {}}); order != orders_.end() && order->first.first == monitor;
         ++order) {
      if (!reached_by.emplace(order->first.second, &order->first).second) continue;
      if (order->first.second != to) {
        reached.push_back(order->first.second);
        continue;
      }
      std::vector<Key> way;
      for (const Key* step = &order->first; step != nullptr; step = reached_by.at(step->first)) way.push_back(*step);
      std::reverse(way.begin(), way.end());
      return way;
    }
  }
  return {};
}

void LockOrders::forget(WallTime now) {
  while (!by_age_.empty() && by_age_.begin()->first + forgotten_after < now)
    erase(orders_.find(by_age_.begin()->second));
}

void LockOrders::erase(std::map<Key, LockOrder>::iterator order) {
  by_age_.erase({order->second.last_seen, order->first});
  std::erase_if(rings_, [&order](const std::vector<Key>& ring) {
    return std::find(ring.begin(), ring.end(), order->first) != ring.end();
  });
  orders_.erase(order);
}

std::vector<OrderWarning> LockOrders::warnings() const {
  std::vector<OrderWarning> warnings;
  for (auto ring = rings_.rbegin(); ring != rings_.rend(); ++ring) {
    OrderWarning& warning = warnings.emplace_back();
    for (const Key& key : *ring) warning.push_back(orders_.at(key));
  }
  return warnings;
}

}  // namespace forelock::cli
