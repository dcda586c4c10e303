#include "client/monitor_reading.h"
#include "support/test.h"

namespace forelock::client {
namespace {

using coordination::Reply;

constexpr WallTime now{milliseconds(1'000'000)};

std::string record(const std::string& guid, Priority priority = Priority::foreground) {
  OwnerRecord owner;
  owner.guid = guid;
  owner.priority = priority;
  owner.enqueued_at = now - milliseconds(500);
  return owner.to_json();
}

ContenderNode contender(const std::string& name, std::int64_t session, const std::string& data = "") {
  ContenderNode node{name, {}, OwnerRecord::from_json(data)};
  node.stat.ephemeral_owner = session;
  node.stat.ctime_ms = (now - milliseconds(300)).time_since_epoch().count();
  return node;
}

Reply private_lock(std::int64_t session, const std::string& data = "") {
  Reply reply;
  reply.data = data;
  reply.stat.ephemeral_owner = session;
  reply.stat.mzxid = 77;
  reply.stat.version = 1;
  reply.stat.ctime_ms = (now - milliseconds(200)).time_since_epoch().count();
  return reply;
}

MonitorView view(const MonitorReading& reading) {
  return view_of("P1", "/P1", reading, Settings(), now);
}

std::vector<std::string> nodes(const MonitorView& monitor) {
  std::vector<std::string> names;
  for (const WaiterView& waiter : monitor.queue) names.push_back(waiter.node);
  return names;
}

TEST(MonitorReading, ContendersComeInTheOrderOfService) {
  EXPECT_THAT(contender_names({"B-0000000001", "privateLock", "A-0000000010", "other", "A-0000000009", "A--000000001"}),
              ElementsAre("A--000000001", "A-0000000009", "A-0000000010", "B-0000000001"));
}

TEST(MonitorReading, HolderIsKnownByItsGuid) {
  const MonitorView monitor = view(
      {private_lock(1, record("h")),
       {contender("A-0000000002", 1, record("x")), contender("B-0000000001", 1, record("h", Priority::background))}});
  EXPECT_EQ(monitor.holder->node, "B-0000000001");
  EXPECT_EQ(monitor.holder->priority, Priority::background);
  EXPECT_EQ(monitor.holder->token, 77);
  EXPECT_THAT(nodes(monitor), ElementsAre("A-0000000002"));
}

// alive() has written the record after the grant.
TEST(MonitorReading, ATokenInTheRecordIsTheHolders) {
  auto owner = OwnerRecord::from_json(record("h"));
  ASSERT_TRUE(owner);
  owner->fencing_token = 42;
  const MonitorView monitor = view({private_lock(1, owner->to_json()), {contender("A-0000000002", 1, record("h"))}});
  EXPECT_EQ(monitor.holder->token, 42);
}

TEST(MonitorReading, HolderWithoutARecordIsKnownByItsSession) {
  const MonitorView monitor = view({private_lock(2), {contender("A-0000000001", 1), contender("B-0000000000", 2)}});
  EXPECT_EQ(monitor.holder->node, "B-0000000000");
  EXPECT_FALSE(monitor.holder->owner);
  EXPECT_EQ(monitor.holder->held, milliseconds(200));
}

TEST(MonitorReading, ASessionWithTwoContendersTellsNothing) {
  const MonitorView monitor = view({private_lock(1), {contender("A-0000000001", 1), contender("A-0000000002", 1)}});
  EXPECT_FALSE(monitor.holder->node);
  EXPECT_EQ(monitor.queue.size(), 2u);
}

TEST(MonitorReading, AGuidOfAnotherSessionIsACopy) {
  const MonitorView monitor = view({private_lock(1, record("h")), {contender("A-0000000001", 2, record("h"))}});
  EXPECT_FALSE(monitor.holder->node);
}

TEST(MonitorReading, EverybodyWaitsBehindTheOneBefore) {
  const MonitorView monitor =
      view({private_lock(9),
            {contender("A-0000000001", 1, record("a")), contender("Z-0000000000", 2), contender("a-0000000003", 3)}});
  ASSERT_EQ(monitor.queue.size(), 3u);
  EXPECT_EQ(monitor.queue[0].behind, "privateLock");
  EXPECT_EQ(monitor.queue[0].waited, milliseconds(500));
  EXPECT_EQ(monitor.queue[1].behind, "A-0000000001");
  EXPECT_EQ(monitor.queue[1].waited, milliseconds(300));
  EXPECT_FALSE(monitor.queue[1].priority);
  EXPECT_EQ(monitor.queue[2].position, 3u);
}

TEST(MonitorReading, ClocksThatDifferGiveNoNegativeTimes) {
  Reply ahead = private_lock(1);
  ahead.stat.ctime_ms = (now + milliseconds(5000)).time_since_epoch().count();
  EXPECT_EQ(view({ahead, {}}).holder->held, milliseconds(0));
}

TEST(MonitorReading, SummaryCountsEachClass) {
  const MonitorSummary summary = summary_of(view(
      {{}, {contender("A-0000000001", 1, record("a")), contender("B-0000000002", 2), contender("B-0000000003", 2)}}));
  EXPECT_EQ(summary.waiting_foreground, 1u);
  EXPECT_EQ(summary.waiting_background, 2u);
  EXPECT_EQ(summary.oldest_wait, milliseconds(500));
  EXPECT_FALSE(summary.holder);
  EXPECT_FALSE(summary_of(view({})).oldest_wait);
}

TEST(MonitorReading, NodesOfOtherApplicationsAreNoMonitors) {
  const Settings settings;
  EXPECT_TRUE(has_lock_nodes({"x", "privateLock"}, settings));
  EXPECT_TRUE(has_lock_nodes({"A-0000000001"}, settings));
  EXPECT_FALSE(has_lock_nodes({"_c_0f8fad5b-lock-0000000001", "x"}, settings));
  EXPECT_TRUE(has_only_lock_nodes({}, settings));
  EXPECT_FALSE(has_only_lock_nodes({"A-0000000001", "x"}, settings));
}

}  // namespace
}  // namespace forelock::client
