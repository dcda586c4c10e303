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
  const std::lock_guard guard(mutex_);
  push(std::move(event), reserved ? Room::reserved : Room::none);
}

void EventQueue::notify(Event event) {
  const std::lock_guard guard(mutex_);
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
    entries.swap(entries_);
    reserved_ = notifications_ = 0;
  }
  // Without the mutex: what an attempt leads to may be an event.
  for (const Entry& entry : entries) {
    if (entry.event.kind == FL_EVENT_ATTEMPT) HandleTable::instance().remove(entry.event.source);
  }
}

std::optional<std::vector<Event>> EventQueue::poll(std::int64_t timeout_ms, std::size_t count) {
  std::unique_lock guard(mutex_);
  const auto something = [this] { return !entries_.empty() || ended_; };
  // Longer than anyone waits, and the clock does not overflow.
  constexpr std::int64_t year_ms = std::int64_t{365} * 24 * 3600 * 1000;
  if (timeout_ms < 0 || timeout_ms > year_ms) {
    changed_.wait(guard, something);
  } else {
    changed_.wait_for(guard, std::chrono::milliseconds(timeout_ms), something);
  }
  if (entries_.empty() && ended_) return std::nullopt;
  std::vector<Event> events;
  events.reserve(std::min(count, entries_.size() + 1));
  while (events.size() < count && !entries_.empty()) {
    Entry& entry = entries_.front();
    if (entry.room == Room::reserved) --reserved_;
    if (entry.room == Room::notification) --notifications_;
    events.push_back(std::move(entry.event));
    entries_.pop_front();
  }
  // Told of behind the events that were kept, when there is room.
  if (dropped_ > 0 && entries_.empty() && events.size() < count) {
    events.push_back({.kind = FL_EVENT_DROPPED, .value = std::exchange(dropped_, 0)});
  }
  return events;
}

}  // namespace forelock::capi
