// What the queue of a client keeps when nobody fetches.
#include "capi/event_queue.h"
#include "support/test.h"

#include <unistd.h>

#include "capi/handle_table.h"
#include "forelock/c.h"
#include "support/wait_until.h"

namespace forelock::capi {
namespace {

// A thread that waits for the end of a queue, and sleeps by the time it is made.
class SleepingPoller {
 public:
  explicit SleepingPoller(EventQueue& queue)
      : queue_(queue), thread_([this] {
          number_ = gettid();
          ended_ = !queue_.poll(-1, 1);
          done_ = true;
        }) {
    EXPECT_TRUE(test::wait_until([this] { return number_ != 0 && sleeps(); }));
  }
  ~SleepingPoller() {
    queue_.clear();  // where the test has failed
    thread_.join();
  }
  SleepingPoller(const SleepingPoller&) = delete;
  SleepingPoller& operator=(const SleepingPoller&) = delete;

  bool is_done() const { return done_; }
  bool is_told_the_end() const {
    return test::wait_until([this] { return is_done(); }) && ended_;
  }

 private:
  bool sleeps() const {
    std::ifstream file("/proc/self/task/" + std::to_string(number_) + "/stat");
    std::string stat;
    std::getline(file, stat);
    const std::size_t name_end = stat.rfind(')');
    return name_end != std::string::npos && stat.compare(name_end, 3, ") S") == 0;
  }

  EventQueue& queue_;
  std::atomic<pid_t> number_{0};
  std::atomic<bool> ended_{false};
  std::atomic<bool> done_{false};
  std::thread thread_;
};

TEST(EventQueue, LinesOfTheLogLeaveRoomForWhatALocksUserMustHear) {
  EventQueue queue;
  for (std::size_t i = 0; i < EventQueue::max_notifications; ++i) queue.notify({.kind = FL_EVENT_LOG});
  queue.notify({.kind = FL_EVENT_LOST});
  const auto kept = queue.poll(0, EventQueue::max_notifications + 1);
  ASSERT_TRUE(kept);
  ASSERT_EQ(kept->size(), EventQueue::max_notifications / 2 + 2);
  EXPECT_EQ(kept->at(kept->size() - 2).kind, FL_EVENT_LOST);
  EXPECT_EQ(kept->back().kind, FL_EVENT_DROPPED);
  EXPECT_EQ(kept->back().value, static_cast<std::int64_t>(EventQueue::max_notifications / 2));
}

TEST(EventQueue, WhatWasDroppedIsToldAtOnceAlsoAfterTheEnd) {
  EventQueue queue;
  constexpr std::size_t kept = EventQueue::max_notifications;
  for (std::size_t i = 0; i < kept + 3; ++i) queue.notify({.kind = FL_EVENT_QUEUED});
  queue.end();
  ASSERT_EQ(queue.poll(0, kept)->size(), kept) << "as many as there is room for: the count comes with the next call";
  const auto count = queue.poll(-1, 1);
  ASSERT_TRUE(count);
  EXPECT_EQ(count->front().kind, FL_EVENT_DROPPED);
  EXPECT_EQ(count->front().value, 3);
  EXPECT_FALSE(queue.poll(-1, 1));
}

TEST(EventQueue, OneThatHasEndedStaysOpenForWhatIsAwaited) {
  EventQueue queue;
  EventQueue::Reservation room(queue);
  room.keep();
  queue.end();
  const auto none = queue.poll(0, 1);
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->empty());

  std::thread poller([&] {
    const auto last = queue.poll(-1, 1);
    ASSERT_TRUE(last);
    ASSERT_EQ(last->size(), 1u);
    EXPECT_EQ(last->front().kind, FL_EVENT_OPERATION);
    EXPECT_FALSE(queue.poll(-1, 1));
  });
  queue.complete({.kind = FL_EVENT_OPERATION});
  poller.join();
}

TEST(EventQueue, ACallThatIsRefusedLetsAPollerOfAnEndedOneGo) {
  EventQueue queue;
  std::optional<EventQueue::Reservation> room(std::in_place, queue);
  queue.end();
  const SleepingPoller poller(queue);
  room.reset();
  EXPECT_TRUE(poller.is_told_the_end());
}

TEST(EventQueue, TheLastEventOfAnEndedOneLetsAllPollersGo) {
  EventQueue queue;
  EventQueue::Reservation room(queue);
  room.keep();
  queue.end();
  const SleepingPoller first(queue);
  const SleepingPoller second(queue);
  const SleepingPoller third(queue);
  queue.complete({.kind = FL_EVENT_OPERATION});
  int told = 0;
  EXPECT_TRUE(test::wait_until([&] { return first.is_done() && second.is_done() && third.is_done(); }));
  for (const SleepingPoller* poller : {&first, &second, &third}) told += poller->is_told_the_end() ? 1 : 0;
  EXPECT_EQ(told, 2) << "the third one has the event";
}

TEST(EventQueue, OneThatWasClearedTakesNothingMore) {
  EventQueue queue;
  EventQueue::Reservation room(queue);
  room.keep();
  queue.end();
  const SleepingPoller poller(queue);
  queue.clear();
  EXPECT_TRUE(poller.is_told_the_end());
  queue.complete({.kind = FL_EVENT_OPERATION});
  queue.notify({.kind = FL_EVENT_LOG});
  EXPECT_FALSE(queue.poll(0, 1));
}

// What an attempt leads to when it is dropped is an event.
TEST(EventQueue, AnAttemptThatNobodyWillFetchIsEnded) {
  EventQueue queue;
  class Attempt final : public Object {
   public:
    explicit Attempt(EventQueue& of) : Object(Kind::attempt), queue_(of) {}
    ~Attempt() override { queue_.notify({.kind = FL_EVENT_FAILURE}); }

   private:
    EventQueue& queue_;
  };
  HandleTable& table = HandleTable::instance();
  const Handle queued = table.add(std::make_unique<Attempt>(queue));
  const Handle late = table.add(std::make_unique<Attempt>(queue));
  const Handle fetched = table.add(std::make_unique<Attempt>(queue));
  queue.complete({.kind = FL_EVENT_ATTEMPT, .source = fetched}, false);
  ASSERT_EQ(queue.poll(0, 1)->front().source, fetched);
  queue.complete({.kind = FL_EVENT_ATTEMPT, .source = queued}, false);
  EXPECT_TRUE(table.find(queued));
  queue.clear();
  EXPECT_FALSE(table.find(queued));
  EXPECT_TRUE(table.find(late));
  queue.complete({.kind = FL_EVENT_ATTEMPT, .source = late}, false);
  EXPECT_FALSE(table.find(late));
  EXPECT_TRUE(table.find(fetched)) << "its host ends it";
  table.remove(fetched);
}

}  // namespace
}  // namespace forelock::capi
