#include "capi/event_queue.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace forelock::capi {

EventQueue::~EventQueue() {
  if (descriptor_ >= 0) close(descriptor_);
}

int EventQueue::descriptor() {
  const std::lock_guard guard(mutex_);
  if (descriptor_ < 0) {
    descriptor_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (descriptor_ < 0) {
      throw RequestRejectedException(ErrorCode::overloaded, {},
                                     "no descriptor can be made: " + std::generic_category().message(errno),
                                     "raise the limit on open files");
    }
    update_descriptor();
  }
  return descriptor_;
}

void EventQueue::update_descriptor() {
  const bool readable = has_events() || over();
  if (descriptor_ < 0 || readable == readable_) return;
  readable_ = readable;
  // Between 0 and 1 neither can fail.
  eventfd_t count = 1;
  if (readable) {
    eventfd_write(descriptor_, count);
  } else {
    eventfd_read(descriptor_, &count);
  }
}

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
  update_descriptor();
}

std::size_t EventQueue::reserved() const {
  const std::lock_guard guard(mutex_);
  return reserved_;
}

void EventQueue::push(Event event, Room room) {
  entries_.push_back({std::move(event), room});
  changed_.notify_one();
  update_descriptor();
}

void EventQueue::complete(Event event, bool reserved) {
  std::unique_lock guard(mutex_);
  if (!cleared_) return push(std::move(event), reserved ? Room::reserved : Room::none);
  guard.unlock();
  drop(event);
}

// Without the mutex: what an attempt leads to may be an event.
void EventQueue::drop(const Event& event) {
  if (event.kind == FL_EVENT_ATTEMPT || event.kind == FL_EVENT_LETTER) HandleTable::instance().remove(event.source);
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

void EventQueue::notify_of_line(std::string level, std::string message) {
  Event event{.kind = FL_EVENT_LOG, .name = std::move(level)};
  event.failure.message = std::move(message);
  notify(std::move(event));
}

bool EventQueue::is_open() const {
  const std::lock_guard guard(mutex_);
  return !ended_ && !cleared_;
}

void EventQueue::end() {
  const std::lock_guard guard(mutex_);
  ended_ = true;
  changed_.notify_all();
  update_descriptor();
}

void EventQueue::clear() {
  std::deque<Entry> entries;
  {
    const std::lock_guard guard(mutex_);
    cleared_ = true;
    entries.swap(entries_);
    notifications_ = 0;
    dropped_ = 0;
    changed_.notify_all();
    update_descriptor();
  }
  for (const Entry& entry : entries) drop(entry.event);
}

std::optional<std::vector<Event>> EventQueue::poll(std::int64_t timeout_ms, std::size_t count) {
  std::unique_lock guard(mutex_);
  const auto something = [this] { return has_events() || over(); };
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
  // Told of behind the events that were kept, when there is room.
  if (dropped_ > 0 && entries_.empty() && events.size() < count) {
    events.push_back({.kind = FL_EVENT_DROPPED, .value = std::exchange(dropped_, 0)});
  }
  if (over()) changed_.notify_all();
  update_descriptor();
  return events;
}

}  // namespace forelock::capi
