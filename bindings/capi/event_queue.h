// An EventQueue keeps what happens until the host fetches it. Thread-safe, bounded.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "capi/handle_table.h"
#include "capi/result.h"

namespace forelock::capi {

struct Event {
  std::int32_t kind = 0;
  Handle source = 0;
  std::uint64_t tag = 0;
  std::int64_t value = 0;
  std::string name = {};
  Failure failure = {};  // its code is FL_OK where nothing failed; its texts may say something all the same
};

class EventQueue {
 public:
  static constexpr std::size_t max_completions = 1'000'000;
  static constexpr std::size_t max_notifications = 65'536;

  EventQueue() = default;
  ~EventQueue();
  EventQueue(const EventQueue&) = delete;
  EventQueue& operator=(const EventQueue&) = delete;

  // Room for one completion, until that is fetched: given back at the end of the scope, unless it is kept for one that
  // will come.
  class Reservation {
   public:
    // \throws RequestRejectedException(overloaded).
    explicit Reservation(EventQueue& queue) : queue_(&queue) { queue.reserve(); }
    ~Reservation() {
      if (queue_ != nullptr) queue_->forgo();
    }
    Reservation(const Reservation&) = delete;
    Reservation& operator=(const Reservation&) = delete;

    void keep() { queue_ = nullptr; }

   private:
    EventQueue* queue_;
  };

  // Completions that are awaited, or not fetched yet.
  std::size_t reserved() const;
  // What room was made for, or what must not be dropped and is bounded elsewhere (`reserved` false).
  void complete(Event event, bool reserved = true);
  // Dropped, and counted, if too many wait.
  void notify(Event event);
  // As an FL_EVENT_LOG.
  void notify_of_line(std::string level, std::string message);
  // Nothing comes any more but what is in it, and the completions that room was made for.
  void end();
  bool is_open() const;  // neither ended nor cleared
  // Drops present and later events, and ends the attempts that no caller will fetch.
  void clear();

  // Waits for the first event. \returns at most `count`; none after the time-out (negative: no end). Nothing: ended,
  // all was fetched, and no completion is awaited.
  std::optional<std::vector<Event>> poll(std::int64_t timeout_ms, std::size_t count);
  // A descriptor that is readable exactly while poll() would not wait; the queue's. A forked child shares it, and must
  // not call what changes the queue. \throws RequestRejectedException(overloaded) if the process can have no more.
  int descriptor();

 private:
  enum class Room { reserved, notification, none };
  struct Entry {
    Event event;
    Room room;
  };
  void reserve();
  void forgo();
  void push(Event event, Room room);
  // These three require mutex_.
  bool has_events() const { return !entries_.empty() || dropped_ > 0; }
  // One with a poller that was told the end would have nobody to tell what is still awaited.
  bool over() const { return !has_events() && (cleared_ || (ended_ && reserved_ == 0)); }
  void update_descriptor();
  static void drop(const Event& event);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Entry> entries_;
  std::size_t reserved_ = 0;
  std::size_t notifications_ = 0;
  std::int64_t dropped_ = 0;
  bool ended_ = false;
  bool cleared_ = false;
  int descriptor_ = -1;  // an eventfd; none before it is asked for
  bool readable_ = false;
};

}  // namespace forelock::capi
