#include "lock/listing.h"

#include <algorithm>
#include <utility>

namespace forelock::lock {

void Listing::sent(TimePoint now) {
  ++in_flight_;
  last_sent_ = now;
}

std::size_t Listing::take(const std::vector<std::string>& children, const coordination::Stat& monitor,
                          const std::unordered_map<std::string, Contender*>& own) {
  known_ = true;
  refused_ = false;
  lock_seen_ = false;
  children_ = children.size();
  created_ = monitor.created_children();
  others_.clear();
  std::size_t own_shown = 0;
  for (const std::string& child : children) {
    if (child == private_lock_name) {
      lock_seen_ = true;
    } else if (own.contains(child)) {
      ++own_shown;
    } else if (const auto name = parse_contender_name(child)) {
      others_.push_back({child, std::string(name->prefix), name->number});
    }
  }
  std::sort(others_.begin(), others_.end(),
            [](const ForeignContender& a, const ForeignContender& b) { return goes_before(a.child(), b.child()); });
  return own_shown;
}

void Listing::forget() {
  known_ = false;
  others_.clear();
  expire();
}

std::size_t Listing::count_before(const ChildName& child) const {
  const auto end = std::partition_point(others_.begin(), others_.end(), [&child](const ForeignContender& other) {
    return goes_before(other.child(), child);
  });
  return static_cast<std::size_t>(end - others_.begin());
}

const ForeignContender* Listing::last_before(const ChildName& child) const {
  const std::size_t before = count_before(child);
  return before == 0 ? nullptr : &others_[before - 1];
}

bool Listing::shows_before_claim(const ChildName& child, bool claimed_at_creation) const {
  return std::any_of(others_.begin(), others_.end(), [&](const ForeignContender& other) {
    if (!goes_before(other.child(), child)) return false;
    // Equal numbers exist only at the counter's end, where they tell nothing.
    return !claimed_at_creation || other.number <= child.number;
  });
}

bool Listing::shows_first(const ChildName& child) const {
  return shows(child) && count_before(child) == 0;
}

void Listing::remove(const std::string& node) {
  std::erase_if(others_, [&node](const ForeignContender& other) { return other.name == node; });
  lock_seen_ = false;
}

void Listing::watch_answered(bool set) {
  children_watched_ = set;
  unwatched_ = !set;
}

std::string Listing::watched_node_changed() {
  fresh_for_ = 0;
  return std::exchange(watched_node_, {});
}

void Listing::expire() {
  children_watched_ = false;
  fresh_for_ = 0;
  watched_node_.clear();
}

}  // namespace forelock::lock
