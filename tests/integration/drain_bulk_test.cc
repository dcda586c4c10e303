// Parking and purging many letters at once.
#include "drain/bulk_resolver.h"
#include "drain/drainer_lock.h"
#include "forelock/error.h"
#include "forelock/inspector.h"
#include "integration/dead_letters.h"
#include "integration/drain_replays.h"
#include "support/wait_until.h"

namespace forelock::test {
namespace {

using drain::BulkResolver;
using drain::Resolution;

class DrainBulkTest : public DrainReplayTest {
 protected:
  static constexpr int count = 200;

  void fill() {
    given_->add(example_letters(count, 7));
    given_->add_record("P1", "garbage");
  }

  Client client_{settings()};
  std::unique_ptr<drain::LetterStore> store_ = given_->open();
};

TEST_P(DrainBulkTest, PurgesAll) {
  fill();
  const drain::DrainerLock lock(client_, *store_, "purge");
  BulkResolver resolver(*store_, lock, Resolution::purged);
  store_->scan({}, resolver);
  resolver.finish();
  EXPECT_EQ(resolver.letters(), static_cast<std::uint64_t>(count));
  EXPECT_EQ(resolver.unreadable_letters(), 1u);
  store_->settle();
  EXPECT_THAT(contents().letters, IsEmpty());
  EXPECT_THAT(contents().unreadable, IsEmpty());
  EXPECT_THAT(parked().letters, IsEmpty());
}

TEST_P(DrainBulkTest, ParksInTheOrderOfEachMonitor) {
  fill();
  std::map<std::string, std::vector<std::string>> before;
  const auto seen = contents();
  for (int i = 0; i < 7; ++i) before["P" + std::to_string(i)] = seen.ids_of("P" + std::to_string(i));
  const drain::DrainerLock lock(client_, *store_, "park");
  BulkResolver resolver(*store_, lock, Resolution::parked);
  store_->scan({}, resolver);
  resolver.finish();
  const auto in_parking = parked();
  for (const auto& [monitor, ids] : before) EXPECT_EQ(in_parking.ids_of(monitor), ids);
  EXPECT_THAT(in_parking.unreadable, SizeIs(1));
  EXPECT_THAT(in_parking.letters.front().record, ::testing::Not(IsEmpty()));
  EXPECT_THAT(contents().letters, IsEmpty());
}

TEST_P(DrainBulkTest, EndsWithoutTheDrainersLock) {
  fill();
  const drain::DrainerLock lock(client_, *store_, "purge");
  Inspector inspector(client_);
  const std::string monitor = store_->drainer_monitor();
  const auto view = inspector.show(monitor);
  ASSERT_TRUE(view && view->holder && view->holder->node);
  inspector.force_release(monitor, *view->holder->node);
  ASSERT_TRUE(wait_until([&] { return !lock.healthy(); }));
  BulkResolver resolver(*store_, lock, Resolution::purged);
  EXPECT_THROW(
      {
        store_->scan({}, resolver);
        resolver.finish();
      },
      LockUnhealthyException);
  EXPECT_THAT(contents().letters, SizeIs(count));
}

INSTANTIATE_TEST_SUITE_P(Stores, DrainBulkTest, ::testing::Values("outbox", "kafka"),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace forelock::test
