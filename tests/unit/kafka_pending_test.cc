// Each callback is called once, whatever happens.
#include "kafka/pending_deliveries.h"
#include "support/test.h"

namespace forelock::kafka {
namespace {

TEST(PendingDeliveries, CallEachCallbackOnce) {
  PendingDeliveries pending;
  std::vector<int> calls(3);
  std::vector<PendingDeliveries::Id> ids;
  for (int index = 0; index < 3; ++index) {
    ids.push_back(pending.add([&calls, index](const Delivery&) { ++calls[static_cast<std::size_t>(index)]; }));
  }
  pending.finish(ids[1], {true});
  pending.finish(ids[1], {true});
  EXPECT_FALSE(pending.wait_until_none(0ms));
  pending.withdraw(ids[2]);
  pending.finish_all({});
  pending.finish_all({});
  EXPECT_EQ(calls, (std::vector<int>{1, 1, 0}));
  EXPECT_TRUE(pending.wait_until_none(0ms));
}

// What comes late, of a record that was given up, is nothing to the next one.
TEST(PendingDeliveries, ALateReportConcernsNoOther) {
  PendingDeliveries pending;
  const PendingDeliveries::Id first = pending.add({});
  pending.finish(first, {});
  int calls = 0;
  pending.add([&calls](const Delivery&) { ++calls; });
  pending.finish(first, {true});
  pending.withdraw(first);
  EXPECT_EQ(calls, 0);
  EXPECT_FALSE(pending.wait_until_none(0ms));
  pending.finish_all({});
  EXPECT_EQ(calls, 1);
}

TEST(PendingDeliveries, ACallbackMayThrowOrBeMissing) {
  PendingDeliveries pending;
  pending.finish(pending.add([](const Delivery&) { throw std::runtime_error("trouble"); }), {true});
  pending.finish(pending.add({}), {true});
  pending.finish(12345, {true});
  EXPECT_TRUE(pending.wait_until_none(0ms));
}

TEST(PendingDeliveries, ACallbackThatRunsIsStillUnderWay) {
  PendingDeliveries pending;
  bool none = true;
  pending.finish(pending.add([&](const Delivery&) { none = pending.wait_until_none(0ms); }), {true});
  EXPECT_FALSE(none);
}

TEST(PendingDeliveries, ACallbackMayAddAnother) {
  PendingDeliveries pending;
  int calls = 0;
  pending.add([&](const Delivery&) { pending.add([&](const Delivery&) { ++calls; }); });
  pending.finish_all({});
  EXPECT_EQ(calls, 0);
  pending.finish_all({});
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace forelock::kafka
