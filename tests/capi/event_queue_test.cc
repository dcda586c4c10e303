// What the queue of a client keeps when nobody fetches.
#include "capi/event_queue.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <thread>
#include <utility>

#include "forelock/c.h"

namespace forelock::capi {
namespace {

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
  std::thread poller([&] { EXPECT_FALSE(queue.poll(-1, 1)); });
  room.reset();
  poller.join();
}

TEST(EventQueue, OneThatWasClearedTakesNothingMore) {
  EventQueue queue;
  EventQueue::Reservation room(queue);
  room.keep();
  queue.end();
  std::thread poller([&] { EXPECT_FALSE(queue.poll(-1, 1)); });
  queue.clear();
  poller.join();
  queue.complete({.kind = FL_EVENT_OPERATION});
  queue.notify({.kind = FL_EVENT_LOG});
  EXPECT_FALSE(queue.poll(0, 1));
}

}  // namespace
}  // namespace forelock::capi
