#include "lock/unused_monitors.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "lock/limits.h"

namespace forelock::lock {

namespace {

constexpr int rounds_in_linger = 4;

}  // namespace

UnusedMonitors::UnusedMonitors(Duration linger) : linger_(linger), round_(linger / rounds_in_linger) {}

void UnusedMonitors::let_linger(std::uint64_t ordinal, TimePoint now) {
  if (enabled()) lingering_.push_back({now + linger_, ordinal});
}

std::vector<std::uint64_t> UnusedMonitors::lingered(TimePoint now) {
  std::vector<std::uint64_t> found;
  if (lingering_.empty() || now < lingering_.front().until + round_) return found;
  for (; !lingering_.empty() && lingering_.front().until <= now; lingering_.pop_front()) {
    found.push_back(lingering_.front().ordinal);
  }
  return found;
}

void UnusedMonitors::remove(std::string monitor) {
  if (!enabled()) return;
  unused_.push_back(std::move(monitor));
  if (unused_.size() > most_unused) unused_.pop_front();
}

std::vector<std::string> UnusedMonitors::take(TimePoint now, const std::function<bool(const std::string&)>& in_use) {
  const bool full = unused_.size() >= most_removed_at_once;
  if (unused_.empty() || !under_way_.empty() || (now < not_before_ && !full)) return {};
  not_before_ = now + round_;
  while (!unused_.empty() && under_way_.size() < most_removed_at_once) {
    if (!in_use(unused_.front())) under_way_.push_back(std::move(unused_.front()));
    unused_.pop_front();
  }
  return under_way_;
}

std::vector<std::string> UnusedMonitors::take_last(std::size_t most) {
  const auto end = unused_.begin() + static_cast<std::ptrdiff_t>(std::min(unused_.size(), most));
  std::vector<std::string> taken(std::make_move_iterator(unused_.begin()), std::make_move_iterator(end));
  unused_.erase(unused_.begin(), end);
  return taken;
}

// Without the one that is kept the others may go, at once.
void UnusedMonitors::refused(std::optional<std::size_t> kept) {
  if (!kept || *kept >= under_way_.size()) return under_way_.clear();
  under_way_.erase(under_way_.begin() + static_cast<std::ptrdiff_t>(*kept));
  ask_again();
  not_before_ = {};
}

void UnusedMonitors::ask_again() {
  unused_.insert(unused_.begin(), std::make_move_iterator(under_way_.begin()),
                 std::make_move_iterator(under_way_.end()));
  under_way_.clear();
}

TimePoint UnusedMonitors::next_timer() const {
  const TimePoint next = lingering_.empty() ? never : lingering_.front().until + round_;
  if (unused_.empty() || !under_way_.empty()) return next;
  return std::min(next, unused_.size() >= most_removed_at_once ? TimePoint{} : not_before_);
}

}  // namespace forelock::lock
