#include "lock/unused_monitors.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "lock/limits.h"
#include "lock/mutation.h"

namespace forelock::lock {

namespace {

constexpr int rounds_in_linger = 4;

}  // namespace

bool carries_mark(const coordination::Reply& node) {
  bool marked = node.data == monitor_mark;
  if (mutated(Mutation::others_removed)) marked = true;
  return node.ok() && marked && node.stat.version == 0;
}

UnusedMonitors::UnusedMonitors(Duration linger) : linger_(linger), round_(linger / rounds_in_linger) {}

void UnusedMonitors::let_linger(std::uint64_t ordinal, TimePoint now) {
  if (enabled()) lingering_.push_back({now + linger_, ordinal});
}

void UnusedMonitors::forget(std::uint64_t ordinal, const std::string& monitor, Mark mark) {
  if (!enabled()) return;
  if (forgotten_.size() >= most_unused) return remove(monitor, mark);
  remember_no_more(monitor);  // an earlier time: what was known of it then counts no more
  forgotten_.emplace(ordinal, Forgotten{monitor, mark});
  forgotten_names_.emplace(monitor, ordinal);
}

// With a long time to linger, and many monitors, the oldest do not get all of it.
std::vector<std::uint64_t> UnusedMonitors::lingered(TimePoint now) {
  std::vector<std::uint64_t> found;
  const auto too_many = [this] { return lingering_.size() > 2 * most_unused; };
  if (lingering_.empty() || (now < lingering_.front().until + round_ && !too_many())) return found;
  for (; !lingering_.empty() && (lingering_.front().until <= now || too_many()); lingering_.pop_front()) {
    const std::uint64_t ordinal = lingering_.front().ordinal;
    if (const auto forgotten = forgotten_.extract(ordinal)) {
      forgotten_names_.erase(forgotten.mapped().monitor);
      remove(forgotten.mapped().monitor, forgotten.mapped().mark);
    } else {
      found.push_back(ordinal);
    }
  }
  return found;
}

void UnusedMonitors::remove(const std::string& monitor, Mark mark) {
  if (!enabled() || looked_at_.contains(monitor) || !known_.insert(monitor).second) return;
  if (mutated(Mutation::removed_unread)) mark = Mark::seen;
  (mark == Mark::seen ? unused_ : doubtful_).push_back(monitor);
  if (unused_.size() + doubtful_.size() <= most_unused) return;
  auto& oldest = doubtful_.empty() ? unused_ : doubtful_;
  known_.erase(oldest.front());
  doubted_.erase(oldest.front());
  oldest.pop_front();
}

void UnusedMonitors::remember_no_more(const std::string& monitor) {
  const auto forgotten = forgotten_names_.extract(monitor);
  if (forgotten) forgotten_.erase(forgotten.mapped());
}

void UnusedMonitors::doubt(const std::string& monitor) {
  const auto forgotten = forgotten_names_.find(monitor);
  if (forgotten != forgotten_names_.end()) forgotten_.at(forgotten->second).mark = Mark::doubtful;
  const bool under_way = std::find(under_way_.begin(), under_way_.end(), monitor) != under_way_.end();
  if (under_way || known_.contains(monitor)) doubted_.insert(monitor);
}

std::vector<std::string> UnusedMonitors::take_doubtful(TimePoint now,
                                                       const std::function<bool(const std::string&)>& wanted) {
  std::vector<std::string> taken;
  if (gave_up_ || doubtful_.empty() || !looked_at_.empty() || now < next_look()) return taken;
  look_not_before_ = now + round_;
  for (; !doubtful_.empty() && taken.size() < most_removed_at_once; doubtful_.pop_front()) {
    known_.erase(doubtful_.front());
    doubted_.erase(doubtful_.front());
    if (wanted(doubtful_.front())) taken.push_back(std::move(doubtful_.front()));
  }
  looked_at_.insert(taken.begin(), taken.end());
  return taken;
}

void UnusedMonitors::look_lost(const std::string& monitor, TimePoint now) {
  looked(monitor);
  remove(monitor, Mark::doubtful);
  paused_until_ = now + round_;
}

TimePoint UnusedMonitors::next_look() const {
  const bool many = doubtful_.size() >= most_removed_at_once;
  return std::max(paused_until_, many ? TimePoint{} : look_not_before_);
}

bool UnusedMonitors::full() const {
  return unused_.size() >= most_removed_at_once;
}

std::vector<std::string> UnusedMonitors::take(TimePoint now, const std::function<bool(const std::string&)>& wanted) {
  if (gave_up_ || unused_.empty() || !under_way_.empty() || now < paused_until_) return {};
  if (!looked_at_.empty()) return {};  // those that are to go go together
  if (now < not_before_ && !full()) return {};
  not_before_ = now + round_;
  while (!unused_.empty() && under_way_.size() < most_removed_at_once) {
    const std::string monitor = std::move(unused_.front());
    unused_.pop_front();
    known_.erase(monitor);
    if (doubted_.erase(monitor) > 0) {
      remove(monitor, Mark::doubtful);
    } else if (wanted(monitor)) {
      under_way_.push_back(monitor);
    }
  }
  return under_way_;
}

std::vector<std::string> UnusedMonitors::take_last(std::size_t most,
                                                   const std::function<bool(const std::string&)>& wanted) {
  for (auto& [ordinal, one] : std::exchange(forgotten_, {})) remove(one.monitor, one.mark);
  forgotten_names_.clear();
  std::vector<std::string> taken;
  for (; !unused_.empty() && taken.size() < most; unused_.pop_front()) {
    known_.erase(unused_.front());
    if (!doubted_.contains(unused_.front()) && wanted(unused_.front())) taken.push_back(std::move(unused_.front()));
  }
  return taken;
}

std::vector<std::string> UnusedMonitors::removed() {
  second_try_ = false;
  for (const std::string& monitor : under_way_) settle_doubt(monitor);  // what was told was this removal
  return std::exchange(under_way_, {});
}

std::vector<std::string> UnusedMonitors::refused(std::optional<std::size_t> kept) {
  if (kept && *kept < under_way_.size()) {
    settle_doubt(under_way_[*kept]);
    under_way_.erase(under_way_.begin() + static_cast<std::ptrdiff_t>(*kept));
  }
  look_at_doubted();
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
  look_again();
  paused_until_ = now + round_;
}

void UnusedMonitors::give_up() {
  gave_up_ = true;
  unused_.clear();
  doubtful_.clear();
  known_.clear();
  doubted_.clear();
  under_way_.clear();
  looked_at_.clear();
}

void UnusedMonitors::disconnected() {
  if (mutated(Mutation::removed_unread)) return;
  for (auto& [ordinal, one] : forgotten_) one.mark = Mark::doubtful;
  std::move(unused_.begin(), unused_.end(), std::back_inserter(doubtful_));
  unused_.clear();
  doubted_.clear();
}

void UnusedMonitors::session_ended() {
  gave_up_ = second_try_ = false;
  disconnected();
  look_again();
}

// What was under way may have been done, or not.
void UnusedMonitors::look_again() {
  for (const std::string& monitor : std::exchange(looked_at_, {})) remove(monitor, Mark::doubtful);
  for (const std::string& monitor : std::exchange(under_way_, {})) remove(monitor, Mark::doubtful);
}

// Of what is under way, and was not done.
void UnusedMonitors::look_at_doubted() {
  std::erase_if(under_way_, [this](const std::string& monitor) {
    if (!doubted_.contains(monitor)) return false;
    settle_doubt(monitor);
    remove(monitor, Mark::doubtful);
    return true;
  });
}

// Of the request that was under way. The monitor may have been noted a second time meanwhile, which stays in doubt.
void UnusedMonitors::settle_doubt(const std::string& monitor) {
  if (!known_.contains(monitor)) doubted_.erase(monitor);
}

void UnusedMonitors::ask_again() {
  for (auto monitor = under_way_.rbegin(); monitor != under_way_.rend(); ++monitor) {
    if (known_.insert(*monitor).second) unused_.push_front(std::move(*monitor));
  }
  under_way_.clear();
}

TimePoint UnusedMonitors::next_timer() const {
  TimePoint next = lingering_.empty() ? never : lingering_.front().until + round_;
  if (!gave_up_ && !doubtful_.empty() && looked_at_.empty()) next = std::min(next, next_look());
  if (gave_up_ || unused_.empty() || !under_way_.empty() || !looked_at_.empty()) return next;
  return std::min(next, std::max(paused_until_, full() ? TimePoint{} : not_before_));
}

}  // namespace forelock::lock
