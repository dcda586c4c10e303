#include "capi/event_queue.h"

#include <algorithm>
#include <utility>

namespace forelock::capi {

void EventQueue::reserve() {
  const std::lock_guard guard(mutex_);
  if (reserved_ == max_completions) {
    throw RequestRejectedException(ErrorCode::overloaded, {},
                                   std::to_string(max_completions) + " completions are awaited or not fetched yet",
                                   "fetch them with fl_poll");
  }
  ++reserved_;
}

void EventQueue::forgo() {
  const std::lock_guard guard(mutex_);
  --reserved_;
  if (ended_) changed_.notify_all();
}

std::size_t EventQueue::reserved() const {
  const std::lock_guard guard(mutex_);
  return reserved_;
}

void EventQueue::push(Event event, Room room) {
  entries_.push_back({std::move(event), room});
  changed_.notify_one();
}

void EventQueue::complete(Event event, bool reserved) {
  std::unique_lock guard(mutex_);
  if (!cleared_) return push(std::move(event), reserved ? Room::reserved : Room::none);
  guard.unlock();
  drop(event);
}

// Without the mutex: what an attempt leads to may be an event.
void EventQueue::drop(const Event& event) {
  if (event.kind == FL_EVENT_ATTEMPT) HandleTable::instance().remove(event.source);
}

void EventQueue::notify(Event event) {
  const std::lock_guard guard(mutex_);
  if (cleared_) return;
  // Lines of the log, of which there may be many, leave room for what a lock's user must hear.
  const std::size_t room = event.kind == FL_EVENT_LOG ? max_notifications / 2 : max_notifications;
  if (notifications_ >= room) {
    ++dropped_;
    return;
  }
  ++notifications_;
  push(std::move(event), Room::notification);
}

void EventQueue::end() {
  const std::lock_guard guard(mutex_);
  ended_ = true;
  changed_.notify_all();
}

void EventQueue::clear() {
  std::deque<Entry> entries;
  {
    const std::lock_guard guard(mutex_);
    cleared_ = true;
    entries.swap(entries_);
    notifications_ = 0;
    changed_.notify_all();
  }
  for (const Entry& entry : entries) drop(entry.event);
}

std::optional<std::vector<Event>> EventQueue::poll(std::int64_t timeout_ms, std::size_t count) {
  std::unique_lock guard(mutex_);
  // One with a poller that was told the end would have nobody to tell what is still awaited.
  const auto over = [this] { return entries_.empty() && (cleared_ || (ended_ && reserved_ == 0)); };
  const auto something = [&] { return !entries_.empty() || over(); };
  // Longer than anyone waits, and the clock does not overflow.
  constexpr std::int64_t year_ms = std::int64_t{365} * 24 * 3600 * 1000;
  if (timeout_ms < 0 || timeout_ms > year_ms) {
    changed_.wait(guard, something);
  } else {
    changed_.wait_for(guard, std::chrono::milliseconds(timeout_ms), something);
  }
  if (over()) return std::nullopt;
  std::vector<Event> events;
  events.reserve(std::min(count, entries_.size() + 1));
  while (events.size() < count && !entries_.empty()) {
    Entry& entry = entries_.front();
    if (entry.room == Room::reserved) --reserved_;
    if (entry.room == Room::notification) --notifications_;
    events.push_back(std::move(entry.event));
    entries_.pop_front();
  }
  if (over()) changed_.notify_all();
  // Told of behind the events that were kept, when there is room.
  if (dropped_ > 0 && entries_.empty() && events.size() < count) {
    events.push_back({.kind = FL_EVENT_DROPPED, .value = std::exchange(dropped_, 0)});
  }
  return events;
}

}  // namespace forelock::capi
