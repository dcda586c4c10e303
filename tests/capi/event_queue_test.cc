// What the queue of a client keeps when nobody fetches.
#include "capi/event_queue.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

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

}  // namespace
}  // namespace forelock::capi
