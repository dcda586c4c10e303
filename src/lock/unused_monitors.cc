#include "lock/unused_monitors.h"

#include <algorithm>
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

void UnusedMonitors::forget(std::uint64_t ordinal, const std::string& monitor) {
  if (!enabled()) return;
  if (forgotten_.size() >= most_unused) return remove(monitor);
  forgotten_.emplace(ordinal, monitor);
}

// With a long time to linger, and many monitors, the oldest do not get all of it.
std::vector<std::uint64_t> UnusedMonitors::lingered(TimePoint now) {
  std::vector<std::uint64_t> found;
  const auto too_many = [this] { return lingering_.size() > 2 * most_unused; };
  if (lingering_.empty() || (now < lingering_.front().until + round_ && !too_many())) return found;
  for (; !lingering_.empty() && (lingering_.front().until <= now || too_many()); lingering_.pop_front()) {
    const std::uint64_t ordinal = lingering_.front().ordinal;
    if (const auto forgotten = forgotten_.extract(ordinal)) {
      remove(forgotten.mapped());
    } else {
      found.push_back(ordinal);
    }
  }
  return found;
}

void UnusedMonitors::remove(const std::string& monitor) {
  if (!enabled() || !known_.insert(monitor).second) return;
  unused_.push_back(monitor);
  if (unused_.size() <= most_unused) return;
  known_.erase(unused_.front());
  unused_.pop_front();
}

bool UnusedMonitors::full() const {
  return unused_.size() >= most_removed_at_once;
}

std::vector<std::string> UnusedMonitors::take(TimePoint now, const std::function<bool(const std::string&)>& wanted) {
  if (gave_up_ || unused_.empty() || !under_way_.empty() || now < paused_until_) return {};
  if (now < not_before_ && !full()) return {};
  not_before_ = now + round_;
  while (!unused_.empty() && under_way_.size() < most_removed_at_once) {
    known_.erase(unused_.front());
    if (wanted(unused_.front())) under_way_.push_back(std::move(unused_.front()));
    unused_.pop_front();
  }
  return under_way_;
}

std::vector<std::string> UnusedMonitors::take_last(std::size_t most,
                                                   const std::function<bool(const std::string&)>& wanted) {
  for (auto& [ordinal, monitor] : std::exchange(forgotten_, {})) remove(monitor);
  std::vector<std::string> taken;
  for (; !unused_.empty() && taken.size() < most; unused_.pop_front()) {
    known_.erase(unused_.front());
    if (wanted(unused_.front())) taken.push_back(std::move(unused_.front()));
  }
  return taken;
}

std::vector<std::string> UnusedMonitors::removed() {
  second_try_ = false;
  return std::exchange(under_way_, {});
}

std::vector<std::string> UnusedMonitors::refused(std::optional<std::size_t> kept) {
  if (kept && *kept < under_way_.size()) under_way_.erase(under_way_.begin() + static_cast<std::ptrdiff_t>(*kept));
  if (kept && !second_try_) {
    second_try_ = !under_way_.empty();
    ask_again();
    not_before_ = {};
    return {};
  }
  second_try_ = false;
  return std::exchange(under_way_, {});
}

void UnusedMonitors::unknown(TimePoint now) {
  second_try_ = false;
  ask_again();
  paused_until_ = now + round_;
}

void UnusedMonitors::give_up() {
  gave_up_ = true;
  unused_.clear();
  known_.clear();
  under_way_.clear();
}

void UnusedMonitors::session_ended() {
  gave_up_ = second_try_ = false;
  ask_again();
}

void UnusedMonitors::ask_again() {
  for (auto monitor = under_way_.rbegin(); monitor != under_way_.rend(); ++monitor) {
    if (known_.insert(*monitor).second) unused_.push_front(std::move(*monitor));
  }
  under_way_.clear();
}

TimePoint UnusedMonitors::next_timer() const {
  const TimePoint next = lingering_.empty() ? never : lingering_.front().until + round_;
  if (gave_up_ || unused_.empty() || !under_way_.empty()) return next;
  return std::min(next, std::max(paused_until_, full() ? TimePoint{} : not_before_));
}

}  // namespace forelock::lock
